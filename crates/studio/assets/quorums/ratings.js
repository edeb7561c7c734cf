// How good the systems are: a table with a column for each, and the curve of the probability that no quorum is alive, over the probability
// that a node has crashed.

import { h, svg } from "../dom.js";
import { axis, number } from "../compare/axis.js";

const HUES = [0, 1];
const DASHES = [null, "7 4"];
const SMALLEST = 1e-6;

/** Each rating: what it is called, what it means, its value in a system, and whether less of it is better. */
const ROWS = [
  ["nodes in a quorum", "least to most", (rated) => spread(rated.size)],
  ["quorums that a node is in", "of the assigned ones", (rated) => spread(rated.responsibility)],
  ["minimal quorums", "of the whole family, listed or not; the ratings below are about these", (rated) => rated.minimal_quorums ?? "too many to list"],
  ["nodes that two quorums share", "", (rated) => spread(rated.overlap)],
  ["load", "how often the busiest node is asked, at best", (rated) => load(rated)],
  ["capacity", "1/load: requests served in the time that a node needs for one", (rated) => bounds(rated.capacity)],
  ["resilience", "so many crashes, of whatever nodes, always leave a quorum", (rated) => bounds(rated.resilience)],
  ["non-dominated", "no quorum contains another, and no other system is alive whenever this one is, and more often", (rated) => ({ true: "yes", false: "no" })[rated.nondominated] ?? "unknown"],
];

/** The table; `systems` are `{name, system}` with the server's answer. */
export function ratingsTable(systems, p) {
  const row = ([name, help, value]) =>
    h("tr", {}, h("th", { scope: "row" }, name, h("div", { class: "soft small" }, help)), systems.map(({ system }) => h("td", {}, value(rated(system)))));
  const failure = h(
    "tr",
    { class: "here" },
    h("th", { scope: "row" }, `failure at ${p}`, h("div", { class: "soft small" }, "the probability that no quorum is alive")),
    systems.map(({ system }) => h("td", { data: { failure: "" } }, small(failureAt(curve(system), p)))),
  );
  const heads = systems.map(({ name }, index) => h("th", { scope: "col" }, sample(index), ` ${name}`));
  return h("table", { class: "full", id: "quorum-ratings" }, h("thead", {}, h("tr", {}, h("td", {}), heads)), h("tbody", {}, ROWS.map(row), failure));
}

/** All that the server says about a system, whether it was verified or rated. */
function rated(system) {
  return { ...system.verification, ...system.ratings };
}

function curve(system) {
  return system.ratings?.curve ?? [];
}

/** The failure at a probability of the curve. */
function failureAt(points, p) {
  return points.find(([at]) => Math.abs(at - p) < 1e-6)?.[1] ?? null;
}

/** The chart of the curves with a line at p. */
export function failureChart(systems, { p, y, width }) {
  const [left, top, right, bottom] = [56, 12, width - 16, 250];
  const isLogarithmic = y === "log";
  const across = axis({ least: 0, most: 0.9999, from: left, to: right, isLogarithmic: false, room: 60 });
  const values = systems.flatMap(({ system }) => curve(system).map(([, failure]) => failure)).filter((failure) => failure >= SMALLEST);
  const least = isLogarithmic ? Math.min(...values, 0.1) : 0;
  const up = axis({ least, most: isLogarithmic ? 1 : 0.98, from: bottom, to: top, isLogarithmic, room: 36 });
  const place = ([at, failure]) => `${across.place(Math.min(at, 1)).toFixed(1)} ${up.place(isLogarithmic ? Math.max(failure, up.least) : failure).toFixed(1)}`;
  const lines = systems.map(({ system }, index) =>
    svg("path", { class: `curve hue${HUES[index]}-line`, "stroke-dasharray": DASHES[index], d: `M${curve(system).map(place).join("L")}` }),
  );
  const at = across.place(p);
  const marks = systems.map(({ system }, index) => {
    const failure = failureAt(curve(system), p);
    return failure === null ? null : svg("circle", { class: `hue${HUES[index]}`, cx: at, cy: place([p, failure]).split(" ")[1], r: 4.5 });
  });
  return svg(
    "svg",
    { class: "failure-chart", width, height: bottom + 44, role: "img", "aria-label": described(systems, p) },
    grid(across, up, { left, top, right, bottom }),
    svg("line", { class: "at-p", x1: at, x2: at, y1: top, y2: bottom }),
    lines,
    marks,
  );
}

function grid(across, up, { left, top, right, bottom }) {
  const rows = up.ticks.flatMap(({ place, text }) => [
    svg("line", { class: "axis", x1: left, x2: right, y1: place, y2: place }),
    svg("text", { class: "soft", x: left - 7, y: place + 4, "text-anchor": "end" }, text),
  ]);
  const columns = across.ticks.map(({ place, text }) => svg("text", { class: "soft", x: place, y: bottom + 17, "text-anchor": "middle" }, text));
  const middle = (top + bottom) / 2;
  return [
    rows,
    columns,
    svg("text", { class: "soft", x: (left + right) / 2, y: bottom + 37, "text-anchor": "middle" }, "probability that a node has crashed"),
    svg("text", { class: "soft", x: 13, y: middle, "text-anchor": "middle", transform: `rotate(-90 13 ${middle})` }, "no quorum is alive"),
  ];
}

function described(systems, p) {
  const told = systems.map(({ name, system }) => `${name} ${small(failureAt(curve(system), p))}`);
  return `The probability that no quorum is alive, over the probability of a crash. At ${p}: ${told.join(", ")}.`;
}

/** How the curve of a system is drawn. */
export function sample(index) {
  return svg(
    "svg",
    { class: "sample", width: 30, height: 10, viewBox: "0 0 30 10", "aria-hidden": "true" },
    svg("path", { class: `curve hue${HUES[index]}-line`, "stroke-dasharray": DASHES[index], d: "M0 5H30" }),
  );
}

function load(rated) {
  const fraction = rated.load_fraction;
  const value = bounds(rated.load);
  return fraction && fraction.includes("/") && fraction.length < 12 ? `${fraction} ≈ ${value}` : value;
}

function bounds(value) {
  if (value === null || value === undefined) return "unknown";
  return typeof value === "number" ? number(value) : `${number(value.least)} to ${number(value.most)}`;
}

function spread(value) {
  if (!value) return "unknown";
  const range = value.min === value.max ? `${value.min}` : `${value.min} to ${value.max}`;
  return value.mean !== undefined && value.min !== value.max ? `${range}, mean ${number(value.mean)}` : range;
}

/** A probability that may be very small. */
function small(probability) {
  if (probability === null) return "unknown";
  return probability > 0 && probability < 1e-4 ? probability.toExponential(2) : String(Number(probability.toFixed(4)));
}
