// From a run's events to what a picture shows: who was in which phase from when to when, which message went where, and whom each
// node's vote was given to.
//
// Time is cut into moments. A step of a node and all that comes of it is one moment, and so are steps of different nodes at the same
// tick if none of them comes of another. What lasts to the end lasts until the moment after the last one. Everything here counts events by their place in the list, from 0.

const STEPS = new Set(["start", "request", "release", "deliver", "crash", "access", "clock", "timer", "written", "pause", "resume"]);

/** Reads a RunView. */
export function tell(run) {
  const placeOf = new Map(run.events.map((event, index) => [event.id, index]));
  const story = {
    nodes: run.nodes,
    events: run.events,
    placeOf,
    moments: [],
    momentOf: [],
    messages: [],
    numberOf: new Map(),
    lanes: Array.from({ length: run.nodes }, () => ({ stays: [], crash: null, restarted: [] })),
    ribbons: [],
    violations: [],
    entries: [],
    loop: null,
  };
  place(story);
  for (let index = 0; index < run.events.length; index += 1) read(story, run, index);
  const last = story.moments.length;
  for (const lane of story.lanes) close(lane, last);
  story.ribbons = ribbons(run, story, last);
  story.hasRibbons = story.ribbons.some((ribbon) => ribbon.length > 0);
  return story;
}

/** The message that an event sends, delivers or loses. */
export function messageOf(story, index) {
  const event = story.events[index];
  if (!event) return null;
  const sent = event.event === "send" ? event.id : event.cause;
  if (!["send", "deliver", "lost"].includes(event.event)) return null;
  return story.messages[story.numberOf.get(sent) - 1] ?? null;
}

/** How many events had happened at the end of a moment. */
export function countAt(story, moment) {
  let low = 0;
  let high = story.momentOf.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (story.momentOf[middle] <= moment) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** How many events to show of a run that was opened for something that goes wrong in it: up to there, not to other violations. */
export function countAbout({ events }, what) {
  const isViolation = ({ event }) => event === "violation";
  const found = events.findLastIndex((event) => isViolation(event) && event.what?.endsWith(what));
  return 1 + (found >= 0 ? found : events.findLastIndex((event) => !isViolation(event)));
}

/** The messages that are under way after so many events; what the last step sends at its end is sent already. */
export function underWay(story, count) {
  const until = stepEnd(story, count);
  return story.messages.filter(({ index, ends }) => index < until && (ends.length === 0 || ends.at(-1).index >= count));
}

/** How many events had happened at the end of the step that the last of these is part of. */
function stepEnd({ events }, count) {
  const node = events[count - 1]?.node;
  let until = count;
  while (events[until]?.node === node && !STEPS.has(events[until].event)) until += 1;
  return until;
}

/** Gives every event its moment. */
function place(story) {
  const stepped = new Set();
  for (const event of story.events) {
    const now = story.moments.length - 1;
    const isStep = STEPS.has(event.event);
    const isLate = now < 0 || story.moments[now] !== event.time;
    const comesOf = event.event === "deliver" && story.momentOf[story.placeOf.get(event.cause)] === now;
    if (isLate || (isStep && (stepped.has(event.node) || comesOf))) {
      story.moments.push(event.time);
      stepped.clear();
    }
    if (isStep) stepped.add(event.node);
    story.momentOf.push(story.moments.length - 1);
  }
}

function read(story, run, index) {
  const event = story.events[index];
  const moment = story.momentOf[index];
  const lane = story.lanes[event.node - 1];
  switch (event.event) {
    case "start":
      return start(lane, event.node === run.start_inside ? "inside" : "outside", moment, index);
    case "request":
      return begin(lane, "waiting", moment, index);
    case "enter":
      story.entries.push(index);
      return begin(lane, "inside", moment, index, event.fence);
    case "release":
      return begin(lane, "outside", moment, index);
    case "crash":
      close(lane, moment);
      lane.crash = { moment, index };
      return undefined;
    case "send":
      return send(story, event, index, moment);
    case "deliver":
      return end(story, event, { index, moment, isLost: false });
    case "lost":
      return end(story, event, { index, moment, isLost: true, why: event.why });
    case "violation":
      return story.violations.push({ moment, index });
    case "loop":
      story.loop ??= { moment, index };
      return undefined;
    default:
      return undefined;
  }
}

/** A node comes to life, or again after a crash: then it is outside. */
function start(lane, phase, moment, index) {
  if (!lane.crash) return begin(lane, phase, moment, index);
  lane.restarted.push(lane.crash);
  lane.crash = null;
  return begin(lane, "outside", moment, index);
}

function begin(lane, phase, moment, index, fence = null) {
  if (lane.crash) return;
  close(lane, moment);
  lane.stays.push({ phase, from: moment, until: null, index, fence });
}

function close(lane, moment) {
  const stay = lane.stays.at(-1);
  if (stay && stay.until === null) stay.until = moment;
}

function send(story, event, index, moment) {
  const number = story.messages.length + 1;
  story.numberOf.set(event.id, number);
  story.messages.push({ number, kind: event.kind, from: event.node, to: event.to, index, sent: moment, ends: [] });
}

function end(story, event, ending) {
  const message = story.messages[story.numberOf.get(event.cause) - 1];
  if (message) message.ends.push(ending);
}

/** Whom votes are given to, and where the token is, from moment to moment. */
function ribbons(run, story, last) {
  return run.states.map((changes, index) => {
    const pieces = [];
    changes.forEach(([count, state], place) => {
      const from = count > 0 ? story.momentOf[count - 1] : 0;
      const next = changes[place + 1]?.[0];
      const until = next === undefined ? last : story.momentOf[Math.max(0, next - 1)];
      const holder = holderOf(state.permission);
      const before = pieces.at(-1);
      if (holder === null) return;
      if (before && before.holder === holder && before.until === from) before.until = until;
      else pieces.push({ holder, from, until });
    });
    const end = story.lanes[index].crash?.moment ?? last;
    const cropped = pieces.map((piece) => ({ ...piece, until: Math.min(piece.until, end) }));
    return cropped.filter((piece) => piece.until > piece.from);
  });
}

function holderOf(permission) {
  if (permission?.token) return "token";
  return typeof permission?.vote === "number" ? permission.vote : null;
}
