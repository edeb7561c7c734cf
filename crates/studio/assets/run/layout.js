// Where lanes are and which way arrows go, in pixels of the whole picture (not of the part that is seen).

/** Height of the axis above the lanes. */
export const AXIS = 26;

/** The heights of lanes: fewer nodes have more room each. `node` counts from 1. */
export function lanes(count, hasRibbons) {
  const pitch = count <= 5 ? 76 : count <= 8 ? 60 : count <= 16 ? 48 : count <= 32 ? 34 : 24;
  const bar = pitch >= 48 ? 13 : pitch >= 34 ? 11 : 8;
  return {
    count,
    pitch,
    bar,
    hasRibbons,
    y: (node) => AXIS + pitch * (node - 0.5) - (hasRibbons ? 2 : 0),
    ribbon: { down: bar / 2 + 2.5, height: pitch >= 34 ? 5 : 3 },
    height: AXIS + pitch * count + 6,
    nodeAt: (y) => Math.min(count, Math.max(1, Math.ceil((y - AXIS) / pitch))),
  };
}

/**
 * The ways of all messages, one for each end: `{message, end, x1, y1, x2, y2}`; `end` is null while a message is under way. What does
 * not arrive stops between two lanes.
 */
export function ways(story, places, lane) {
  const all = [];
  for (const message of story.messages) {
    const ends = message.ends.length > 0 ? message.ends : [null];
    for (const end of ends) all.push(way(story, places, lane, message, end));
  }
  return all;
}

function way(story, places, lane, message, end) {
  const near = Math.min(60, Math.max(18, lane.pitch * 0.6));
  const x1 = places.x(message.sent);
  const arrives = end !== null && !end.isLost;
  const stop = end ? places.x(end.moment) : x1 + near;
  const x2 = arrives ? stop : Math.max(stop, x1 + near);
  const down = Math.sign(message.to - message.from) || 1;
  const y1 = lane.y(message.from) + down * reach(story, lane, message.from, message.sent);
  const y2 = lane.y(message.to) - down * (end ? reach(story, lane, message.to, end.moment) : 1);
  if (arrives) return { message, end, x1, y1, x2, y2 };
  const share = Math.max(0.4, 1 - lane.pitch / 2 / Math.max(1, Math.abs(y2 - y1)));
  return { message, end, x1, y1, x2: x1 + (x2 - x1) * share, y2: y1 + (y2 - y1) * share };
}

/** How far a node's band reaches at a moment. */
function reach(story, lane, node, moment) {
  const { stays } = story.lanes[node - 1];
  let place = stays.length - 1;
  while (place > 0 && stays[place].from > moment) place -= 1;
  const isWide = (stay) => stay !== undefined && stay.phase !== "outside" && stay.until >= moment;
  return isWide(stays[place]) || (stays[place]?.from === moment && isWide(stays[place - 1])) ? lane.bar / 2 + 1 : 1.5;
}

/** How far a point is from a way. */
export function distance({ x1, y1, x2, y2 }, x, y) {
  const [along, across] = [x2 - x1, y2 - y1];
  const length = along * along + across * across;
  const share = length > 0 ? Math.min(1, Math.max(0, ((x - x1) * along + (y - y1) * across) / length)) : 0;
  return Math.hypot(x - x1 - share * along, y - y1 - share * across);
}

/** What of a message is nearest to a point, within a few pixels: `{way, isHead}`. Where an answer begins at a head, it is the head. */
export function nearest(shown, x, y, most = 7) {
  let found = null;
  let best = most;
  for (const each of shown) {
    const isHead = Math.hypot(x - each.x2, y - each.y2) <= 11;
    const away = isHead
      ? Math.min(distance(each, x, y), Math.hypot(x - each.x2, y - each.y2) / 3) - 1
      : distance(each, x, y);
    if (away < best) {
      best = away;
      found = { way: each, isHead };
    }
  }
  return found;
}
