// The rows of the table: algorithms, programs and specimens of the catalog, and what has been decided about each so far.
//
// Results are kept as long as the studio is open, so that one can go to a counterexample and come back.

import { instanceOf, systemWords } from "./instances.js";
import { asked } from "./words.js";

const kept = new Map();

/** All rows in groups: `[{title, rows: [{key, name, title, isProgram, body, …}]}]`. */
export function groupsOf(catalog) {
  const right = (some) => some.filter(({ specimen }) => !specimen);
  const wrong = [...catalog.algorithms, ...catalog.programs].filter(({ specimen }) => specimen);
  const programs = right(catalog.programs).flatMap((program) =>
    [null, ...(program.variants ?? [])].map((variant) => programRow(program, variant)),
  );
  return [
    { id: "algorithms", title: "Algorithms over messages", rows: right(catalog.algorithms).map(algorithmRow) },
    { id: "programs", title: "Programs over shared memory", rows: programs },
    { id: "specimens", title: "Specimens, wrong on purpose", rows: wrong.map((about) => specimenRow(about, catalog)) },
  ];
}

function algorithmRow(about) {
  const body = { algorithm: about.name, nodes: 3, requests: [1, 1, 1], channels: about.needs, properties: ["all"] };
  return { key: about.name, name: about.name, title: about.title, isProgram: false, body };
}

function programRow(about, variant) {
  const [name, value] = variantPair(variant);
  const options = name ? { [name]: value } : {};
  const key = name ? `${about.name} ${name}=${value}` : about.name;
  const body = { algorithm: about.name, nodes: 2, options, properties: ["all"] };
  return { key, name: about.name, title: about.title, note: name ? `${name} ${value}` : null, isProgram: true, body };
}

function variantPair(variant) {
  if (!variant) return [null, null];
  return Array.isArray(variant) ? variant : [variant.name, variant.value];
}

function specimenRow(about, catalog) {
  const isProgram = catalog.programs.includes(about);
  const body = { ...instanceOf(about, catalog), properties: ["all"] };
  return { key: about.name, name: about.name, title: about.title, isProgram, body, isSpecimen: true };
}

/** What is known of a row: `{verdicts: {property: verdict}, systems: [words], counterexamples: […], refusal}`, or nothing yet. */
export function knownOf(row) {
  return kept.get(row.key) ?? null;
}

export function keep(row, known) {
  kept.set(row.key, known);
}

/** What one check says about its row. */
export function ofCheck(result, row) {
  const system = { ...systemOf(result, row), states: result.states, complete: result.complete };
  const verdicts = {};
  for (const verdict of result.properties) verdicts[verdict.name] = { ...verdict, where: system.words };
  return { verdicts, systems: [system], counterexamples: counterexamplesOf(result) };
}

export function counterexamplesOf(result) {
  return result.counterexamples ?? (result.counterexample ? [result.counterexample] : []);
}

function systemOf(result, row) {
  const memory = result.memory ?? {};
  const words = systemWords({ ...row.body, ...memory, isProgram: row.isProgram });
  return { words: row.isProgram ? `${words}, again and again` : words };
}

/** What the table of all says, by the keys of its rows. */
export function ofAll(result) {
  const found = new Map();
  for (const row of result.algorithms) found.set(row.algorithm, algorithmKnown(row));
  for (const row of result.programs) {
    const key = row.variant ? `${row.program} ${row.variant.name}=${row.variant.value}` : row.program;
    found.set(key, programKnown(row));
  }
  return found;
}

/** Each verdict keeps the body of the check that shows its run. */
function algorithmKnown(row) {
  const channels = row.channels === "any" ? "channels of any order" : `${row.channels} channels`;
  const known = nothing();
  for (const part of [row.lock, row.order, row.waiting]) {
    const { requests } = part;
    const times = requests.map((one) => one ?? "unbounded");
    const body = { algorithm: row.algorithm, nodes: requests.length, requests: times, channels: row.channels };
    add(known, part, `${requests.length} nodes that ask ${asked(requests)} times, ${channels}`, body);
  }
  return known;
}

const OTHER_MEMORY = [
  ["safe_registers", "with safe registers (of overlapping writes the last wins)", { registers: "safe" }],
  ["safe_any_registers", "with safe registers (overlapping writes leave any value)", { registers: "safe-any" }],
  ["tso", "under total store order", { memory: "tso" }],
  ["without_barriers", "under total store order without barriers", { memory: "tso", barrier: "off" }],
];

function programKnown(row) {
  const known = nothing();
  const options = row.variant ? { [row.variant.name]: row.variant.value } : {};
  const { nodes, tickets } = row.checked;
  const words = `${nodes} processes, again and again${tickets ? `, tickets up to ${tickets}` : ""}`;
  add(known, row.checked, words, { algorithm: row.program, nodes, options });
  for (const [name, memory, choices] of OTHER_MEMORY) {
    const part = row[name];
    if (!part) continue;
    const body = { algorithm: row.program, nodes: part.nodes, options, ...choices };
    const verdict = { ...part.properties[0], body };
    known.systems.push({ words: `${part.nodes} processes ${memory}`, states: part.states, complete: part.complete, verdict });
  }
  return known;
}

function nothing() {
  return { verdicts: {}, systems: [], counterexamples: [] };
}

function add(known, part, words, body) {
  known.systems.push({ words, states: part.states, complete: part.complete });
  for (const verdict of part.properties) known.verdicts[verdict.name] = { ...verdict, where: words, body };
}
