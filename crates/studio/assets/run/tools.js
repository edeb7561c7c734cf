// What stands around a diagram: a legend that hides kinds, the axis, and the zoom.

import { button, fill, h, select } from "../dom.js";
import { sample } from "../kinds.js";
import { CLOCKS, isKnown } from "./times.js";

/** The row above the diagram: `{element, show(run, story), key(event)}`. */
export function tools(view, does) {
  const legend = h("div", { class: "legend", role: "group", "aria-label": "Kinds of message" });
  const axis = select([["time", "true time"], ["even", "evenly spaced"]], "time", {
    id: "spacing",
    "aria-label": "Time axis",
    on: {
      change: (event) => {
        view.setSpacing(event.target.value);
        view.reveal();
        does.spaced?.(event.target.value);
      },
    },
  });
  const clocks = select(CLOCKS, view.clock, {
    id: "clocks",
    "aria-label": "Logical clocks",
    title: "Logical time beside each step: of its first and its last event",
    on: {
      change: (event) => {
        view.setClock(event.target.value);
        does.clocked?.(event.target.value);
      },
    },
  });
  const zoom = (factor) => () => view.setZoom(factor === 0 ? 1 : view.zoom * factor);
  const zooms = h(
    "div",
    { class: "buttons" },
    button("−", zoom(1 / 1.4), { title: "Less near (−)", "aria-label": "Zoom out" }),
    button("fit", zoom(0), { title: "As it was (0)", "aria-label": "Fit" }),
    button("+", zoom(1.4), { title: "Nearer (+)", "aria-label": "Zoom in" }),
  );
  const key = (event) => {
    const factor = { "+": 1.4, "=": 1.4, "-": 1 / 1.4, 0: 0 }[event.key];
    if (
      factor === undefined || event.ctrlKey || event.metaKey || event.altKey ||
      /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)
    ) return;
    event.preventDefault();
    zoom(factor)();
  };
  const element = h("div", { class: "tools" }, legend, h("div", { class: "row" }, axis, clocks, zooms));
  const show = (run, story) => {
    clocks.value = view.clock;
    for (const option of clocks.options) option.disabled = !isKnown(run, option.value);
    drawLegend(view, legend, run, story);
  };
  return { element, key, show };
}

function drawLegend(view, legend, run, story) {
  const counts = new Map(run.kinds.map((kind) => [kind, 0]));
  for (const { kind } of story.messages) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  for (const kind of [...view.hidden]) if (!counts.has(kind)) view.hidden.delete(kind);
  const toggle = (kind, isShown) => {
    const hidden = new Set(view.hidden);
    if (isShown) hidden.delete(kind);
    else hidden.add(kind);
    view.setHidden(hidden);
  };
  const item = ([kind]) =>
    h(
      "label",
      { class: "tick" },
      h("input", {
        type: "checkbox",
        checked: !view.hidden.has(kind),
        data: { toggle: kind },
        on: { change: (event) => toggle(kind, event.target.checked) },
      }),
      sample(kind),
      kind,
    );
  fill(legend, phases(story), [...counts].map(item));
}

function phases(story) {
  const names = ["outside", "waiting", "inside"];
  if (story.lanes.some((lane) => lane.crash)) names.push("crashed");
  return h(
    "span",
    { class: "phases small" },
    names.map((name) => h("span", { class: `phase ${name}` }, name)),
    story.hasRibbons ? h("span", { class: "soft" }, "ribbon: whom the vote is given to, or the token") : null,
  );
}
