// The numbers that are compared, under the words of `doorway compare --metric`.

/** Every number: its word, its key in a cell, what it is, and whether more of it is better. */
export const METRICS = [
  { name: "messages", key: "messages_per_entry", title: "messages per entry" },
  { name: "bytes", key: "bytes_per_entry", title: "bytes per entry" },
  { name: "response", key: "response_time", title: "mean response time in ticks" },
  { name: "delay", key: "sync_delay", title: "mean synchronisation delay in ticks" },
  { name: "throughput", key: "throughput", title: "entries per tick", isMoreBetter: true },
  { name: "fairness", key: "jain", title: "Jain’s index of fairness", isMoreBetter: true },
  { name: "bypass", key: "max_bypass", title: "largest number of bypasses" },
];

/** The number with this word, messages per entry if there is none. */
export function metricNamed(name) {
  return METRICS.find((metric) => metric.name === name) ?? METRICS[0];
}

/** The best of several values; where all are equal, none is. */
export function best(metric, values) {
  const known = values.filter((value) => value !== null && value !== undefined);
  const [least, most] = [Math.min(...known), Math.max(...known)];
  if (known.length < 2 || least === most) return null;
  return metric.isMoreBetter ? most : least;
}

/** Whether fewer or more messages were counted than the formula says; null where there is nothing to compare with. */
export function isOutsideFormula(cell) {
  // Means of many entries are a little off where the entries cost different numbers.
  const margin = 0.05;
  if (cell.messages_per_entry === null || cell.formula_least === null) return null;
  const isMore = cell.formula_most !== null && cell.messages_per_entry > cell.formula_most + margin;
  return isMore || cell.messages_per_entry < cell.formula_least - margin;
}

/** Each different value of the cells, in the order in which it comes. */
export function inOrder(cells, key) {
  return [...new Set(cells.map((cell) => cell[key]))];
}

/** A number for people: four digits that count, no trailing zeros. */
export function number(value) {
  if (value === null || value === undefined) return "–";
  if (value !== 0 && Math.abs(value) < 0.001) return value.toExponential(2);
  const places = Math.abs(value) >= 100 ? 1 : Math.abs(value) >= 1 ? 2 : 4;
  return String(Number(value.toFixed(places)));
}
