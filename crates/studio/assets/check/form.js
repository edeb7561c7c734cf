// One check with everything chosen by hand. The address holds the form: `#/check?tab=one&algorithm=maekawa&nodes=4&quorum=grid`.

import { button, field, fill, h } from "../dom.js";
import { CHECK, CHOICES, control, valueOf } from "../settings.js";
import { counterexampleView } from "./counterexample.js";
import { systemWords } from "./instances.js";
import { counterexamplesOf } from "./rows.js";
import { watched } from "./watch.js";
import { atLength, chipClass, counted, kindOf, propertiesOf, propertyNamed, shortly } from "./words.js";

function keyOf(parameter) {
  return CHOICES.includes(parameter) ? parameter : `set.${parameter}`;
}

/** Puts the form and the place of its result into an element. */
export function formView(element, query, catalog, app, signal) {
  const controls = h("form", { class: "stack", id: "check-form", on: { submit: (event) => event.preventDefault() } });
  const place = h("div", {});
  const output = h("div", { id: "check-result", class: "stack" });
  const state = { catalog, app, signal, controls, place, output, query: new URLSearchParams(query) };
  if (!aboutOf(state)) state.query.set("algorithm", "maekawa/basic");
  drawn(state);
  fill(element, controls, place, output);
}

function aboutOf({ catalog, query }) {
  const name = query.get("algorithm");
  return [...catalog.algorithms, ...catalog.programs].find((about) => about.name === name) ?? null;
}

function isProgram(state) {
  return state.catalog.programs.includes(aboutOf(state));
}

/** Draws the controls for the chosen algorithm. */
function drawn(state) {
  const about = aboutOf(state);
  fill(
    state.controls,
    h(
      "div",
      { class: "row end" },
      field("Algorithm, program or specimen", chooser(state)),
      settingsOf(state).map((setting) => settingOf(state, setting, about)),
    ),
    (about.parameters ?? []).length > 0
      ? h(
          "div",
          { class: "row end" },
          about.parameters.map((parameter) =>
            input(state, keyOf(parameter.name), parameter.name, { placeholder: parameter.default, title: parameter.help }),
          ),
        )
      : null,
    properties(state),
    h(
      "div",
      { class: "row" },
      button("Check", () => check(state), { class: "primary", id: "check-one", type: "submit" }),
      h("span", { class: "soft" }, about.title),
    ),
  );
}

function chooser(state) {
  const { catalog, query } = state;
  const option = ({ name }) => h("option", { value: name, selected: name === query.get("algorithm") }, name);
  const group = (label, some) => h("optgroup", { label }, some.map(option));
  const right = (some) => some.filter(({ specimen }) => !specimen);
  const wrong = [...catalog.algorithms, ...catalog.programs].filter(({ specimen }) => specimen);
  const change = (event) => {
    state.query = new URLSearchParams({ tab: "one", algorithm: event.target.value });
    remember(state);
    fill(state.output);
    drawn(state);
    state.controls.querySelector("select").focus();
  };
  return h(
    "select",
    { name: "algorithm", on: { change } },
    group("Algorithms", right(catalog.algorithms)),
    group("Programs over shared memory", right(catalog.programs)),
    group("Specimens", wrong),
  );
}

/** The settings for the chosen kind: those of all checks, and those of messages or of shared memory. */
function settingsOf(state) {
  const other = isProgram(state) ? "Algorithms that send messages" : "Programs over shared memory";
  return CHECK.filter(({ hidden, part }) => !hidden && part !== other);
}

function settingOf(state, setting, about) {
  const shown = setting.name === "nodes" ? { ...setting, usual: about.most_nodes ?? 3 } : setting;
  const value = state.query.get(setting.name);
  const change = (word) => said(state, setting.name, Array.isArray(word) ? word.join(",") : String(word ?? ""));
  return control(shown, value, change);
}

function input(state, name, caption, properties) {
  const { title, ...rest } = properties;
  const change = (event) => said(state, name, event.target.value.trim());
  return field(caption, h("input", { name, value: state.query.get(name) ?? "", ...rest, on: { change } }), title);
}

function properties(state) {
  const chosen = state.query.getAll("property");
  const change = () => {
    const ticked = [...state.controls.querySelectorAll("[name=property]:checked")].map((box) => box.value);
    state.query.delete("property");
    for (const name of ticked) state.query.append("property", name);
    remember(state);
  };
  const box = ({ name, says }) =>
    h(
      "label",
      { class: "tick", title: says },
      h("input", { type: "checkbox", name: "property", value: name, checked: chosen.includes(name), on: { change } }),
      name,
    );
  return h(
    "fieldset",
    {},
    h("legend", {}, "Properties to decide; none ticked is all that a lock must be"),
    h("div", { class: "row" }, propertiesOf(isProgram(state)).map(box)),
  );
}

function said(state, name, value) {
  if (value === "") state.query.delete(name);
  else state.query.set(name, value);
  remember(state);
}

function remember(state) {
  state.query.set("tab", "one");
  state.app.replace(`#/check?${state.query}`);
}

/** What the form asks of the server. */
export function bodyOf(query) {
  const body = { algorithm: query.get("algorithm"), options: {} };
  for (const setting of CHECK) {
    const value = query.get(setting.name);
    if (value && setting.name !== "property") body[setting.name] = valueOf(setting, value);
  }
  for (const [name, value] of query) {
    if (name.startsWith("set.")) body.options[name.slice(4)] = value;
    else if (CHOICES.includes(name)) body.options[name] = value;
  }
  const properties = query.getAll("property");
  if (properties.length > 0) body.properties = properties;
  return body;
}

async function check(state) {
  const body = bodyOf(state.query);
  const control = state.controls.querySelector("#check-one");
  control.disabled = true;
  fill(state.output);
  const { result, refusal, cancelled } = await watched(state.place, "checks", body, state.signal);
  control.disabled = false;
  if (refusal) fill(state.output, h("p", { class: "note error", role: "alert" }, refusal));
  if (cancelled) fill(state.output, h("p", { class: "note" }, "The check was cancelled."));
  if (result) fill(state.output, resultView(result, body, isProgram(state)));
}

/** A result: what was explored, the verdicts, the runs against them. */
function resultView(result, body, ofProgram) {
  const words = systemWords({ ...body, nodes: result.nodes, ...result.memory, isProgram: ofProgram });
  const explored = `${counted(result.states, "state")}, ${counted(result.transitions, "step")} between them, ${result.complete ? "all of them" : "and a limit was reached: not all of them"}; ${result.seconds.toFixed(1)} s`;
  const row = (verdict) =>
    h(
      "tr",
      { data: { property: verdict.name, verdict: kindOf(verdict) } },
      h("th", { scope: "row", title: propertyNamed(verdict.name).says }, verdict.name),
      h("td", {}, h("span", { class: chipClass(verdict) }, shortly(verdict))),
      h("td", {}, atLength(verdict)),
    );
  return [
    h("p", { data: { states: result.states } }, h("span", { class: "strong" }, `${result.algorithm}, ${words}. `), explored),
    h("div", { class: "wide" }, h("table", { class: "full" }, h("tbody", {}, result.properties.map(row)))),
    counterexamplesOf(result).map((found) => counterexampleView(found, ofProgram)),
  ];
}
