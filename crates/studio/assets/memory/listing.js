// The numbered listing of a program, with a mark for each process at the line that it carries out next.

import { fill, h } from "../dom.js";
import { processAt } from "./steps.js";

/** A process's number in its colour. */
export function chip(node, properties = {}) {
  return h(
    "span",
    { ...properties, class: `process hue${(node - 1) % 8}-text ${properties.class ?? ""}`, data: { process: node, ...properties.data } },
    node,
  );
}

/** The listing: `{element, show(run, count, moved, barrier)}`; `barrier` says which barriers there are. */
export function listing() {
  const element = h("ol", { class: "listing", "aria-label": "The program" });
  return { element, show: (run, count, moved, barrier) => draw(element, run, count, moved, barrier) };
}

function draw(element, run, count, moved, barrier) {
  const at = new Map();
  for (let node = 1; node <= run.nodes; node += 1) {
    const { line, place } = processAt(run, node, count);
    if (!at.has(line)) at.set(line, []);
    at.get(line).push({ node, place });
  }
  const missing = missingBarriers(run.lines, barrier);
  fill(
    element,
    run.lines.map((text, index) => lineView(index + 1, text, at.get(index + 1) ?? [], moved, missing.has(index))),
  );
}

/** The places of the barriers that are left out: all with `off`, those that are not named with `1,3`. */
function missingBarriers(lines, barrier = "on") {
  if (barrier === "on") return new Set();
  const kept = barrier === "off" ? [] : barrier.split(",").map(Number);
  const places = lines.flatMap((text, index) => (text.trim() === "barrier" ? [index] : []));
  return new Set(places.filter((_, index) => !kept.includes(index + 1)));
}

function lineView(number, text, processes, moved, isMissing) {
  const told = processes.map(({ node, place }) => `process ${node} (${place})`).join(", ");
  const marks = processes.map(({ node, place }) =>
    chip(node, { class: place === "remainder" ? "resting" : "", title: `process ${node}, ${place}, carries this out next` }),
  );
  const isHere = processes.some(({ node, place }) => place !== "remainder");
  return h(
    "li",
    { class: `${isHere ? "here" : ""} ${processes.some(({ node }) => node === moved) ? "moved" : ""}`, data: { line: number } },
    h("span", { class: "line-number", "aria-hidden": "true" }, number),
    isMissing ? h("code", { class: "soft" }, h("s", {}, text), " (left out)") : h("code", {}, text),
    h("span", { class: "marks" }, marks, told ? h("span", { class: "unseen" }, ` next: ${told}`) : null),
  );
}
