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

/** The listing: `{element, show(run, count, moved)}`. */
export function listing() {
  const element = h("ol", { class: "listing", "aria-label": "The program" });
  return { element, show: (run, count, moved) => draw(element, run, count, moved) };
}

function draw(element, run, count, moved) {
  const at = new Map();
  for (let node = 1; node <= run.nodes; node += 1) {
    const { line, place } = processAt(run, node, count);
    if (!at.has(line)) at.set(line, []);
    at.get(line).push({ node, place });
  }
  fill(
    element,
    run.lines.map((text, index) => lineView(index + 1, text, at.get(index + 1) ?? [], moved)),
  );
}

function lineView(number, text, processes, moved) {
  const told = processes.map(({ node, place }) => `process ${node} (${place})`).join(", ");
  const marks = processes.map(({ node, place }) =>
    chip(node, { class: place === "remainder" ? "resting" : "", title: `process ${node}, ${place}, carries this out next` }),
  );
  const isHere = processes.some(({ node, place }) => place !== "remainder");
  return h(
    "li",
    { class: `${isHere ? "here" : ""} ${processes.some(({ node }) => node === moved) ? "moved" : ""}`, data: { line: number } },
    h("span", { class: "line-number", "aria-hidden": "true" }, number),
    h("code", {}, text),
    h("span", { class: "marks" }, marks, told ? h("span", { class: "unseen" }, ` next: ${told}`) : null),
  );
}
