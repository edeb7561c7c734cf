// One chart of one number over N at one load: what was measured as marks, what the formula says as dashed lines with a band
// between its least and its most. Names stand at the right end of their lines; where there is no room, below the chart.
// One mark is a tab stop; arrow keys go from it along the line and from line to line.

import { svg } from "../dom.js";
import { apart, axis } from "./axis.js";
import { inOrder } from "./metrics.js";

const TOP = 16;
const BOTTOM = 46;
const LEFT = 58;
const LABELS = 140;
const LINE = 16;
/** With more series than this the bands would hide each other: only the one that is looked at has its band. */
const MOST_BANDS = 4;
/** Below this width names do not fit beside the lines. */
export const NARROW = 440;

/** Draws the chart; `look.at(mark)` is told which mark is looked at, `look.away()` that none is, `look.choose(mark)` a click. */
export function drawChart(view, look) {
  const series = seriesOf(view);
  const frame = frameOf(view, series);
  const picture = svg("svg", {
    class: "chart",
    width: view.width,
    height: frame.height,
    role: "group",
    "aria-label": `${view.metric.title} over the number of nodes, load ${view.load}`,
    "data-load": view.load,
  });
  picture.append(grid(view, frame), ...series.map((one) => drawSeries(view, frame, one)));
  if (!frame.isNarrow) picture.append(...labels(frame, series));
  listen(picture, series, look);
  return picture;
}

/** The series of the chart, each with its marks and the lines of its formula. */
function seriesOf({ cells, metric, looks, load }) {
  const ours = cells.filter((cell) => cell.load === load);
  return inOrder(ours, "algorithm").map((name) => {
    const mine = ours.filter((cell) => cell.algorithm === name).sort((one, other) => one.nodes - other.nodes);
    const marks = mine.filter((cell) => isNumber(cell[metric.key])).map((cell) => ({ cell, value: cell[metric.key] }));
    return { name, marks, formula: metric.name === "messages" ? formulaOf(mine) : null, look: looks.get(name) };
  });
}

function formulaOf(cells) {
  const bound = (key) => cells.filter((cell) => isNumber(cell[key])).map((cell) => [cell.nodes, cell[key]]);
  const [least, most] = [bound("formula_least"), bound("formula_most")];
  const isOne = least.length === most.length && least.every(([, value], index) => value === most[index][1]);
  return { least, most: isOne ? [] : most, isBand: !isOne && most.length > 1 };
}

function isNumber(value) {
  return typeof value === "number" && Number.isFinite(value);
}

function frameOf(view, series) {
  const isNarrow = view.width < NARROW;
  const right = view.width - (isNarrow ? 14 : LABELS);
  const height = Math.max(isNarrow ? 300 : 400, isNarrow ? 0 : series.length * LINE + TOP + BOTTOM);
  const sizes = view.cells.map((cell) => cell.nodes);
  const values = series.flatMap((one) => valuesOf(view, one)).filter((value) => !view.isYLogarithmic || value > 0);
  const x = axis({ ...reach(sizes), from: LEFT, to: right, isLogarithmic: view.isXLogarithmic, isFromZero: false });
  x.ticks = sizeTicks(sizes, x);
  const y = axis({ ...reach(values), from: height - BOTTOM, to: TOP, isLogarithmic: view.isYLogarithmic, room: 34 });
  return { isNarrow, right, height, x, y, hasBands: series.length <= MOST_BANDS };
}

/** What must fit on the axis: all marks, and the formula as far as it is not many times as much. */
function valuesOf(view, { marks, formula }) {
  const values = marks.map((mark) => mark.value);
  if (!view.hasFormula || !formula) return values;
  const limit = 3 * Math.max(...values, 1);
  return [...values, ...[...formula.least, ...formula.most].map(([, value]) => value).filter((value) => value <= limit)];
}

function reach(values) {
  return values.length === 0 ? { least: 1, most: 10 } : { least: Math.min(...values), most: Math.max(...values) };
}

/** A tick at each number of nodes that was run, as far as they do not touch. */
function sizeTicks(sizes, x) {
  const ticks = [];
  for (const value of [...new Set(sizes)].sort((one, other) => one - other)) {
    const place = x.place(value);
    if (ticks.length === 0 || place - ticks.at(-1).place >= 24) ticks.push({ value, place, text: String(value) });
  }
  return ticks;
}

function grid(view, { x, y, right, height }) {
  const bottom = height - BOTTOM;
  const across = y.ticks.flatMap(({ place, text }) => [
    svg("line", { class: "chart-grid", x1: LEFT, x2: right, y1: place, y2: place }),
    svg("text", { class: "chart-tick", x: LEFT - 8, y: place + 4, "text-anchor": "end" }, text),
  ]);
  const along = x.ticks.flatMap(({ place, text }) => [
    svg("line", { class: "chart-grid", x1: place, x2: place, y1: bottom, y2: bottom + 5 }),
    svg("text", { class: "chart-tick", x: place, y: bottom + 18, "text-anchor": "middle" }, text),
  ]);
  const kind = (isLogarithmic) => (isLogarithmic ? " (log)" : "");
  const below = svg(
    "text",
    { class: "chart-title", x: (LEFT + right) / 2, y: height - 8, "text-anchor": "middle" },
    `nodes N${kind(view.isXLogarithmic)}`,
  );
  const middle = (TOP + bottom) / 2;
  const beside = svg(
    "text",
    { class: "chart-title", x: 14, y: middle, "text-anchor": "middle", transform: `rotate(-90 14 ${middle})` },
    `${view.metric.title}${kind(view.isYLogarithmic)}`,
  );
  const ground = svg("line", { class: "chart-axis", x1: LEFT, x2: right, y1: bottom, y2: bottom });
  return svg("g", { "aria-hidden": "true" }, ...across, ...along, ground, below, beside);
}

