// The settings of runs, checks and comparisons, as the server defines them, and a control for each. Nothing about a single setting is
// written down here: a setting that the server adds is found in the form, in the address and in what the server is asked.

import { get } from "./api.js";
import { field, h, select } from "./dom.js";

const SCHEMA = await get("schema");

/** The settings of a run and of a check, in the order of the command line: `{name, caption, kind, value, usual, offers, help, …}`. */
export const RUN = SCHEMA.run;
export const CHECK = SCHEMA.check;

/** The settings that all runs of a comparison share. */
export const COMPARED = RUN.filter(({ name }) => SCHEMA.compare.includes(name));

/** Parameters of algorithms that have a flag of their own; the others are `set.NAME` in an address. */
export const CHOICES = SCHEMA.choices.map(({ name }) => name);

/** Does a setting take a list of values? */
export function isList({ kind }) {
  return kind === "repeated" || kind === "commas";
}

/** What a control or an address says for a setting, as the server takes it. Words that are no numbers stay words: the server says what is wrong. */
export function valueOf({ kind }, text) {
  if (kind === "count") return text === "" ? null : /^\d{1,9}$/.test(text) ? Number(text) : text;
  if (kind === "switch") return text !== "false" && text !== "off";
  if (kind === "repeated") return text.split(/[\s;]+/).filter(Boolean);
  if (kind === "commas") return text.split(/[\s,]+/).filter(Boolean).map((word) => (word === "∞" ? "unbounded" : word));
  return text === "" ? null : text;
}

/** The control of a setting that has this value; `change(value)` is called with a new one. */
export function control(setting, value, change) {
  const { name, caption, kind, usual, offers, help } = setting;
  if (kind === "switch") return tick(setting, Boolean(value), change);
  if (offers.length > 0) return field(caption, choice(setting, value, change), help);
  const shown = Array.isArray(value) ? value.join(kind === "commas" ? "," : " ") : value ?? "";
  const numbers = kind === "count" ? { type: "number", min: 0, max: setting.most } : { type: "text", size: isList(setting) ? 14 : 6 };
  const on = { change: (event) => change(valueOf(setting, event.target.value.trim())) };
  const placeholder = usual || setting.value;
  return field(caption, h("input", { ...numbers, name, placeholder, value: shown, data: { name }, on }), help);
}

function tick({ name, caption, help }, isOn, change) {
  const on = { change: (event) => change(event.target.checked) };
  return h(
    "label",
    { class: "tick", title: help },
    h("input", { type: "checkbox", name, checked: isOn, data: { name }, on }),
    caption,
  );
}

/** A select box of the values that are offered. Unless these are all there are, its last item becomes a text box for any other. */
function choice({ name, usual, offers, value: syntax }, value, change) {
  const isOpen = offers.join("|") !== syntax && [...offers].sort().join("|") !== syntax.split("|").sort().join("|");
  const known = usual ? offers : [["", "usual"], ...offers];
  return isOpen
    ? openChoice(name, offers, value || usual, change)
    : select(known, value || usual, { name, data: { name }, on: { change: (event) => change(event.target.value) } });
}

/** A select box whose last item is a text box for everything else. */
export function openChoice(name, words, value, change) {
  const known = [...new Set([...words, value].filter((word) => word !== null && word !== undefined))];
  const box = select([...known, ["…", "other…"]], value, { name, data: { name } });
  box.addEventListener("change", () => {
    if (box.value !== "…") return change(box.value);
    const on = { change: (event) => change(event.target.value) };
    const input = h("input", { type: "text", size: 12, name, value, data: { name }, on });
    box.replaceWith(input);
    input.select();
    return input.focus();
  });
  return box;
}
