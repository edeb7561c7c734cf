// Moves the cut: a scrubber with marks, buttons, keys, and play.

import { button, fill, h, icon, select, svg } from "../dom.js";
import { waitsAt } from "./graph.js";

const SPEEDS = [["1400", "slow"], ["700", "normal"], ["250", "fast"], ["60", "very fast"]];
/** In longer runs nobody looks for cycles at every event. */
const MOST_SEARCHED = 4000;

/** Makes the player. `go(count)` is called when the cut is moved; `{element, show(run, story), set(count), key(event), stop()}`. */
export function player(go) {
  const state = { run: null, story: null, stops: [], cut: 0, timer: null, go };
  const act = (move) => () => moves[move](state);
  const make = (move, text, title) => button(text, act(move), { title, "aria-label": title, data: { move } });
  state.buttons = {
    first: make("first", icon("first"), "To the beginning (Home)"),
    back: make("back", icon("back"), "One event back (←)"),
    play: make("play", [icon("play"), "Play"], "Play or pause (space)"),
    forward: make("forward", icon("forward"), "One event forward (→)"),
    entry: make("entry", [icon("entry"), "Next entry"], "To the next entry (n)"),
    last: make("last", icon("last"), "To the end (End)"),
  };
  state.scrubber = h("input", {
    type: "range",
    min: 0,
    max: 0,
    value: 0,
    "aria-label": "Events shown",
    id: "scrubber",
    on: {
      input: (event) => {
        pause(state);
        go(Number(event.target.value));
      },
    },
  });
  state.speed = select(SPEEDS, "700", {
    "aria-label": "Speed",
    on: {
      change: () => {
        if (state.timer) {
          pause(state);
          play(state);
        }
      },
    },
  });
  state.count = h("span", { class: "count", id: "count" });
  state.marks = svg("svg", {
    class: "marks-strip",
    preserveAspectRatio: "none",
    "aria-hidden": "true",
    viewBox: "0 0 1000 14",
  });
  state.remark = h("p", { class: "small soft remark" });
  const element = h(
    "div",
    { class: "player" },
    h("div", { class: "track" }, state.marks, state.scrubber),
    state.remark,
    h("div", { class: "row" }, h("div", { class: "buttons" }, Object.values(state.buttons)), state.speed, state.count),
  );
  return {
    element,
    show: (run, story) => show(state, run, story),
    set: (count) => set(state, count),
    key: (event) => key(state, event),
    stop: () => pause(state),
    move: (name) => moves[name](state),
  };
}

function show(state, run, story) {
  const isNew = state.run !== run;
  Object.assign(state, { run, story });
  if (!isNew) return;
  pause(state);
  state.stops = stopsOf(story);
  state.scrubber.max = String(story.events.length);
  drawMarks(state);
}

/** Where one stops when stepping: after every event, but not after each of the starts with which a run begins. */
function stopsOf(story) {
  const stops = [0];
  story.events.forEach((event, index) => {
    const isInTheMiddle = event.event === "start" && story.events[index + 1]?.event === "start";
    if (!isInTheMiddle) stops.push(index + 1);
  });
  return stops;
}

function set(state, count) {
  state.cut = count;
  const { events } = state.story;
  state.scrubber.value = String(count);
  state.scrubber.setAttribute("aria-valuetext", count > 0 ? events[count - 1].says : "before anything happens");
  fill(state.count, "event ", h("b", {}, count), ` of ${events.length}`);
  state.buttons.first.disabled = state.buttons.back.disabled = count === 0;
  state.buttons.last.disabled = state.buttons.forward.disabled = count >= events.length;
  state.buttons.entry.disabled = nextEntry(state) === null;
  if (count >= events.length) pause(state);
}

function nextEntry(state) {
  const entry = state.story.entries.find((index) => index >= state.cut);
  return entry === undefined ? null : entry + 1;
}

