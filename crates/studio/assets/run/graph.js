// Which node waits for which at the cut, as a graph that the server lays out, with its cycles marked in red and in words.
//
// A node that waits for a vote really waits for the node that has it: the arrow goes to that node and names the arbiter.
//
// While a message between the two nodes is in flight, its arrival may end the wait: the request may not have arrived yet, or the
// answer may be on its way. Such an edge is open. It is dotted, and no cycle goes through it.

import { layouts } from "../api.js";
import { fill, h, svg } from "../dom.js";
import { paint } from "../paint.js";
import { latest } from "./state.js";
import { underWay } from "./story.js";

/** Which node waits for which after this many events: `{waiting, edges: [{from, to, at, isOpen}], cycle: [nodes]}`. */
export function waitsAt(run, story, cut) {
  const states = run.states.map((changes) => latest(changes, cut));
  const talk = talkAt(story, cut);
  const edges = [];
  const waiting = [];
  states.forEach((state, index) => {
    if (state?.phase !== "waiting") return;
    waiting.push(index + 1);
    for (const other of state.waits) edges.push(...edgesTo(states, talk, index + 1, other));
  });
  return { waiting, edges, cycle: needsAll(run) ? cycleOf(edges) : [] };
}

function edgesTo(states, talk, from, other) {
  const vote = states[other - 1]?.permission?.vote;
  if (typeof vote === "number" && vote !== from) {
    const isOpen = talk(from, other) || talk(other, vote) || talk(from, vote);
    return [{ from, to: vote, at: other, isOpen }];
  }
  if (other === from) return [];
  const isFree = vote !== undefined && vote !== null;
  return [{ from, to: other, at: null, isOpen: isFree || talk(from, other) }];
}

/** Tells of two nodes whether a message between them is under way. */
function talkAt(story, cut) {
  const key = (one, other) => Math.min(one, other) * (story.nodes + 1) + Math.max(one, other);
  const pairs = new Set(underWay(story, cut).map(({ from, to }) => key(from, to)));
  return (one, other) => pairs.has(key(one, other));
}

/** Whether a ring of waiting nodes means anything: with a token that is somewhere, any of those one waits for will do. */
function needsAll(run) {
  return run.waits_for_all ?? !run.states.some((changes) => changes.some(([, state]) => state.permission?.token));
}

/** Some cycle among the edges, from its smallest node; open edges do not count. */
function cycleOf(edges) {
  const next = new Map();
  for (const { from, to, isOpen } of edges) if (!isOpen) next.set(from, [...(next.get(from) ?? []), to]);
  const done = new Set();
  const path = [];
  const visit = (node) => {
    if (path.includes(node)) return path.slice(path.indexOf(node));
    if (done.has(node)) return null;
    done.add(node);
    path.push(node);
    for (const other of next.get(node) ?? []) {
      const found = visit(other);
      if (found) return found;
    }
    path.pop();
    return null;
  };
  const starts = [...next.keys()].sort((one, other) => one - other);
  for (const start of starts) {
    const found = visit(start);
    if (found) return turned(found);
  }
  return [];
}

function turned(cycle) {
  const first = cycle.indexOf(Math.min(...cycle));
  return [...cycle.slice(first), ...cycle.slice(0, first)];
}

/** A cycle in words: `cycle 7 → 8 → 11 → 7`. */
export function cycleText(cycle) {
  return `cycle ${[...cycle, cycle[0]].join(" → ")}`;
}

/** The graph: `{element, show(run, story, cut)}`. */
export function waitGraph() {
  const picture = h("div", { class: "graph" });
  const words = h("p", { class: "graph-words", data: { cycle: "" } });
  const refuse = (error) => fill(picture, h("p", { class: "note error" }, error.message));
  const ask = layouts("waits", ({ layout }, { cycle }) => drawPicture(picture, layout, cycle), refuse);
  return { element: h("div", {}, picture, words), show: (...at) => draw(picture, words, ask, ...at) };
}

