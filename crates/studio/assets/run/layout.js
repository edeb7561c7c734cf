// From moments and lanes, in which the server lays a diagram out, to pixels of the whole picture (not of the part that is seen).

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

/** How far an arrow bends aside for each one that goes the same way before it, as in exported pictures. */
const BEND = 10;
/** A message that takes less room than this to the right stands upright, and bends so that it is seen beside other lines. */
const UPRIGHT = 4;

/**
 * The ways of all messages, one for each end: `{message, end, x1, y1, x2, y2, controls}`; `end` is null while a message is in flight,
 * `controls` are the two control points of a curve, or null for a straight line. A message that does not arrive stops between two lanes.
 */
export function ways(story, places, lane) {
  const all = [];
  for (const message of story.messages) {
    const ends = message.ends.length > 0 ? message.ends : [null];
    for (const end of ends) all.push(curved(straight(places, lane, message, end), places));
  }
  return all;
}

function straight(places, lane, message, end) {
  const near = Math.min(60, Math.max(18, lane.pitch * 0.6));
  const x1 = places.x(message.sent);
  const arrives = end !== null && !end.isLost;
  const stop = end ? places.x(end.moment) : x1 + near;
  const x2 = arrives ? stop : Math.max(stop, x1 + near);
  const down = Math.sign(message.to - message.from) || 1;
  const [leaves, meets] = (end ?? message).bands.map((isBand) => (isBand ? lane.bar / 2 + 1 : 1.5));
  const y1 = lane.y(message.from) + down * leaves;
  const y2 = lane.y(message.to) - down * (end ? meets : 1);
  if (arrives) return { message, end, x1, y1, x2, y2 };
  const share = Math.max(0.4, 1 - lane.pitch / 2 / Math.max(1, Math.abs(y2 - y1)));
  return { message, end, x1, y1, x2: x1 + (x2 - x1) * share, y2: y1 + (y2 - y1) * share };
}

/** The same way with its control points: a bow above the lane for a message to oneself, a bend for one that another goes along. */
function curved(way, places) {
  const { message, end, x1, y1, x2, y2 } = way;
  if (message.from === message.to) return { ...way, controls: [[x1, y1 - 26], [x2, y2 - 26]] };
  const [byTime, evenly] = (end ?? message).bends;
  const bends = (places.spacing === "even" ? evenly : byTime) + (x2 - x1 < UPRIGHT ? 1 : 0);
  if (bends === 0) return { ...way, controls: null };
  const length = Math.max(1, Math.hypot(x2 - x1, y2 - y1));
  const aside = (BEND * bends * 4) / 3 / length;
  const control = (share) => [x1 + (x2 - x1) * share + (y2 - y1) * aside, y1 + (y2 - y1) * share - (x2 - x1) * aside];
  return { ...way, controls: [control(0.25), control(0.75)] };
}

/** The same way with its end moved to another place, for a head that is dragged. */
export function endingAt(way, x2) {
  const [first, second] = way.controls ?? [];
  return { ...way, x2, controls: way.controls ? [first, [second[0] + x2 - way.x2, second[1]]] : null };
}

/** The point at a share of a way. */
export function pointAt({ x1, y1, x2, y2, controls }, share) {
  const rest = 1 - share;
  if (!controls) return [x1 * rest + x2 * share, y1 * rest + y2 * share];
  const [[cx1, cy1], [cx2, cy2]] = controls;
  const weights = [rest ** 3, 3 * rest * rest * share, 3 * rest * share * share, share ** 3];
  const mixed = (...values) => values.reduce((sum, value, index) => sum + value * weights[index], 0);
  return [mixed(x1, cx1, cx2, x2), mixed(y1, cy1, cy2, y2)];
}

/** The direction in which a way arrives, as `[right, down]` of length 1. */
export function direction(way) {
  const [x, y] = pointAt(way, way.controls ? 0.92 : 0);
  const length = Math.hypot(way.x2 - x, way.y2 - y) || 1;
  return [(way.x2 - x) / length, (way.y2 - y) / length];
}

/** How far a point is from a way. */
export function distance(way, x, y) {
  const pieces = way.controls ? 8 : 1;
  let least = Infinity;
  let from = [way.x1, way.y1];
  for (let piece = 1; piece <= pieces; piece += 1) {
    const to = pointAt(way, piece / pieces);
    least = Math.min(least, fromLine(from, to, x, y));
    from = to;
  }
  return least;
}

function fromLine([x1, y1], [x2, y2], x, y) {
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
