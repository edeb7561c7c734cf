// The controls of a comparison: which algorithms, how many nodes, which loads, and how the numbers are drawn. Whenever something was
// changed they hand over the whole specification.

import { button, field, h, select } from "../dom.js";
import { COMPARED, control } from "../settings.js";
import { METRICS } from "./metrics.js";
import { list } from "./spec.js";

const LOADS = [
  ["isolated", "one at a time"],
  ["light:200", "each now and then"],
  ["light:50", "each more often"],
  ["active:3", "three want in always"],
  ["saturated", "all want in always"],
];
const SIZES = [["squares", "4,9,16,25,36"], ["planes", "7,13,21,31"], ["powers", "4,8,16,32,64"]];

/** The form for a specification; `change(spec)` is called with a new one. */
export function controls(spec, catalog, change) {
  const put = (part) => change({ ...spec, ...part });
  const quorums = ["", ...catalog.quorums.map((quorum) => quorum.kind).filter((kind) => kind !== "file")];
  return h(
    "form",
    { class: "compare-controls stack", id: "compare-controls", on: { submit: (event) => event.preventDefault() } },
    algorithmChoice(spec, catalog, put),
    sizeChoice(spec, put),
    loadChoice(spec, put),
    h(
      "div",
      { class: "row end" },
      COMPARED.map((setting) => settingOf(setting, spec, put)),
      field(
        "Quorums",
        select(quorums.map((kind) => [kind, kind || "plane where one exists"]), spec.options.quorum ?? "", {
          id: "compare-quorum",
          on: { change: (event) => put({ options: withOption(spec.options, "quorum", event.target.value) }) },
        }),
        "Quorum system, for the algorithms that have one",
      ),
    ),
  );
}

/** How the numbers are drawn: which number, which axes, with or without formula. */
export function drawing(spec, change) {
  const put = (part) => change({ ...spec, ...part });
  const kinds = [["log", "logarithmic"], ["linear", "linear"]];
  const on = (name) => ({ change: (event) => put({ [name]: event.target.value }) });
  return h(
    "div",
    { class: "row end" },
    field("number", select(METRICS.map(({ name, title }) => [name, title]), spec.metric, { id: "compare-metric", on: on("metric") })),
    field("upright axis", select(kinds, spec.y, { id: "compare-y", on: on("y") })),
    field("axis of N", select(kinds, spec.x, { id: "compare-x", on: on("x") })),
    tick("formula", spec.formula, (formula) => put({ formula }), { id: "compare-formula" }),
  );
}

function algorithmChoice(spec, catalog, put) {
  const right = catalog.algorithms.filter((algorithm) => !algorithm.specimen);
  const families = [...new Set(right.map((algorithm) => algorithm.family))];
  const chosen = new Set(spec.algorithms.length > 0 ? spec.algorithms : right.map((algorithm) => algorithm.name));
  const take = (names) => put({ algorithms: names.length === right.length ? [] : names });
  const toggle = (name, isChosen) => take(right.map((one) => one.name).filter((one) => (one === name ? isChosen : chosen.has(one))));
  const family = (title) => {
    const members = right.filter((algorithm) => algorithm.family === title);
    const only = button("only these", () => take(members.map((one) => one.name)), { class: "link" });
    return h("div", { class: "family" }, h("h3", { class: "row spread" }, title, only), members.map((one) => algorithmTick(one, chosen, toggle)));
  };
  return h(
    "fieldset",
    { id: "compare-algorithms" },
    h("legend", {}, "algorithms"),
    button("all", () => put({ algorithms: [] }), { class: "link" }),
    families.map(family),
  );
}

function algorithmTick(algorithm, chosen, toggle) {
  const { name, messages } = algorithm;
  const isLast = chosen.size === 1 && chosen.has(name);
  const label = tick([h("span", { class: "sample-place", data: { sample: name } }), h("span", {}, name)], chosen.has(name), (isChosen) => toggle(name, isChosen), {
    name: "algorithm",
    value: name,
    disabled: isLast,
  });
  label.title = isLast ? "One must stay" : `${algorithm.title}: ${messages}`;
  return label;
}

function sizeChoice(spec, put) {
  const text = h("input", {
    id: "compare-nodes",
    value: spec.nodes.join(","),
    spellcheck: "false",
    autocomplete: "off",
    on: { change: (event) => put({ nodes: list(event.target.value) }) },
  });
  const ready = SIZES.map(([name, sizes]) => button(name, () => put({ nodes: list(sizes) }), { class: "link", title: sizes }));
  return h("div", { class: "stack tight" }, field("numbers of nodes, as 4,9,16 or 4..9", text), h("div", { class: "row small" }, ready));
}

function loadChoice(spec, put) {
  const known = LOADS.map(([load]) => load);
  const others = spec.loads.filter((load) => !known.includes(load));
  const toggle = (load, isChosen) =>
    put({ loads: [...known.filter((one) => (one === load ? isChosen : spec.loads.includes(one))), ...others] });
  const ticks = LOADS.map(([load, help]) =>
    tick([h("code", {}, load), h("span", { class: "soft small" }, help)], spec.loads.includes(load), (isChosen) => toggle(load, isChosen), {
      name: "load",
      value: load,
      disabled: spec.loads.length === 1 && spec.loads[0] === load,
    }),
  );
  const other = h("input", {
    id: "compare-loads",
    value: others.join(","),
    placeholder: "light:100,only:1+2",
    spellcheck: "false",
    autocomplete: "off",
    on: { change: (event) => put({ loads: loadsWith(spec.loads.filter((load) => known.includes(load)), event.target.value) }) },
  });
  return h("fieldset", { class: "stack tight" }, h("legend", {}, "loads, a chart for each"), ticks, field("others", other));
}

/** At least one load stays. */
function loadsWith(loads, typed) {
  const all = [...loads, ...list(typed)];
  return all.length > 0 ? all : ["saturated"];
}

/** The control of a setting that all runs share. */
function settingOf(setting, spec, put) {
  const made = control(setting, spec[setting.name], (value) => put({ [setting.name]: String(value ?? "") }));
  made.querySelector("input, select").id = `compare-${setting.name}`;
  return made;
}

function tick(caption, isChosen, toggle, properties) {
  const box = h("input", { type: "checkbox", checked: isChosen, ...properties, on: { change: (event) => toggle(event.target.checked) } });
  return h("label", { class: "tick" }, box, caption);
}

function withOption(options, name, value) {
  const { [name]: _, ...others } = options;
  return value ? { ...others, [name]: value } : others;
}
