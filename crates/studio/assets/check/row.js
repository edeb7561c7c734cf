// One row of the table: its verdicts, and below them, unfolded, what was explored and the runs against what is violated.

import { button, fill, h } from "../dom.js";
import { counterexampleView } from "./counterexample.js";
import { counterexamplesOf, keep, knownOf, ofCheck } from "./rows.js";
import { watched } from "./watch.js";
import { PROPERTIES, atLength, chipClass, counted, isOfALock, kindOf, propertiesOf, shortly } from "./words.js";

/** The view of a row: `{line, more, open(isOpen), show(), check()}`; `check` promises whether it came to its end. */
export function rowView(row, signal) {
  const line = h("tr", { data: { algorithm: row.name, row: row.key } });
  const inner = h("div", { class: "details" });
  const more = h("tr", { class: "more", hidden: true }, h("td", { colspan: PROPERTIES.length + 2 }, inner));
  const view = { row, line, more, inner, signal };
  view.open = (isOpen) => {
    more.hidden = !isOpen;
    line.querySelector("[aria-expanded]")?.setAttribute("aria-expanded", String(isOpen));
  };
  view.show = () => show(view);
  view.check = () => check(view);
  show(view);
  return view;
}

function show(view) {
  const { row, line, more, inner } = view;
  const known = knownOf(row);
  const name = row.name.split("/").flatMap((part, index) => (index > 0 ? ["/", h("wbr"), part] : [part]));
  const toggle = button(name, () => view.open(more.hidden), { class: "link", "aria-expanded": String(!more.hidden), title: row.title });
  const text = known ? "again" : "check";
  const again = button(text, view.check, { class: "small", data: { check: row.key }, "aria-label": `${text} ${row.key}` });
  fill(
    line,
    h("th", { scope: "row" }, toggle, row.note ? h("span", { class: "soft small" }, ` ${row.note}`) : null),
    h("td", {}, again),
    PROPERTIES.map((property) => cell(view, property, known)),
  );
  fill(inner, known ? details(view, known) : h("p", { class: "soft" }, `${row.title}. Not checked yet.`));
  if (known) line.dispatchEvent(new Event("checked", { bubbles: true }));
}

function cell(view, property, known) {
  const data = { property: property.name };
  if (!propertiesOf(view.row.isProgram).includes(property)) return h("td", { data, class: "soft", title: "does not apply" }, "–");
  const verdict = known?.verdicts[property.name];
  if (!verdict) return h("td", { data, class: "soft" }, known ? "–" : "");
  const title = `${atLength(verdict)} ${verdict.where}`;
  return h("td", { data: { ...data, verdict: kindOf(verdict) } }, chip(view, verdict, title));
}

/** A verdict; what is violated can be pressed to see the run. */
function chip(view, verdict, title) {
  if (kindOf(verdict) !== "violated") return h("span", { class: chipClass(verdict), title }, shortly(verdict));
  return button(shortly(verdict), () => reveal(view, verdict), { class: chipClass(verdict), title });
}

/** Shows the run against a property; if it is not there yet, a check finds it first. */
async function reveal(view, verdict) {
  const { name, body } = verdict;
  const isThere = () => knownOf(view.row).counterexamples.some((found) => found.property === name);
  view.open(true);
  if (body && (body.memory || body.registers || !isThere())) await search(view, { ...body, properties: [name] });
  const found = view.inner.querySelector(`[data-counterexample="${CSS.escape(name)}"]`) ?? view.inner;
  found.scrollIntoView({ block: "nearest" });
  found.querySelector("a")?.focus({ preventScroll: true });
}

async function search(view, body) {
  const known = knownOf(view.row);
  const { result, refusal } = await busy(view, body);
  const more = result ? counterexamplesOf(result) : [];
  const others = known.counterexamples.filter((found) => !more.some(({ property }) => property === found.property));
  keep(view.row, { ...known, counterexamples: [...more, ...others], note: refusal });
  show(view);
}

function details(view, known) {
  if (known.refusal) return h("p", { class: "note error" }, known.refusal);
  const { row } = view;
  const system = ({ words, states, complete, verdict }) => {
    const extent = `${words}: ${counted(states, "state")}${complete ? "" : ", not all"}`;
    return h("li", {}, extent, verdict ? ["; exclusion ", chip(view, verdict, atLength(verdict))] : null);
  };
  const decided = (verdict) => h("li", {}, atLength(verdict), h("span", { class: "soft" }, ` (${verdict.where})`));
  return [
    h("p", {}, h("span", { class: "strong" }, row.title), ". Explored:"),
    h("ul", {}, known.systems.map(system)),
    h("details", {}, h("summary", {}, "What was decided, in words"), h("ul", {}, Object.values(known.verdicts).map(decided))),
    known.note ? h("p", { class: "note error" }, known.note) : null,
    known.counterexamples.map((found) => counterexampleView(found, row.isProgram)),
  ];
}

/** Checks the row's own small system. */
async function check(view) {
  const { row, more } = view;
  const wasOpen = !more.hidden;
  view.open(true);
  const { result, refusal, cancelled } = await busy(view, row.body);
  if (result) keep(row, ofCheck(result, row));
  if (refusal) keep(row, { verdicts: {}, systems: [], counterexamples: [], refusal });
  show(view);
  const isBroken = (verdict) => isOfALock(verdict.name) && kindOf(verdict) === "violated";
  view.open(Boolean(refusal) || wasOpen || Object.values(knownOf(row)?.verdicts ?? {}).some(isBroken));
  return !cancelled;
}

async function busy({ line, inner, signal }, body) {
  line.setAttribute("aria-busy", "true");
  const outcome = await watched(inner, "checks", body, signal);
  line.removeAttribute("aria-busy");
  return outcome;
}
