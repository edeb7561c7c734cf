// Taking a run away: its link, its picture, its events, a page of it, and the command that makes it again.

import { button, h } from "../dom.js";
import { file, save } from "../api.js";
import { isScript } from "./spec.js";

const FORMATS = [
  ["svg", "SVG", "svg"],
  ["png", "PNG", "png"],
  ["jsonl", "JSON", "jsonl"],
  ["html", "HTML page", "html"],
  ["shiviz", "ShiViz", "log"],
  ["perfetto", "Perfetto", "json"],
];

/** The buttons: `{element, show(spec, run)}`; `hash()` is the part of the link behind the page's address, `clock()` the clock that is shown. */
export function exporter(app, hash, clock) {
  const state = { spec: null, run: null, clock };
  const address = () => new URL(hash(), location.href).href;
  const link = button(
    "Copy link",
    () => copied(app, address(), "The link is copied: it makes the same run and shows the same cut."),
    { id: "copy-link" },
  );
  const script = button("Script", () => written(state), { data: { export: "script" } });
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
    h("div", { class: "buttons" }, link, buttons, script),
    h("div", { class: "command-row" }, command, copy),
  );
  return {
    element,
    show(spec, run) {
      Object.assign(state, { spec, run });
      command.textContent = (run.command ?? "").replace(/ FILE$/, ` ${fileName(run)}.script`);
      command.parentElement.hidden = !run.command;
      script.hidden = !isScript(spec) || !run.script;
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

async function taken(app, { spec, run, clock }, format, ending) {
  try {
    const clocks = clock() ? `&clocks=${clock()}` : "";
    const blob = await file(`exports?format=${format}${clocks}`, spec);
    save(blob, `${fileName(run)}.${ending}`);
  } catch (error) {
    app.say(error.message, "error");
  }
}

/** Saves the script under the name that the command has it, and the files that it names. */
function written({ spec, run }) {
  const files = Object.entries(spec.files ?? run.spec?.files ?? {});
  for (const [name, text] of [[`${fileName(run)}.script`, run.script], ...files]) save(new Blob([text]), name);
}

function fileName(run) {
  return run.algorithm.replaceAll("/", "-");
}
