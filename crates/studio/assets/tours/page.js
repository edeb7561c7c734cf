// The page Tours: what can be visited, with a guide.

import { h } from "../dom.js";
import { stepAddress, TOURS } from "./list.js";

export const styles = ["tours/tours.css"];

/** Opens the page. */
export function open(page) {
  const card = (tour) =>
    h(
      "article",
      { class: "panel tour-card", data: { tour: tour.name } },
      h("h2", {}, tour.title),
      h("p", {}, tour.about),
      h(
        "p",
        { class: "row spread" },
        h("a", { class: "button", href: stepAddress(tour, 1), "aria-label": `Start: ${tour.title}` }, "Start"),
        h("span", { class: "soft small" }, `${tour.steps.length} steps`),
      ),
    );
  page.append(
    h("h1", {}, "Tours"),
    h(
      "p",
      { class: "soft" },
      "Runs that teach something, step by step. At every step you can look around, move the cut and change what happens; “Next” brings you back.",
    ),
    h("div", { class: "columns" }, TOURS.map(card)),
  );
}
