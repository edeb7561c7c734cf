// The panel above a program that is an exercise: what should hold, what to look for, and whether it has been found.

import { fill, h, panel } from "../dom.js";
import { hintOf, programGoal } from "../check/goals.js";
import { showMe, wrongDetails } from "../check/exercises.js";
import { solvedWords } from "./found.js";

/** The panel; null if there is no such exercise. Its `judge(findings, at)` says whether it is solved. */
export function exercisePanel(name, catalog) {
  const about = catalog.programs.find((program) => program.name === name && program.specimen);
  if (!about) return null;
  const goal = programGoal(about);
  const verdict = h("div", { id: "verdict", "aria-live": "polite" });
  const element = panel(
    null,
    { class: "task", data: { exercise: name } },
    h("p", { class: "small" }, h("a", { href: "#/check?tab=exercises" }, "← all exercises")),
    h("h2", {}, about.title, " ", h("span", { class: "soft small" }, about.specimen.id)),
    h("p", {}, h("span", { class: "strong" }, goal.should), " ", goal.find),
    h("p", {}, h("i", {}, "Hint: "), hintOf(name)),
    wrongDetails(about),
    showMe(about, catalog, true),
    verdict,
  );
  element.judge = (found, at) => {
    const words = solvedWords(found, goal);
    verdict.dataset.solved = String(Boolean(words));
    fill(
      verdict,
      words ? h("p", { class: "note good solved" }, h("span", { class: "strong" }, "There it is: "), `${words}, after ${at} steps.`) : null,
    );
  };
  return element;
}
