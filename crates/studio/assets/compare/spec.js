// What is compared, as the address has it and as the server takes it. The words are those of `doorway compare`.

import { CHOICES, COMPARED, valueOf } from "../settings.js";

const SHARED = COMPARED.map(({ name }) => name);
const USUAL = {
  ...Object.fromEntries(COMPARED.map(({ name, usual }) => [name, usual])),
  nodes: "4,9,16,25",
  loads: "isolated,saturated",
  entries: "200",
  metric: "messages",
  x: "log",
  y: "log",
};
const TYPED = ["nodes", "loads", ...SHARED];
const OURS = ["algorithms", ...TYPED, "metric", "x", "y", "formula"];

/** Reads the part of the address behind the question mark. */
export function read(query) {
  const word = (name) => query.get(name)?.trim() || USUAL[name];
  const options = {};
  for (const [name, value] of query) if (!OURS.includes(name) && value) options[name.replace(/^set\./, "")] = value;
  return {
    algorithms: list(query.get("algorithms") ?? ""),
    nodes: list(word("nodes")),
    loads: list(word("loads")),
    ...Object.fromEntries(SHARED.map((name) => [name, word(name)])),
    metric: word("metric"),
    x: word("x"),
    y: word("y"),
    formula: query.get("formula") !== "off",
    options,
  };
}

/** The address of a comparison; what is usual is left out. */
export function address(spec) {
  const words = [];
  const add = (name, value) => {
    if (value && value !== USUAL[name]) words.push(`${name}=${encodeURIComponent(value).replaceAll("%2C", ",").replaceAll("%3A", ":")}`);
  };
  for (const name of OURS.slice(0, -1)) add(name, Array.isArray(spec[name]) ? spec[name].join(",") : spec[name]);
  if (!spec.formula) add("formula", "off");
  for (const [name, value] of Object.entries(spec.options)) add(isPlain(name) ? name : `set.${name}`, value);
  return words.length > 0 ? `#/compare?${words.join("&")}` : "#/compare";
}

/** What the server is asked: numbers that are no numbers stay words, so that it can say what is wrong with them. */
export function body(spec) {
  return {
    algorithms: spec.algorithms.length > 0 ? spec.algorithms : "all",
    nodes: spec.nodes.map(counted),
    loads: spec.loads,
    ...Object.fromEntries(COMPARED.map((setting) => [setting.name, valueOf(setting, spec[setting.name])])),
    options: spec.options,
  };
}

/** What one would type for the same numbers. */
export function command(spec) {
  const listed = { ...spec, nodes: spec.nodes.join(","), loads: spec.loads.join(",") };
  const isTyped = (name) => ["nodes", "loads", "entries", "seed"].includes(name) || spec[name] !== USUAL[name];
  const typed = TYPED.filter(isTyped).map((name) => `--${name} ${quoted(listed[name])}`);
  const chosen = Object.entries(spec.options).map(([name, value]) =>
    isPlain(name) ? `--${name} ${quoted(value)}` : `--set ${quoted(`${name}=${value}`)}`,
  );
  return ["doorway compare", ...spec.algorithms.map(quoted), ...typed, ...chosen].join(" ");
}

/** Whether two comparisons need the same runs; metric, axes and formula are only ways to look at them. */
export function hasSameRuns(one, other) {
  return JSON.stringify(body(one)) === JSON.stringify(body(other));
}

/** The address of the run behind a cell, short enough to be looked at. */
export function runAddress(cell, spec) {
  const words = { algorithm: cell.algorithm, nodes: cell.nodes, load: cell.load, entries: Math.min(12, Number(spec.entries) || 12) };
  const shared = Object.fromEntries(SHARED.map((name) => [name, spec[name]]));
  const quorum = / --quorum plane( |$)/.test(cell.command) ? { quorum: "plane" } : {};
  return `#/run?${new URLSearchParams({ ...shared, ...words, ...quorum, ...spec.options })}`;
}

/** Words between commas or spaces; `4..7` is 4,5,6,7. */
export function list(text) {
  return text.split(/[\s,]+/).filter((word) => word !== "").flatMap(spread);
}

function spread(word) {
  const [, from, to] = word.match(/^(\d{1,3})(?:\.\.|–|-)(\d{1,3})$/) ?? [];
  const count = to - from + 1;
  return count >= 1 && count <= 128 ? Array.from({ length: count }, (_, index) => String(Number(from) + index)) : [word];
}

function isPlain(name) {
  return CHOICES.includes(name);
}

function counted(word) {
  return /^\d{1,9}$/.test(word) ? Number(word) : word;
}

function quoted(word) {
  return /^[\w=.,:+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
