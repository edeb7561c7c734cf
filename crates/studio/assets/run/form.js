// The controls of a run: an algorithm with what it can be given, or a script, or a recorded file. Every change is a new spec.

import { headingOf, shippedScript } from "../check/instances.js";
import { button, field, fill, h, icon } from "../dom.js";
import { RUN, control, openChoice } from "../settings.js";
import { drawScript } from "./scriptbox.js";
import { FIRST, isScript } from "./spec.js";

/** The settings that are always seen; all others are behind “More settings”. */
const SEEN = ["load", "entries", "latency", "channels", "seed"];
const FAMILIES = { central: "Central", permission: "By permission", token: "By a token" };

/** Makes the controls: `{element, show(spec, run)}`; `change(spec)` is called with what is wanted. */
export function form(catalog, change) {
  const state = { catalog, change, spec: FIRST, tab: "algorithm", timer: null };
  const tab = (name, text) => button(text, () => chosenTab(state, name), { role: "tab", data: { tab: name } });
  state.tabs = [tab("algorithm", "Algorithm"), tab("script", "Script")];
  state.body = h("div", { class: "controls" });
  state.file = h("input", {
    type: "file",
    class: "unseen",
    accept: ".jsonl,.json,.ndjson,text/plain",
    "aria-label": "Open a recorded run",
    id: "file",
    on: { change: () => opened(state) },
  });
  const file = h(
    "label",
    { class: "button", for: "file", title: "A file that `doorway simulate --trace` or `doorway chaos --trace` has written" },
    "Open file…",
  );
  state.element = h(
    "section",
    { class: "panel form" },
    h(
      "div",
      { class: "row spread" },
      h("div", { class: "tabs", role: "tablist" }, state.tabs),
      h("div", { class: "buttons" }, state.file, file),
    ),
    state.body,
  );
  return { element: state.element, show: (spec, run) => show(state, spec, run) };
}

function show(state, spec, run) {
  state.spec = spec;
  state.script = run?.script ?? state.script ?? null;
  if (isTyping(state)) return;
  state.tab = isScript(spec) ? "script" : "algorithm";
  draw(state);
}

/** Is the user typing into a box whose value was not submitted yet? Then the form is not drawn anew. */
function isTyping({ body }) {
  const box = document.activeElement;
  return box?.tagName === "INPUT" && body.contains(box) && /^(text|number)$/.test(box.type) &&
    box.value !== box.getAttribute("value");
}

function chosenTab(state, name) {
  state.tab = name;
  draw(state);
}

function draw(state) {
  const typing = state.element.contains(document.activeElement) ? document.activeElement.dataset.name : null;
  for (const tab of state.tabs) tab.setAttribute("aria-selected", String(tab.dataset.tab === state.tab));
  if (state.tab === "script") drawScript(state, typing);
  else drawAlgorithm(state);
  if (typing && typing !== "script") {
    state.body.querySelector(`[data-name="${typing}"]`)?.focus({ preventScroll: true });
  }
}

async function opened(state) {
  const [file] = state.file.files;
  if (file) state.change({ trace: await file.text() });
  state.file.value = "";
}

/** A spec with one word changed, made soon after one stops typing. */
function told(state, name, value) {
  clearTimeout(state.timer);
  const base = isScript(state.spec) || state.spec.trace !== undefined ? FIRST : state.spec;
  state.spec = { ...base, [name]: value };
  state.change(state.spec);
}

function drawAlgorithm(state) {
  const { spec, catalog } = state;
  const own = isScript(spec) || spec.trace !== undefined ? FIRST : spec;
  const about = catalog.algorithms.find((each) => each.name === own.algorithm);
  const setting = (name) => settingOf(state, own, name);
  fill(
    state.body,
    h(
      "div",
      { class: "row end" },
      field("Algorithm", algorithms(state, own)),
      setting("nodes"),
      (about?.parameters ?? []).map((parameter) => option(state, own, parameter)),
      SEEN.map(setting),
      button(icon("dice"), () => told(state, "seed", String(1 + Math.floor(Math.random() * 9999))), {
        title: "Another seed",
        "aria-label": "Another seed",
        data: { dice: "" },
      }),
    ),
    more(state, own),
    about?.specimen ? specimenNote(about) : null,
  );
}

