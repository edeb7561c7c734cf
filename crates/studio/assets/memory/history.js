// What happened, one column per process, so that one sees who did what between whose steps. What repeats for ever is shaded.

import { button, fill, h } from "../dom.js";
import { chip } from "./listing.js";
import { outcomeOf, signs, violationOf } from "./steps.js";

/** The history: `{element, show(run, steps, at, loopAt)}`; `go(at)` is called with the step that was chosen. */
export function history(go) {
  const element = h("div", { class: "wide history", tabindex: 0, role: "region", "aria-label": "Accesses" });
  return { element, show: (run, steps, at, loopAt) => draw(element, run, steps, at, loopAt, go) };
}

function draw(element, run, steps, at, loopAt, go) {
  if (steps.length === 0) return fill(element, h("p", { class: "soft" }, "Nothing has happened yet. Let a process make a step."));
  const nodes = Array.from({ length: run.nodes }, (_, index) => index + 1);
  const rows = steps.map((step, index) => rowView(step, index + 1, nodes, at, loopAt, go));
  if (loopAt !== null)
    rows.splice(loopAt, 0, h("tr", { class: "turn" }, h("td", { colspan: nodes.length + 1 }, "from here on again and again:")));
  const table = h(
    "table",
    { class: "full" },
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        h("th", { scope: "col" }, "step"),
        nodes.map((node) => h("th", { scope: "col" }, chip(node))),
      ),
    ),
    h("tbody", {}, rows),
  );
  element.classList.toggle("many", run.nodes > 2);
  fill(element, table);
  reveal(element);
}

/** Scrolls to the step that is shown, within the box. */
function reveal(element) {
  const here = element.querySelector("tr[aria-current]");
  element.scrollTop = here ? here.offsetTop - element.clientHeight / 2 : 0;
  const cell = [...(here?.cells ?? [])].find((each) => each.tagName === "TD" && each.hasChildNodes());
  if (!cell) return;
  const [left, right] = [cell.offsetLeft, cell.offsetLeft + cell.offsetWidth];
  if (left < element.scrollLeft || right > element.scrollLeft + element.clientWidth) element.scrollLeft = right - element.clientWidth;
}

function rowView(step, number, nodes, at, loopAt, go) {
  const isLooped = loopAt !== null && number > loopAt;
  const classes = [number > at ? "later" : "", number === at ? "here" : "", isLooped ? "again" : ""].join(" ");
  const cells = nodes.map((node) => h("td", {}, node === step.node ? did(step) : null));
  return h(
    "tr",
    { class: classes, "aria-current": number === at ? "step" : null, data: { step: number, event: step.events[0]?.id } },
    h(
      "th",
      { scope: "row" },
      button(number, () => go(number), { class: "link", "aria-label": `To step ${number}` }),
    ),
    cells,
  );
}

function did(step) {
  const wrong = violationOf(step);
  const access = step.events.find(({ event }) => event === "access");
  return [
    h("span", { class: "mono", title: step.events.map(({ says }) => says.replace(/^node/, "process")).join("; ") }, signs(step)),
    access?.line ? h("span", { class: "soft small" }, ` line ${access.line}`) : null,
    outcomeOf(step)
      .filter((word) => word !== "asks")
      .map((word) => h("b", {}, ` ${word}`)),
    wrong ? h("span", { class: "alarm strong" }, ` ✗ ${wrong}`) : null,
  ];
}