const moves = {
  first: (state) => moved(state, 0),
  back: (state) => moved(state, state.stops.findLast((stop) => stop < state.cut) ?? 0),
  forward: (state) => moved(state, forward(state)),
  entry: (state) => moved(state, nextEntry(state) ?? state.cut),
  last: (state) => moved(state, state.story.events.length),
  play: (state) => (state.timer ? pause(state) : play(state)),
};

function forward(state) {
  return state.stops.find((stop) => stop > state.cut) ?? state.story.events.length;
}

function moved(state, count) {
  pause(state);
  state.go(count);
}

function play(state) {
  if (state.cut >= state.story.events.length) state.go(0);
  state.timer = setInterval(() => state.go(forward(state)), Number(state.speed.value));
  fill(state.buttons.play, icon("pause"), "Pause");
  state.buttons.play.setAttribute("aria-pressed", "true");
}

function pause(state) {
  clearInterval(state.timer);
  state.timer = null;
  fill(state.buttons.play, icon("play"), "Play");
  state.buttons.play.setAttribute("aria-pressed", "false");
}

const KEYS = { ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last", n: "entry", " ": "play" };

/** Keys of the whole page, unless somebody types or presses a button. */
function key(state, event) {
  const move = KEYS[event.key];
  if (!move || !state.story || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const { target } = event;
  const isScrubber = target === state.scrubber;
  if (/^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName) && !(isScrubber && (move === "play" || move === "entry"))) {
    return;
  }
  if (event.key === " " && target.closest("button, summary, a")) return;
  event.preventDefault();
  moves[move](state);
}

/** Above the scrubber: when somebody is inside, what must never happen, and where the wait-for graph has a cycle. */
function drawMarks(state) {
  const { run, story } = state;
  const total = Math.max(1, story.events.length);
  const x = (count) => (count / total) * 1000;
  const block = (from, until, name) =>
    svg("rect", {
      x: x(from),
      y: name === "cycle" ? 10 : 2,
      width: Math.max(1.5, x(until) - x(from)),
      height: name === "cycle" ? 4 : 7,
      class: `mark-${name}${name === "cycle" && until >= total ? " lasting" : ""}`,
    });
  const insides = story.lanes.flatMap((lane) => lane.stays).filter((stay) => stay.phase === "inside");
  const ends = insides.map((
    stay,
  ) => [
    stay.index,
    story.events.findIndex((event, index) =>
      index > stay.index && event.node === story.events[stay.index].node && /release|crash/.test(event.event)
    ),
  ]);
  const cycles = cyclesOf(run, story);
  fill(
    state.marks,
    ends.map(([from, until]) => block(from, until < 0 ? total : until, "inside")),
    cycles.map(([from, until]) => block(from, until, "cycle")),
    story.violations.map(({ index }) => block(index, index + 2, "violation")),
  );
  const parts = [];
  if (story.violations.length > 0) parts.push(`violated at event ${story.violations[0].index + 1}`);
  const [from, until] = cycles.at(-1) ?? [];
  if (until >= total) parts.push(`a cycle of waiting from event ${from} to the end`);
  else if (from !== undefined) {
    parts.push(
      `${
        cycles.length === 1 ? "a cycle" : `${cycles.length} times a cycle`
      } of waiting that was resolved (amber below)`,
    );
  }
  const text = parts.join("; ");
  fill(state.remark, text ? `${text[0].toUpperCase()}${text.slice(1)}.` : null);
}

/** The ranges of cuts in which there is a cycle. */
function cyclesOf(run, story) {
  const total = Math.min(run.known, story.events.length);
  if (story.events.length > MOST_SEARCHED) return [];
  const ends = story.messages.flatMap((message) => message.ends.map((end) => end.index + 1));
  const told = run.states.flatMap((states) => states.map(([count]) => count));
  const changes = [...new Set([...told, ...ends])].filter((count) => count <= total).sort((one, other) => one - other);
  const ranges = [];
  changes.forEach((count, place) => {
    if (waitsAt(run, story, count).cycle.length === 0) return;
    const until = changes[place + 1] ?? total;
    if (ranges.at(-1)?.[1] === count) ranges.at(-1)[1] = until;
    else ranges.push([count, until]);
  });
  return ranges;
}