function drawSeries(view, frame, series) {
  const { x, y } = frame;
  const drawn = (points) => points.filter(([, value]) => !view.isYLogarithmic || value > 0);
  const path = (points) => drawn(points).map(([n, value], index) => `${index ? "L" : "M"}${x.place(n)} ${clipped(frame, y.place(value))}`).join("");
  const group = svg("g", { class: `series ${series.look.colour}`, "data-algorithm": series.name });
  if (view.hasFormula && series.formula) {
    const { least, most, isBand } = series.formula;
    if (isBand) {
      const around = path([...least, ...most.toReversed()]).replaceAll(/(?!^)M/g, "L");
      group.append(svg("path", { class: frame.hasBands ? "series-band" : "series-band of-one", d: `${around}Z` }));
    }
    group.append(svg("path", { class: "series-formula", d: path(least) }), svg("path", { class: "series-formula", d: path(most) }));
  }
  group.append(svg("path", { class: "series-line", d: path(series.marks.map(({ cell, value }) => [cell.nodes, value])) }));
  for (const mark of series.marks) group.append(drawMark(view, frame, series, mark));
  return group;
}

/** A formula far above all that was measured ends at the edge of the chart. */
function clipped(frame, place) {
  return Math.min(Math.max(place, TOP - 8), frame.height - BOTTOM);
}

function drawMark(view, { x, y, height }, series, mark) {
  const isDrawable = !view.isYLogarithmic || mark.value > 0;
  mark.x = x.place(mark.cell.nodes);
  mark.y = isDrawable ? y.place(mark.value) : height - BOTTOM;
  mark.series = series;
  mark.element = svg(
    "g",
    {
      class: mark.cell.failed ? "mark failed" : "mark",
      transform: `translate(${mark.x} ${mark.y})`,
      role: "button",
      tabindex: "-1",
      "aria-label": `${series.name}, N = ${mark.cell.nodes}: ${mark.value} ${view.metric.title}`,
      "data-nodes": mark.cell.nodes,
    },
    svg("circle", { class: "mark-reach", r: 11 }),
    svg("path", { class: "mark-shape", d: series.look.marker(4.6) }),
  );
  return mark.element;
}

function labels({ right, height, y }, series) {
  const named = series.filter((one) => one.marks.length > 0);
  const ends = named.map((one) => one.marks.at(-1).y);
  const places = apart(ends, LINE, TOP + 2, height - BOTTOM);
  return named.map((one, index) => {
    const [from, to] = [ends[index], places[index]];
    return svg(
      "g",
      { class: `series-label ${one.look.colour}`, "data-algorithm": one.name, "aria-hidden": "true" },
      svg("path", { class: "label-leader", d: `M${right + 7} ${from}L${right + 18} ${to}` }),
      svg("text", { class: "label-name", x: right + 22, y: to + 4 }, one.name),
    );
  });
}

/** Pointer and keys: which mark is looked at, and which series. */
function listen(picture, series, look) {
  const marks = series.flatMap((one) => one.marks);
  if (marks.length > 0) marks[0].element.setAttribute("tabindex", "0");
  const attend = (mark) => {
    for (const other of marks) other.element.setAttribute("tabindex", other === mark ? "0" : "-1");
    emphasise(picture, mark.series.name);
    look.at(mark);
  };
  const leave = () => {
    emphasise(picture, null);
    look.away();
  };
  for (const mark of marks) {
    mark.element.addEventListener("pointerenter", () => attend(mark));
    mark.element.addEventListener("pointerleave", leave);
    mark.element.addEventListener("focus", () => attend(mark));
    mark.element.addEventListener("blur", leave);
    mark.element.addEventListener("click", () => look.choose(mark));
    mark.element.addEventListener("keydown", (event) => onKey(event, mark, marks, look));
  }
  for (const label of picture.querySelectorAll(".series-label")) {
    label.addEventListener("pointerenter", () => emphasise(picture, label.dataset.algorithm));
    label.addEventListener("pointerleave", () => emphasise(picture, null));
  }
}

function onKey(event, mark, marks, look) {
  if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    look.choose(mark);
    return;
  }
  const next = neighbour(event.key, mark, marks);
  if (!next) return;
  event.preventDefault();
  next.element.focus();
}

/** The next mark along the line, or the next one above or below at the same N. */
function neighbour(key, mark, marks) {
  const along = mark.series.marks;
  const place = along.indexOf(mark);
  if (key === "ArrowRight") return along[place + 1];
  if (key === "ArrowLeft") return along[place - 1];
  if (key !== "ArrowUp" && key !== "ArrowDown") return undefined;
  const column = marks.filter((other) => other.cell.nodes === mark.cell.nodes).sort((one, other) => other.y - one.y);
  return column[column.indexOf(mark) + (key === "ArrowUp" ? 1 : -1)];
}

/** Brings one series forward and lets the others step back; none, if there is no name. */
export function emphasise(picture, name) {
  picture.classList.toggle("has-one", name !== null);
  for (const part of picture.querySelectorAll("[data-algorithm]")) {
    part.classList.toggle("is-one", part.dataset.algorithm === name);
  }
}
