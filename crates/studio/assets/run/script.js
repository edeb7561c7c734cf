// Edits the text of a script, which is how one changes what happens in a run that is played by one.
//
// Each action of a script takes one tick: what happens at time t belongs to the t-th action. A change rewrites or inserts a line there.
// Expectations behind it were about another run, so they become comments.

const HEADING =
  /^(algorithm|nodes|channels|start-inside|quorum|structure|tree|arbitration|set|registers|memory|barrier)\b/;

/** The lines of a script: `[{text, tick}]`; `tick` is null for headings, comments, expectations and the loop. */
export function linesOf(text) {
  let tick = 0;
  return text.split("\n").map((line) => {
    const plain = line.trim();
    const isAction = plain !== "" && !plain.startsWith("#") && !HEADING.test(plain) && !/^(expect|loop)\b/.test(plain);
    if (isAction) tick += 1;
    return { text: line, tick: isAction ? tick : null };
  });
}

/** Makes a change: `{spec, note}` or `{trouble}`. `run.script` is the text that is played. */
export function editScript(spec, run, story, change) {
  const text = run.script ?? spec.script;
  const lines = linesOf(text);
  const edit = { retime, lose, twice, crash }[change.what];
  if (!edit) {
    return {
      trouble: "In a script a link is cut by losing its messages one by one: choose a message and let it be lost.",
    };
  }
  const outcome = edit(lines, run, story, change);
  if (outcome.trouble) return outcome;
  return { spec: { ...spec, script: joined(outcome.lines, outcome.from) }, note: outcome.note ?? null };
}

/** Appends what happens next; if a line could not be played, that one and all behind it become comments first. */
export function appended(text, line, trouble) {
  const failing = Number(/^line (\d+)/i.exec(trouble ?? "")?.[1] ?? Infinity);
  const lines = text.replace(/\s+$/, "").split("\n");
  const kept = lines.map((
    each,
    place,
  ) => (place + 1 >= failing && each.trim() !== "" && !each.startsWith("#") ? `# ${each}` : each));
  return `${kept.join("\n")}\n${line}\n`;
}

function joined(lines, from) {
  let isBehind = false;
  const texts = lines.map((line, place) => {
    isBehind ||= place >= from;
    return isBehind && /^\s*expect\b/.test(line.text) ? `# ${line.text.trim()}` : line.text;
  });
  return texts.join("\n");
}

/** Moves the delivery of a message to another tick. */
function retime(lines, run, story, { message, end, time }) {
  const sent = run.events[message.index].time;
  const old = end && !end.isLost ? run.events[end.index].time : null;
  const place = lines.findIndex((line) => old !== null && line.tick === old);
  if (old !== null && isAll(lines[place])) return moveOutOfAll(lines, run, story, message, sent, old, time, place);
  const target = Math.max(sent + 1, time);
  const rest = old === null ? lines : lines.filter((_, index) => index !== place);
  const shift = old !== null && target > old ? target + 1 : target;
  return inserted(rest, shift, `deliver ${name(run, story, message, target)}`);
}

function moveOutOfAll(lines, run, story, message, sent, old, time, place) {
  if (time >= old || sent >= old) {
    return {
      trouble: `Line ${
        place + 1
      } delivers everything at once: what comes out of it can only be delivered earlier, if it was sent before.`,
    };
  }
  return inserted(lines, Math.max(sent + 1, time), `deliver ${name(run, story, message, time)}`);
}

function lose(lines, run, story, { message, end }) {
  const delivered = end && !end.isLost ? end : null;
  if (!delivered) return inserted(lines, Infinity, `lose ${name(run, story, message, Infinity)}`);
  const time = run.events[delivered.index].time;
  const place = lines.findIndex((line) => line.tick === time);
  const word = `lose ${name(run, story, message, time)}`;
  if (!isAll(lines[place])) return { lines: lines.with(place, { text: word, tick: time }), from: place };
  if (run.events[message.index].time >= time) {
    return {
      trouble: `Line ${
        place + 1
      } delivers everything at once, and this message is sent in the course of it: it cannot be lost before.`,
    };
  }
  return inserted(lines, time, word);
}

function twice(lines, run, story, { message }) {
  const sent = run.events[message.index].time;
  const outcome = inserted(lines, sent + 1, `duplicate ${name(run, story, message, sent + 1)}`);
  return {
    ...outcome,
    note: "The copy is under way: choose among what could happen next to deliver it, or drag its head.",
  };
}

function crash(lines, run, story, { node, time }) {
  return inserted(lines, time + 1, `crash ${node}`);
}

function isAll(line) {
  return /^\s*deliver\s+all\b/.test(line?.text ?? "");
}

/** Inserts an action so that it becomes the one of this tick. */
function inserted(lines, tick, text) {
  const found = lines.findIndex((line) => line.tick !== null && line.tick >= tick);
  const place = found >= 0 ? found : lastAction(lines) + 1;
  return { lines: lines.toSpliced(place, 0, { text, tick: null }), from: place };
}

function lastAction(lines) {
  return lines.findLastIndex((line) => line.tick !== null);
}

/** A message as a script names it before an action: `1->2 REPLY #2` if others like it are under way before it. */
function name(run, story, message, tick) {
  const isLike = (other) => other.from === message.from && other.to === message.to && other.kind === message.kind;
  const isUnderWay = (other) =>
    run.events[other.index].time < tick &&
    !other.ends.some((end) => run.events[end.index].time < tick && other !== message);
  const alike = story.messages.filter((other) => isLike(other) && (other === message || isUnderWay(other)));
  const which = alike.indexOf(message) + 1;
  return `${message.from}->${message.to} ${message.kind}${which > 1 ? ` #${which}` : ""}`;
}
