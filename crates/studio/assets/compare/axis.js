// An axis of a chart: where a value is drawn, and which values get a tick. Linear, or logarithmic where equal steps
// are equal factors.

/** An axis over the values from `least` to `most`, drawn between the pixels `from` and `to`. */
export function axis({ least, most, from, to, isLogarithmic, isFromZero = true, room = 50 }) {
  const range = isLogarithmic ? logarithmicRange(least, most) : linearRange(least, most, isFromZero);
  const scale = isLogarithmic ? Math.log : (value) => value;
  const [low, high] = [scale(range.least), scale(range.most)];
  const place = (value) => from + ((scale(value) - low) / (high - low)) * (to - from);
  const wanted = Math.max(2, Math.floor(Math.abs(to - from) / room));
  const values = isLogarithmic ? logarithmicTicks(range, wanted) : linearTicks(range, wanted);
  const ticks = values.map((value) => ({ value, place: place(value), text: number(value) }));
  return { ...range, place, ticks };
}

/** A number for people: four digits that count, no trailing zeros. */
export function number(value) {
  if (value === null || value === undefined) return "–";
  if (value !== 0 && Math.abs(value) < 0.001) return value.toExponential(2);
  const places = Math.abs(value) >= 100 ? 1 : Math.abs(value) >= 1 ? 2 : 4;
  return String(Number(value.toFixed(places)));
}

function linearRange(least, most, isFromZero) {
  const low = isFromZero ? Math.min(0, least) : least - (most - least || 2) * 0.05;
  return { least: low, most: most > low ? most + (most - low) * 0.05 : low + 1 };
}

function logarithmicRange(least, most) {
  const margin = Math.pow(most / least, 0.04);
  return most > least ? { least: least / margin, most: most * margin } : { least: least / 2, most: most * 2 };
}

function linearTicks({ least, most }, wanted) {
  const step = roundStep((most - least) / wanted);
  const [first, last] = [Math.ceil(least / step - 1e-9), Math.floor(most / step + 1e-9)];
  return Array.from({ length: last - first + 1 }, (_, index) => Number(((first + index) * step).toPrecision(12)));
}

/** The next of 1, 2, 5, 10, 20, … that is not smaller. */
function roundStep(step) {
  const power = Math.pow(10, Math.floor(Math.log10(step)));
  return [1, 2, 5, 10].map((factor) => factor * power).find((round) => round >= step * 0.999);
}

function logarithmicTicks({ least, most }, wanted) {
  // Within less than a decade the round factors are too few; equal steps are still readable there.
  if (most / least < 8) return linearTicks({ least, most }, wanted);
  const within = (factors) => decades(least, most, factors).filter((value) => value >= least && value <= most);
  const choices = [[1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 2, 5], [1, 3], [1]].map(within);
  return choices.find((ticks) => ticks.length <= Math.max(wanted, 3)) ?? choices.at(-1);
}

function decades(least, most, factors) {
  const [first, last] = [Math.floor(Math.log10(least)), Math.ceil(Math.log10(most))];
  const powers = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  return powers.flatMap((power) => factors.map((factor) => Number((factor * Math.pow(10, power)).toPrecision(12))));
}

/** Moves places apart so that none is nearer than `gap` to the next, all between `from` and `to`. */
export function apart(places, gap, from, to) {
  const order = places.map((place, index) => ({ place, index })).sort((one, other) => one.place - other.place);
  let free = from;
  for (const entry of order) {
    entry.place = Math.max(entry.place, free);
    free = entry.place + gap;
  }
  let limit = to;
  for (const entry of order.toReversed()) {
    entry.place = Math.min(entry.place, limit);
    limit = entry.place - gap;
  }
  const moved = new Array(places.length);
  for (const entry of order) moved[entry.index] = entry.place;
  return moved;
}
