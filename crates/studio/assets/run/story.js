// What a picture shows of a run. The server says who was in which phase from when to when and which message went where (`run.diagram`, by
// moments and lanes); here it is given the names that the page uses, with an index for what the page looks up.
//
// A moment is a step of a node and all its effects; steps of different nodes at the same tick share a moment unless one causes
// another. What lasts to the end lasts until the moment after the last one. Events are counted by their place in the list, from 0.

/** The events with which a step of a node begins. */
const STEPS = new Set(["start", "request", "release", "deliver", "crash", "report", "access", "clock", "timer", "written", "pause", "resume"]);

/** The lane of a node in a recorded run that cannot be drawn. */
const NO_LANE = { stays: [], crashes: [], down: false, ribbon: [] };

/** Reads a RunView. */
export function tell(run) {
  const { moments, moment_of, lanes, messages, violations, repetition } = run.diagram;
  const story = {
    nodes: run.nodes,
    events: run.events,
    placeOf: new Map(run.events.map((event, index) => [event.id, index])),
    moments,
    momentOf: moment_of,
    messages: messages.map(messageFrom),
    numberOf: new Map(messages.map(({ event }, place) => [run.events[event].id, place + 1])),
    lanes: Array.from({ length: run.nodes }, (_, index) => laneFrom(lanes[index] ?? NO_LANE)),
    violations: violations.map(markFrom),
    entries: run.events.flatMap((event, index) => (event.event === "enter" ? [index] : [])),
    loop: repetition ? markFrom(repetition) : null,
  };
  story.hasRibbons = story.lanes.some(({ ribbon }) => ribbon.length > 0);
  return story;
}

function markFrom({ moment, event }) {
  return { moment, index: event };
}

/** A message: `ends` are its deliveries and losses; `bends` and `bands` are those of its arrow while it is in flight. */
function messageFrom({ event, kind, from, to, sent, arrows }, place) {
  const over = arrows.filter(({ end }) => end);
  const ends = over.map(({ end, lost, bends, bands }) => ({ ...markFrom(end), isLost: lost !== undefined, why: lost, bends, bands }));
  const [{ bends, bands }] = arrows;
  return { number: place + 1, kind, from, to, index: event, sent, ends, bends, bands };
}

/** A lane: `crash` is the one after which its node did not come back, `restarted` are the others. */
function laneFrom({ stays, crashes, down, ribbon }) {
  const all = crashes.map(markFrom);
  return {
    stays: stays.map(({ event, ...stay }) => ({ ...stay, index: event })),
    crash: down ? all.at(-1) : null,
    restarted: down ? all.slice(0, -1) : all,
    ribbon,
  };
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