function settingOf(state, own, name) {
  const setting = RUN.find((each) => each.name === name);
  return control(setting, own[name], (value) => told(state, name, value));
}

function algorithms(state, own) {
  const { algorithms: all } = state.catalog;
  const item = ({ name, title }) =>
    h("option", { value: name, selected: name === own.algorithm }, title && !name.includes("/") ? title : name);
  const group = (caption, some) => (some.length > 0 ? h("optgroup", { label: caption }, some.map(item)) : null);
  const sound = all.filter((each) => !each.specimen);
  const groups = Object.entries(FAMILIES).map(([family, caption]) =>
    group(caption, sound.filter((each) => each.family === family))
  );
  const others = sound.filter((each) => !Object.hasOwn(FAMILIES, each.family));
  const change = (event) => {
    const { options, message, ...rest } = own;
    const about = all.find((each) => each.name === event.target.value);
    const choices = Object.fromEntries(
      (about?.parameters ?? []).map((parameter) => [parameter.name, options?.[parameter.name] ?? parameter.default]),
    );
    const channels = channelsFor(about, own, state.catalog);
    state.spec = { ...rest, algorithm: event.target.value, channels, options: choices };
    state.change(state.spec);
  };
  return h(
    "select",
    { data: { name: "algorithm" }, id: "algorithm", on: { change } },
    groups,
    group("Others", others),
    group("Specimens, wrong on purpose", all.filter((each) => each.specimen)),
  );
}

/** What an algorithm needs, or what a specimen's mistake needs to be met; else as before. */
function channelsFor(about, own, catalog) {
  const script = about?.specimen ? shippedScript(about.name, catalog) : null;
  if (script) return headingOf(script.text).channels;
  return about?.needs === "fifo" && own.channels === "any" ? "fifo" : own.channels;
}

function specimenNote(about) {
  return h(
    "p",
    { class: "small soft" },
    h("span", { class: "chip violated" }, `specimen ${about.specimen.id}`),
    ` wrong on purpose: ${about.specimen.wrong}`,
  );
}

/** A choice of the algorithm: a quorum system, a tree, … */
function option(state, own, { name, default: usual, help }) {
  const kinds = name === "quorum" ? state.catalog.quorums?.map((each) => each.example ?? each.kind) : null;
  const words = kinds?.length > 0 ? kinds : wordsOf(help);
  const change = (value) => told(state, "options", { ...own.options, [name]: value });
  return field(name[0].toUpperCase() + name.slice(1), openChoice(name, words, own.options?.[name] ?? usual, change), help);
}

/** The words that a help text lists behind its colon. */
function wordsOf(help = "") {
  const list = help.slice(help.indexOf(":") + 1).replace(/\(.*?\)|\[.*?\]/g, "").split(/, (?:or )?| or /);
  return list.map((word) => /^[a-z][a-z-]*/.exec(word.trim())?.[0]).filter((word) =>
    word && !["file", "which"].includes(word)
  );
}

function more(state, own) {
  const others = RUN.filter(({ name, hidden }) => !hidden && name !== "nodes" && !SEEN.includes(name));
  const isGiven = ({ name }) => (Array.isArray(own[name]) ? own[name].length > 0 : Boolean(own[name]));
  const isOpen = state.body.querySelector("details")?.open ?? others.some(isGiven);
  return h(
    "details",
    { open: isOpen, class: "more" },
    h("summary", { class: "small" }, "More settings: stay inside, faults, start"),
    h("div", { class: "row end" }, others.map(({ name }) => settingOf(state, own, name))),
  );
}
