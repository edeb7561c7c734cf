// The controls of a run: an algorithm with what it can be given, or a script, or a recorded file. Every change is a new spec.

import { headingOf, shippedScript } from "../check/instances.js";
import { button, field, fill, h, icon, select } from "../dom.js";
import { drawScript } from "./scriptbox.js";
import { FIRST, isScript } from "./spec.js";

const LOADS = ["saturated", "isolated", "light:50", "light:200", "active:2", "active:3"];
const LATENCIES = ["10", "uniform:5:15", "uniform:1:40", "exponential:10"];
const HOLDS = ["5", "1", "20", "uniform:2:20", "exponential:10"];
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

/** Is somebody writing into a box whose word has not been taken yet? Then the form stays as it is. */
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
  const box = (name, caption, properties, hint) =>
    field(
      caption,
      h("input", {
        ...properties,
        value: own[name] ?? "",
        data: { name },
        on: { change: (event) => told(state, name, valueOf(event.target)) },
      }),
      hint,
    );
  const words = (name, caption, list, usual, hint) =>
    field(caption, choice(name, list, own[name] ?? usual, (value) => told(state, name, value)), hint);
  fill(
    state.body,
    h(
      "div",
      { class: "row end" },
      field("Algorithm", algorithms(state, own)),
      box("nodes", "Nodes", { type: "number", min: 1, max: 128, placeholder: "5" }),
      (about?.parameters ?? []).map((parameter) => option(state, own, parameter)),
      words("load", "Load", LOADS, "saturated", "When nodes ask"),
      box("entries", "Entries", { type: "number", min: 1, max: 5000, placeholder: "12" }),
      words("latency", "Latency", LATENCIES, "10", "How many ticks a message is under way"),
      field(
        "Channels",
        select(["fifo", "any", "causal"], own.channels ?? "fifo", {
          data: { name: "channels" },
          on: { change: (event) => told(state, "channels", event.target.value) },
        }),
        "In what order a channel delivers",
      ),
      box("seed", "Seed", { type: "text", size: 6, inputmode: "numeric", placeholder: "1" }),
      button(icon("dice"), () => told(state, "seed", String(1 + Math.floor(Math.random() * 9999))), {
        title: "Another seed",
        "aria-label": "Another seed",
        data: { dice: "" },
      }),
    ),
    more(state, own, words, box),
    about?.specimen ? specimenNote(about) : null,
  );
}

function valueOf(input) {
  return input.type === "number" ? (input.value === "" ? null : Number(input.value)) : input.value;
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
  return field(name[0].toUpperCase() + name.slice(1), choice(name, words, own.options?.[name] ?? usual, change), help);
}

/** The words that a help text lists behind its colon. */
function wordsOf(help = "") {
  const list = help.slice(help.indexOf(":") + 1).replace(/\(.*?\)|\[.*?\]/g, "").split(/, (?:or )?| or /);
  return list.map((word) => /^[a-z][a-z-]*/.exec(word.trim())?.[0]).filter((word) =>
    word && !["file", "which"].includes(word)
  );
}

/** A select box whose last item is a text box for everything else. */
function choice(name, words, value, change) {
  const known = [...new Set([...words, value].filter((word) => word !== null && word !== undefined))];
  const box = select([...known, ["…", "other…"]], value, { data: { name } });
  box.addEventListener("change", () => {
    if (box.value !== "…") return change(box.value);
    const input = h("input", {
      type: "text",
      size: 12,
      value,
      data: { name },
      on: { change: (event) => change(event.target.value) },
    });
    box.replaceWith(input);
    input.select();
    return input.focus();
  });
  return box;
}

function more(state, own, words, box) {
  const list = (name, caption, placeholder) =>
    field(
      caption,
      h("input", {
        type: "text",
        size: 14,
        placeholder,
        value: (own[name] ?? []).join(" "),
        data: { name },
        on: { change: (event) => told(state, name, event.target.value.split(/[\s;]+/).filter(Boolean)) },
      }),
    );
  const isOpen = state.body.querySelector("details")?.open ??
    ["hold", "loss", "duplicate", "retransmit", "start_inside"].some((name) => own[name]);
  return h(
    "details",
    { open: isOpen, class: "more" },
    h("summary", { class: "small" }, "Stay inside, faults, start"),
    h(
      "div",
      { class: "row end" },
      words("hold", "Hold", HOLDS, "5", "How many ticks a node stays inside"),
      box("start_inside", "Inside at the start", { type: "number", min: 1, placeholder: "nobody" }),
      box("loss", "Loss", { type: "text", size: 5, placeholder: "0" }, "The share of messages that are lost, 0 to 1"),
      box(
        "duplicate",
        "Duplicate",
        { type: "text", size: 5, placeholder: "0" },
        "The share of messages that arrive twice, 0 to 1",
      ),
      h(
        "label",
        { class: "tick" },
        h("input", {
          type: "checkbox",
          checked: Boolean(own.retransmit),
          data: { name: "retransmit" },
          on: { change: (event) => told(state, "retransmit", event.target.checked) },
        }),
        "retransmit",
      ),
      list("crash", "Crashes", "3@50"),
      list("partition", "Cuts", "1|2@10..40"),
    ),
  );
}
