// Taking a run away: its link, its picture, its events, a page of it, and the command that makes it again.

import { button, h } from "../dom.js";
import { file, save } from "../api.js";

const FORMATS = [
  ["svg", "SVG", "svg"],
  ["png", "PNG", "png"],
  ["jsonl", "JSON", "jsonl"],
  ["html", "HTML page", "html"],
  ["shiviz", "ShiViz", "log"],
  ["perfetto", "Perfetto", "json"],
];

/** The buttons: `{element, show(spec, run)}`. */
export function exporter(app) {
  const state = { spec: null, run: null };
  const link = button(
    "Copy link",
    () => copied(app, location.href, "The link is copied: it makes the same run and shows the same cut."),
    { id: "copy-link" },
  );
  const buttons = FORMATS.map(([format, text, ending]) =>
    button(text, () => taken(app, state, format, ending), { data: { export: format } })
  );
  const command = h("code", { class: "command", id: "command" });
  const copy = button("Copy", () => copied(app, command.textContent, "The command is copied."), {
    class: "quiet",
    "aria-label": "Copy the command",
  });
  const element = h(
    "div",
    {},
    h("div", { class: "buttons" }, link, buttons),
    h("div", { class: "command-row" }, command, copy),
  );
  return {
    element,
    show(spec, run) {
      Object.assign(state, { spec, run });
      command.textContent = run.command ?? "";
      command.parentElement.hidden = !run.command;
      link.disabled = spec.trace !== undefined;
    },
  };
}

async function copied(app, text, sentence) {
  try {
    await navigator.clipboard.writeText(text);
    app.say(sentence);
  } catch {
    app.say(`This browser does not let the page copy; here it is: ${text}`);
  }
}

async function taken(app, { spec, run }, format, ending) {
  try {
    const blob = await file(`exports?format=${format}`, spec);
    save(blob, `${run.algorithm.replaceAll("/", "-")}.${ending}`);
  } catch (error) {
    app.say(error.message, "error");
  }
}
