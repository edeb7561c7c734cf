// A run that breaks a property: what is wrong, its steps, and the way to the page on which it can be stepped through.

import { h } from "../dom.js";
import { counted, propertyNamed } from "./words.js";

/** The address of a script, at what is said to be wrong in it: on Run for algorithms, on Shared memory for programs. */
export function scriptAddress(script, isProgram, about = null) {
  const query = new URLSearchParams({ script });
  if (about !== null && !isProgram) query.set("about", about);
  return `#/${isProgram ? "memory" : "run"}?${query}`;
}

/** A counterexample as an element. */
export function counterexampleView(found, isProgram) {
  const { property, what, steps, loop_start: loopStart, script } = found;
  return h(
    "section",
    { class: "counterexample", data: { counterexample: property } },
    h("h3", {}, `Against “${propertyNamed(property).short}”: ${what}`),
    h("div", { class: "row" }, opener(script, isProgram, what), h("span", { class: "soft" }, extent(steps, loopStart))),
    stepList(steps, loopStart),
  );
}

function opener(script, isProgram, what) {
  if (!script)
    return h(
      "span",
      { class: "soft" },
      "This run was found with the algorithm's promises alone, which do not tell its messages apart: it cannot be opened.",
    );
  const text = isProgram ? "Open in Shared memory" : "Open in Run";
  return h("a", { class: "button primary", href: scriptAddress(script, isProgram, what), data: { open: "" } }, text);
}

function extent(steps, loopStart) {
  if (typeof loopStart !== "number") return counted(steps.length, "step");
  return `${counted(loopStart, "step")}, then ${counted(steps.length - loopStart, "step")} again and again`;
}

function stepList(steps, loopStart) {
  const item = (step, index) =>
    h("li", { value: index + 1, class: typeof loopStart === "number" && index >= loopStart ? "again" : null }, step);
  const items = steps.map(item);
  if (typeof loopStart === "number") items.splice(loopStart, 0, h("li", { class: "turn" }, "from here on again and again:"));
  return h("ol", { class: "steps" }, items);
}