function draw(picture, words, ask, run, story, cut) {
  if (cut > run.known) {
    ask(asked(run, cut, { waiting: [], edges: [], cycle: [] }));
    fill(words, "Not known here.");
    return;
  }
  const waits = waitsAt(run, story, cut);
  const { waiting, edges, cycle } = waits;
  words.dataset.cycle = cycle.join(" ");
  ask(asked(run, cut, waits));
  fill(
    words,
    cycle.length > 0 ? h("span", { class: "alarm strong" }, `⚠ ${cycleText(cycle)}`) : null,
    cycle.length > 0
      ? `: each waits for the next one. ${outlook(run, story, cut)}`
      : waiting.length > 0
      ? h("span", { class: "soft" }, inWords(edges, waiting, needsAll(run)))
      : h("span", { class: "soft" }, "No node waits."),
  );
}

/** The graph as the server takes it. */
function asked(run, cut, { waiting, edges, cycle }) {
  const nodes = [...new Set([...waiting, ...edges.map((edge) => edge.to)])];
  const phaseOf = (node) => latest(run.states[node - 1] ?? [], cut)?.phase ?? "outside";
  return {
    nodes: nodes.map((node) => ({ node, phase: phaseOf(node) })),
    edges: edges.map(({ from, to, at, isOpen }) => ({ from, to, at, open: isOpen })),
    cycle,
  };
}

function drawPicture(picture, { width, height, arrows, complete, elements }, cycle) {
  const isOpen = elements.some((element) => element.class.split(" ").includes("open"));
  const drawn = cycle.length > 0 ? "the cycle" : "the nodes";
  fill(
    picture,
    complete ? null : h("p", { class: "soft small" }, `${arrows} arrows are too many to draw; what is drawn is ${drawn}.`),
    elements.length > 0
      ? svg(
        "svg",
        {
          viewBox: `0 0 ${width} ${height}`,
          role: "img",
          "aria-label": cycle.length > 0 ? cycleText(cycle) : "wait-for graph without a cycle",
        },
        elements.map((element) => paint(element)),
      )
      : null,
    complete && isOpen ? legend() : null,
  );
}

function legend() {
  const sample = svg(
    "svg",
    { class: "sample edge open", width: 32, height: 8, viewBox: "0 0 32 8", "aria-hidden": "true" },
    svg("path", { d: "M1 4H31" }),
  );
  return h("p", { class: "soft small", data: { legend: "open" } }, sample, " a message is under way that may end the wait");
}

/** Whether a cycle can still be resolved. */
function outlook(run, story, cut) {
  const { length: count } = underWay(story, cut);
  if (count > 0) return `${count === 1 ? "A message is" : `${count} messages are`} under way that may resolve it.`;
  const isEmpty = run.states.every((changes) => latest(changes, cut)?.phase !== "inside");
  return isEmpty ? "Nothing is under way: this is a deadlock." : "A node is inside and may resolve it by leaving.";
}

function inWords(edges, waiting, isAll) {
  const others = (node) => [...new Set(edges.filter((edge) => edge.from === node).map((edge) => edge.to))];
  const shown = waiting.slice(0, 6).map((node) => {
    const all = others(node);
    return `${node} waits for ${all.slice(0, 8).join(", ") || "its turn"}${all.length > 8 ? ", …" : ""}`;
  });
  const hasChoice = waiting.some((node) => others(node).length > 1);
  return `${shown.join("; ")}${waiting.length > 6 ? "; …" : ""}. ${verdict(edges, isAll, hasChoice)}`;
}

function verdict(edges, isAll, hasChoice) {
  if (!isAll) return hasChoice ? "The one of them that has the token will do." : "";
  const isRound = cycleOf(edges.map((edge) => ({ ...edge, isOpen: false }))).length > 0;
  return isRound ? "No cycle, apart from waits that may be over soon." : "No cycle.";
}
