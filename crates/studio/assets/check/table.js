// The table of algorithms and properties: each row can be checked by itself, or all at once.

import { button, fill, h } from "../dom.js";
import { counterexampleView } from "./counterexample.js";
import { groupsOf, keep, knownOf, ofAll, ofCheck } from "./rows.js";
import { watched } from "./watch.js";
import { PROPERTIES, atLength, counted, kindOf, propertiesOf, shortly } from "./words.js";

/** Puts the table into an element; `signal` ends what runs when the page is left. */
export function tableView(element, catalog, app, signal) {
  const groups = groupsOf(catalog);
  const views = new Map();
  const bodies = groups.map((group) => groupView(group, views, app, signal));
  const place = h("div", {});
  fill(
    element,
    h(
      "p",
      {},
      "Every interleaving of a small system is explored, whoever asks when and however messages are delayed. What holds there holds in all its runs; what does not is shown by a shortest run.",
    ),
    h(
      "div",
      { class: "row" },
      button("Check all", (event) => checkAll(event.currentTarget, place, groups, views, signal, app), {
        class: "primary",
        id: "check-all",
      }),
      h("span", { class: "soft" }, "algorithms and programs in the largest systems that are finished soon: about a minute"),
    ),
    place,
    h(
      "div",
      { class: "wide properties", tabindex: 0, role: "region", "aria-label": "Algorithms and properties" },
      h("table", { class: "full" }, header(), bodies),
    ),
  );
}

function header() {
  const column = ({ short, says, name }) => h("th", { scope: "col", title: `${name}: ${says}` }, short);
  return h(
    "thead",
    {},
    h(
      "tr",
      {},
      h("th", { scope: "col" }, "Name"),
      h("th", { scope: "col" }, h("span", { class: "unseen" }, "Check")),
      PROPERTIES.map(column),
    ),
  );
}

function groupView({ id, title, rows }, views, app, signal) {
  const head = h(
    "tr",
    { class: "group" },
    h(
      "th",
      { colspan: PROPERTIES.length + 2, scope: "colgroup" },
      h(
        "div",
        { class: "row" },
        h("span", {}, title),
        id === "specimens"
          ? button("Check all specimens", (event) => checkEach(event.currentTarget, rows, views), { class: "small", id: "check-specimens" })
          : null,
      ),
    ),
  );
  const lines = rows.map((row) => {
    const view = rowView(row, app, signal);
    views.set(row.key, view);
    return [view.line, view.more];
  });
  return h("tbody", { data: { group: id } }, head, lines);
}

/** One row with the line of details below it. */
function rowView(row, app, signal) {
  const line = h("tr", { data: { algorithm: row.name, row: row.key } });
  const inner = h("div", { class: "details" });
  const more = h("tr", { class: "more", hidden: true }, h("td", { colspan: PROPERTIES.length + 2 }, inner));
  const view = { row, line, more, inner };
  view.open = (isOpen) => {
    more.hidden = !isOpen;
    line.querySelector("[aria-expanded]")?.setAttribute("aria-expanded", String(isOpen));
  };
  view.check = () => checkRow(view, app, signal);
  show(view);
  return view;
}

function show(view) {
  const { row, line, more, inner } = view;
  const known = knownOf(row);
  const toggle = button(row.name, () => view.open(more.hidden), { class: "link", "aria-expanded": String(!more.hidden), title: row.title });
  const check = button(known ? "again" : "check", view.check, {
    class: "small",
    data: { check: row.key },
    "aria-label": `Check ${row.key}`,
  });
  fill(
    line,
    h("th", { scope: "row" }, toggle, row.note ? h("span", { class: "soft small" }, ` ${row.note}`) : null),
    h("td", {}, check),
    PROPERTIES.map((property) => cell(view, property, known)),
  );
  fill(inner, known ? details(row, known) : h("p", { class: "soft" }, `${row.title}. Not checked yet.`));
}

function cell(view, property, known) {
  const data = { property: property.name };
  if (!propertiesOf(view.row.isProgram).includes(property)) return h("td", { data, class: "soft", title: "does not apply" }, "–");
  const verdict = known?.verdicts[property.name];
  if (!verdict) return h("td", { data, class: "soft" }, known ? "–" : "");
  const kind = kindOf(verdict);
  const title = `${atLength(verdict)} ${verdict.where}`;
  const chip =
    kind === "violated" && known.counterexamples.length > 0
      ? button(shortly(verdict), () => reveal(view, property.name), { class: `chip ${kind}`, title })
      : h("span", { class: `chip ${kind}`, title }, shortly(verdict));
  return h("td", { data: { ...data, verdict: kind } }, chip);
}

function reveal(view, property) {
  view.open(true);
  const found = view.inner.querySelector(`[data-counterexample="${CSS.escape(property)}"]`) ?? view.inner;
  found.scrollIntoView({ block: "nearest" });
  found.querySelector("a")?.focus({ preventScroll: true });
}

function details(row, known) {
  if (known.refusal) return h("p", { class: "note error" }, known.refusal);
  const system = ({ words, states, complete, verdict }) =>
    h("li", {}, `${words}: ${counted(states, "state")}${complete ? "" : ", not all"}`, verdict ? `; exclusion ${shortly(verdict)}` : null);
  return [
    h("p", {}, h("span", { class: "strong" }, row.title), ". Explored:"),
    h("ul", {}, known.systems.map(system)),
    h(
      "details",
      {},
      h("summary", {}, "What was decided, in words"),
      h(
        "ul",
        {},
        Object.values(known.verdicts).map((verdict) => h("li", {}, atLength(verdict), h("span", { class: "soft" }, ` (${verdict.where})`))),
      ),
    ),
    known.counterexamples.map((found) => counterexampleView(found, row.isProgram)),
    known.counterexamples.length === 0 && Object.values(known.verdicts).some((verdict) => kindOf(verdict) === "violated")
      ? h("p", { class: "soft" }, "Check this row by itself to see the runs against it.")
      : null,
  ];
}

/** Checks one row; true if it came to its end. */
async function checkRow(view, app, signal) {
  const { row, line, inner } = view;
  const before = view.more.hidden;
  view.open(true);
  line.setAttribute("aria-busy", "true");
  const { result, refusal, cancelled } = await watched(inner, "checks", row.body, signal);
  line.removeAttribute("aria-busy");
  if (result) keep(row, ofCheck(result, row));
  if (refusal) keep(row, { verdicts: {}, systems: [], counterexamples: [], refusal });
  show(view);
  const found = result && knownOf(row).counterexamples.length > 0;
  view.open(Boolean(refusal) || found || !before);
  if (!cancelled && result) app.say(`${row.name} was checked: ${counted(result.states, "state")}.`);
  return !cancelled;
}

async function checkEach(control, rows, views) {
  control.disabled = true;
  for (const row of rows) {
    const view = views.get(row.key);
    const isDone = await view.check();
    if (!isDone) break;
    view.open(false);
  }
  control.disabled = false;
}

async function checkAll(control, place, groups, views, signal, app) {
  control.disabled = true;
  const { result, refusal, cancelled } = await watched(place, "checks/all", {}, signal);
  control.disabled = false;
  if (refusal) return app.say(refusal, "error");
  if (cancelled) return app.say("The check of all was cancelled.");
  const found = ofAll(result);
  for (const row of groups.flatMap((group) => group.rows)) {
    if (!found.has(row.key)) continue;
    keep(row, found.get(row.key));
    show(views.get(row.key));
  }
  app.say("All algorithms and programs were checked.");
}
