// Where moments are in a picture: by their time, so that lengths can be compared, or evenly spaced, so that none is crowded.

/** Room before the first moment and behind the last one, in pixels. */
export const PAD = 26;
/** How far lanes go on behind the last moment. */
const TAIL = 24;

/**
 * The places of a story's moments. `spacing` is "time" or "even"; `zoom` 1 shows as much as fits well into `width` pixels.
 */
export function scale(story, spacing, zoom, width) {
  const { moments } = story;
  const isEven = spacing === "even";
  const first = moments[0] ?? 0;
  const span = isEven ? Math.max(1, moments.length - 1) : Math.max(1, (moments.at(-1) ?? 0) - first);
  const step = fitting(moments.length, span, width) * zoom;
  const places = Float64Array.from(moments, (time, moment) => PAD + step * (isEven ? moment : time - first));
  const end = PAD + TAIL + step * span;
  return {
    spacing,
    step,
    width: end + PAD,
    end,
    x: (moment) => places[moment] ?? end,
    momentAt: (x) => lastBefore(places, x),
    timeAt: (x) => (isEven ? timeBetween(places, moments, x, step) : Math.round(first + (x - PAD) / step)),
    xOfTime: (time) => (isEven ? placeOfTime(places, moments, time, step) : PAD + (time - first) * step),
  };
}

/** How many pixels one tick, or one moment, gets: all fits, unless that were too crowded to be read. */
function fitting(count, span, width) {
  const all = Math.max(120, width - 2 * PAD - TAIL) / span;
  const least = (13 * Math.max(1, count - 1)) / span;
  return Math.min(Math.max(all, least), 90 * Math.max(1, count / span));
}

/** The last moment that is not behind this place; the first if all are. */
function lastBefore(places, x) {
  let low = 0;
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (places[middle] <= x + 0.5) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}

function timeBetween(places, moments, x, step) {
  const moment = lastBefore(places, x);
  const share = Math.min(1, Math.max(0, (x - (places[moment] ?? 0)) / step));
  const next = moments[moment + 1] ?? moments[moment] + 1;
  const behind = x > (places.at(-1) ?? 0) ? Math.round((x - places.at(-1)) / step) : null;
  return behind === null
    ? Math.round(moments[moment] + share * (next - moments[moment]))
    : (moments.at(-1) ?? 0) + behind;
}

function placeOfTime(places, moments, time, step) {
  const next = moments.findIndex((moment) => moment >= time);
  if (next < 0) return (places.at(-1) ?? PAD) + step;
  return moments[next] === time || next === 0 ? places[next] : (places[next - 1] + places[next]) / 2;
}

/** Round times for the marks of an axis, about `apart` pixels from each other: `[[x, text], …]` between two places. */
export function ticks(story, places, from, until, apart = 84) {
  return places.spacing === "even"
    ? evenTicks(story, places, from, until, apart)
    : timeTicks(places, from, until, apart);
}

function timeTicks(places, from, until, apart) {
  const raw = apart / places.step;
  const power = 10 ** Math.floor(Math.log10(raw));
  const round = Math.max(1, [1, 2, 5, 10].map((factor) => factor * power).find((value) => value >= raw) ?? raw);
  const marks = [];
  const stop = Math.min(until, places.width);
  for (
    let time = Math.ceil(places.timeAt(Math.max(PAD, from)) / round) * round;
    places.xOfTime(time) <= stop;
    time += round
  ) {
    marks.push([places.xOfTime(time), String(time)]);
  }
  return marks;
}

function evenTicks(story, places, from, until, apart) {
  const every = Math.max(1, Math.ceil(apart / places.step / 1.6));
  const marks = [];
  for (let moment = Math.floor(places.momentAt(from) / every) * every; moment < story.moments.length; moment += every) {
    if (places.x(moment) > until) break;
    marks.push([places.x(moment), String(story.moments[moment])]);
  }
  return marks;
}
