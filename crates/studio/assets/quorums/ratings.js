// How good the systems are: a table with a column for each, and the curve of the probability that no quorum is alive, over the probability
// that a node has crashed, which the server lays out.

import { h, svg } from "../dom.js";
import { number } from "../compare/metrics.js";
import { paint } from "../paint.js";

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

/** The table; `systems` are `{name, system}` with the server's answer. `data-sample` is where the look of a curve is put. */
export function ratingsTable(systems, p) {
  const row = ([name, help, value]) =>
    h("tr", {}, h("th", { scope: "row" }, name, h("div", { class: "soft small" }, help)), systems.map(({ system }) => h("td", {}, value(rated(system)))));
  const failure = h(
    "tr",
    { class: "here" },
    h("th", { scope: "row" }, `failure at ${p}`, h("div", { class: "soft small" }, "the probability that no quorum is alive")),
    systems.map(({ system }) => h("td", { data: { failure: "" } }, small(failureAt(curve(system), p)))),
  );
  const heads = systems.map(({ name }) => h("th", { scope: "col" }, h("span", { data: { sample: name } }), ` ${name}`));
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

/** What the server needs to lay the chart of the curves out, with a line at p. */
export function failureRequest(systems, { p, y, width }) {
  return { systems: systems.map(({ name, system }) => ({ name, curve: curve(system) })), p, y, width, height: 290 };
}

/** The chart as the server has laid it out. */
export function failureChart(layout, systems, p) {
  return svg(
    "svg",
    { class: "chart failure-chart", width: layout.width, height: layout.height, role: "img", "aria-label": described(systems, p) },
    layout.elements.map((element) => paint(element)),
  );
}

function described(systems, p) {
  const told = systems.map(({ name, system }) => `${name} ${small(failureAt(curve(system), p))}`);
  return `The probability that no quorum is alive, over the probability of a crash. At ${p}: ${told.join(", ")}.`;
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
