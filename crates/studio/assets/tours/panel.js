// The guide of a tour, above whatever page a step is on: its sentences, what to look at, back and next.

import { button, fill, h } from "../dom.js";
import { stepAddress, TOURS } from "./list.js";

const element = document.getElementById("tour");
let shown = null;

/** Shows a step of a tour, counted from 1; hides the guide if there is no such tour. */
export function show(name, number, app) {
  const tour = TOURS.find((each) => each.name === name);
  const step = tour?.steps[number - 1];
  shown = step ? { name, number } : null;
  element.hidden = !step;
  if (!step) return fill(element);
  const go = (to) => () => app.go(stepAddress(tour, to));
  const close = () => {
    hide();
    app.go(step.to);
  };
  const isLast = number === tour.steps.length;
  const next = isLast
    ? h("a", { class: "button", href: "#/tours", id: "tour-next" }, "All tours")
    : button("Next", go(number + 1), { class: "primary", id: "tour-next" });
  fill(
    element,
    h(
      "div",
      { class: "tour-head" },
      h("h2", {}, tour.title),
      h("span", { class: "soft small" }, `step ${number} of ${tour.steps.length}`),
      button("×", close, { class: "quiet", "aria-label": "Leave the tour", id: "tour-close" }),
    ),
    h(
      "div",
      { class: "tour-text", data: { step: number } },
      step.says.map((text) => h("p", {}, text)),
      h("p", { class: "tour-look" }, h("b", {}, "Look at: "), step.look),
    ),
    h("div", { class: "buttons" }, button("Back", go(number - 1), { id: "tour-back", disabled: number === 1 }), next),
  );
  return undefined;
}

/** Hides the guide. */
export function hide() {
  shown = null;
  element.hidden = true;
  fill(element);
}

/** The page that the guide is about. */
export function pageOf() {
  return shown && TOURS.find((each) => each.name === shown.name).steps[shown.number - 1].to.slice(2).split("?")[0];
}
