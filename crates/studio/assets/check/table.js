// The table of algorithms and properties: each row can be checked by itself, or all at once.

import { button, fill, h } from "../dom.js";
import { rowView } from "./row.js";
import { groupsOf, keep, knownOf, ofAll } from "./rows.js";
import { watched } from "./watch.js";
import { PROPERTIES } from "./words.js";

const ABOUT =
  "Every interleaving of a small system is explored, whoever asks when and however messages are delayed. What holds there holds in " +
  "all its runs; what does not is shown by a shortest run.";
const EMPTY =
  "Nothing has been checked yet, so the table is empty. Check a row by its button (most take a second or two), or all of " +
  "them, which keeps the machine busy for about a minute.";
const LEGEND =
  "✓ holds in every run; ✓ if weakly fair: if the scheduler is so fair. ✗ 6 steps: violated, as a run of 6 steps shows; press it to " +
  "see the run. ? a limit was reached first. – does not apply. The last three columns are promises that only some algorithms make. " +
  "Point at a verdict for the system in which it was found, or unfold the name.";

/** Puts the table into an element; `signal` ends what runs when the page is left. */
export function tableView(element, catalog, app, signal) {
  const groups = groupsOf(catalog);
  const views = new Map();
  const bodies = groups.map((group) => groupView(group, views, signal));
  const place = h("div", {});
  const isEmpty = !groups.some((group) => group.rows.some(knownOf));
  const empty = h("p", { class: "note", id: "unchecked", hidden: !isEmpty }, EMPTY);
  element.addEventListener("checked", () => (empty.hidden = true), { signal });
  const all = (event) => checkAll(event.currentTarget, { place, groups, views, signal, app });
  fill(
    element,
    h("p", {}, ABOUT),
    empty,
    h(
      "div",
      { class: "row" },
      button("Check all", all, { class: "primary", id: "check-all" }),
      h("span", { class: "soft" }, "all algorithms and programs, each in the largest systems that are finished soon"),
    ),
    place,
    h(
      "div",
      { class: "wide properties", tabindex: 0, role: "region", "aria-label": "Algorithms and properties" },
      h("table", { class: "full" }, header(), bodies),
    ),
    h("p", { class: "soft small" }, LEGEND),
  );
}

function header() {
  const column = ({ short, says, name }) => h("th", { scope: "col", title: `${name}: ${says}` }, short);
  const check = h("th", { scope: "col" }, h("span", { class: "unseen" }, "Check"));
  return h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Name"), check, PROPERTIES.map(column)));
}

function groupView({ id, title, rows }, views, signal) {
  const each = (event) => checkEach(event.currentTarget, rows, views);
  const control = id === "specimens" ? button("Check all specimens", each, { class: "small", id: "check-specimens" }) : null;
  const words = h("th", { colspan: PROPERTIES.length + 2, scope: "colgroup" }, h("div", { class: "row" }, h("span", {}, title), control));
  for (const row of rows) views.set(row.key, rowView(row, signal));
  const lines = rows.map(({ key }) => [views.get(key).line, views.get(key).more]);
  return h("tbody", { data: { group: id } }, h("tr", { class: "group" }, words), lines);
}

/** Checks some rows one after the other, until one is cancelled. */
async function checkEach(control, rows, views) {
  control.disabled = true;
  for (const { key } of rows) {
    const view = views.get(key);
    const isDone = await view.check();
    if (!isDone) break;
    view.open(false);
  }
  control.disabled = false;
}

async function checkAll(control, { place, groups, views, signal, app }) {
  control.disabled = true;
  const { result, refusal, cancelled } = await watched(place, "checks/all", {}, signal);
  control.disabled = false;
  if (refusal) return app.say(refusal, "error");
  if (cancelled) return app.say("The check of all was cancelled.");
  const found = ofAll(result);
  for (const row of groups.flatMap((group) => group.rows)) {
    if (!found.has(row.key)) continue;
    keep(row, found.get(row.key));
    views.get(row.key).show();
  }
  app.say("All algorithms and programs were checked.");
}
