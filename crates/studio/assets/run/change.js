// Changing what happens in a run: another time of delivery, a loss, a second copy, a crash, a cut link. Each change makes a new spec,
// and the run of that one is the old run up to where the change bites.
//
// A change about a message knows it by its number in the order of sending. When something is changed before that message was sent, the
// future that the change was about is gone, so it is dropped and said so.

import { editScript } from "./script.js";
import { isScript } from "./spec.js";

const WORD = /^(\d+)(:lost)?(:twice)?(?:@(\d+))?$/;

/** Makes a change: `{spec, note}`, or `{trouble}` if it cannot be made. */
export function changed(spec, run, story, change) {
  if (isScript(spec)) return editScript(spec, run, story, change);
  if (spec.trace !== undefined) {
    return { trouble: "A recorded file can be looked at, but not changed: run the algorithm itself." };
  }
  const begin = beginOf(run, change);
  const kept = keptBefore(spec, story, run, begin, change);
  const added = withWord(kept.spec, run, change);
  return { spec: added, note: kept.dropped > 0 ? droppedNote(kept.dropped, begin) : null };
}

function droppedNote(count, begin) {
  return `${
    count === 1 ? "A later change was" : `${count} later changes were`
  } about messages of a future that is gone from time ${begin} on, so ${count === 1 ? "it is" : "they are"} dropped.`;
}

/** From when on the run may differ. */
function beginOf(run, change) {
  const { message, end, time } = change;
  if (!message) return change.from ?? time;
  const arrival = timeOf(run, end ?? message.ends[0]) ?? Infinity;
  if (change.what === "lose") return Math.min(arrival, Number.MAX_SAFE_INTEGER);
  return Math.min(change.what === "twice" ? Infinity : arrival, time);
}

function keptBefore(spec, story, run, begin, change) {
  const words = spec.message ?? [];
  const isKept = (word) => {
    const message = story.messages[Number.parseInt(word, 10) - 1];
    return message && (message.number === change.message?.number || run.events[message.index].time < begin);
  };
  const kept = words.filter(isKept);
  return { spec: { ...spec, message: kept }, dropped: words.length - kept.length };
}

function withWord(spec, run, change) {
  const { what, message, node, time } = change;
  const others = () => (spec.message ?? []).filter((word) => Number.parseInt(word, 10) !== message.number);
  switch (what) {
    case "retime":
    case "lose":
    case "twice":
      return { ...spec, message: [...others(), ...wordsOf(fateOf(spec, run, change), message.number)] };
    case "crash":
      return {
        ...spec,
        crash: [...(spec.crash ?? []).filter((word) => !word.startsWith(`${node}@`)), `${node}@${time}`],
      };
    default:
      return {
        ...spec,
        partition: [
          ...(spec.partition ?? []),
          `${change.nodes[0]}|${change.nodes[1]}@${change.from}..${change.until ?? ""}`,
        ],
      };
  }
}

/** What shall become of a message: when it arrives, when its copy does, whether it is lost; undefined is as it would be anyway. */
function fateOf(spec, run, { what, message, end, time }) {
  const said = saidOf(spec, message.number);
  const isCopied = message.ends.length > 1;
  const isCopy = isCopied && end === copyOf(run, message, said.copy);
  if (what === "twice") return { ...said, isLost: false, copy: time };
  if (what === "lose") {
    if (!isCopied || said.copy === undefined) return { isLost: true };
    return isCopy ? { arrival: said.arrival } : { arrival: timeOf(run, copyOf(run, message, said.copy)) };
  }
  if (!isCopied) return { arrival: time, copy: said.copy };
  if (said.copy !== undefined) return isCopy ? { ...said, copy: time } : { ...said, arrival: time };
  return { arrival: timeOf(run, message.ends.find((other) => other !== end)), copy: time };
}

/** What the words of a spec say about a message. */
function saidOf(spec, number) {
  const said = {};
  for (const word of spec.message ?? []) {
    const [, of, lost, twice, time] = WORD.exec(word) ?? [];
    if (Number(of) !== number) continue;
    if (lost) said.isLost = true;
    else said[twice ? "copy" : "arrival"] = Number(time);
  }
  return said;
}

function wordsOf({ isLost, arrival, copy }, number) {
  if (isLost) return [`${number}:lost`];
  return [
    ...(arrival === undefined ? [] : [`${number}@${arrival}`]),
    ...(copy === undefined ? [] : [`${number}:twice@${copy}`]),
  ];
}

/** The end of a message's copy: the second one, unless the copy was to arrive before the message itself. */
function copyOf(run, { ends }, time) {
  const isFirst = timeOf(run, ends[0]) === time && timeOf(run, ends[1]) !== time;
  return isFirst ? ends[0] : ends[1];
}

function timeOf(run, end) {
  return end ? run.events[end.index].time : undefined;
}

/** The changes of a spec in words, each with the spec without it: `[{text, word, without}]`. */
export function changesOf(spec) {
  const each = (name, text) =>
    (spec[name] ?? []).map((word, place) => ({
      text: text(word),
      word: `${name} ${word}`,
      without: { ...spec, [name]: spec[name].filter((_, other) => other !== place) },
    }));
  return [...each("message", messageText), ...each("crash", crashText), ...each("partition", cutText)];
}

function messageText(word) {
  const [, number, lost, twice, time] = WORD.exec(word) ?? [null, word];
  if (lost) return `message ${number} is lost`;
  return twice ? `message ${number} arrives a second time at ${time}` : `message ${number} arrives at ${time}`;
}

function crashText(word) {
  const [node, time] = word.split("@");
  return `node ${node} crashes at ${time}`;
}

function cutText(word) {
  const [groups, times = ""] = word.split("@");
  const [from, until] = times.split("..");
  const [one, ...others] = groups.split("|");
  return `${one} and ${others.join(" and ")} are cut off from each other from ${from}${
    until ? ` until ${until}` : " on"
  }`;
}

/** The first event in which two runs differ, counted from 0; null if there is none. */
export function firstDifference(one, other) {
  const same = (a, b) =>
    a.time === b.time && a.node === b.node && a.event === b.event && a.kind === b.kind && a.to === b.to &&
    a.from === b.from;
  const count = Math.min(one.events.length, other.events.length);
  for (let index = 0; index < count; index += 1) if (!same(one.events[index], other.events[index])) return index;
  return one.events.length === other.events.length ? null : count;
}
