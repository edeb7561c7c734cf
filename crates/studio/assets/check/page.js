// The page *Check*: the table of algorithms and properties, one check by hand, and the specimens as exercises.

import { button, fill, h, panel } from "../dom.js";
import { exercisesView } from "./exercises.js";
import { exerciseView } from "./exercise.js";
import { formView } from "./form.js";
import { tableView } from "./table.js";

export const styles = ["run/page.css", "check/page.css"];

const TABS = [
  ["table", "Table of properties"],
  ["one", "One check"],
  ["exercises", "Exercises"],
];

/** Opens the page. */
export function open(page, query, app) {
  let leaving = new AbortController();
  const show = async (asked) => {
    leaving.abort();
    leaving = new AbortController();
    const { signal } = leaving;
    try {
      const catalog = await app.catalog();
      if (!signal.aborted) drawn(page, asked, catalog, app, signal);
    } catch (error) {
      if (error.name !== "AbortError") fill(page, h("p", { class: "note error" }, error.message));
    }
  };
  fill(page, h("p", { class: "soft" }, "Asking for the catalog …"));
  show(query);
  return { update: show, close: () => leaving.abort() };
}

function drawn(page, query, catalog, app, signal) {
  window.scrollTo(0, 0);
  const exercise = query.get("exercise");
  if (exercise !== null) return exerciseView(page, exercise, query, catalog, app, signal);
  const wanted = TABS.some(([name]) => name === query.get("tab")) ? query.get("tab") : "table";
  const inner = h("div", { class: "stack", role: "tabpanel", id: "check-tab" });
  fill(page, panel(null, { data: { tab: wanted } }, h("h1", {}, "Check"), tabs(wanted, app), inner));
  if (wanted === "one") formView(inner, query, catalog, app, signal);
  else if (wanted === "exercises") exercisesView(inner, catalog);
  else tableView(inner, catalog, app, signal);
}

function tabs(wanted, app) {
  const tab = ([name, text]) =>
    button(text, () => app.go(name === "table" ? "#/check" : `#/check?tab=${name}`), {
      role: "tab",
      "aria-selected": String(name === wanted),
      "aria-controls": "check-tab",
      data: { tab: name },
    });
  return h("div", { class: "tabs", role: "tablist" }, TABS.map(tab));
}
