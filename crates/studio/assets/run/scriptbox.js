// The part of the controls in which a script is chosen or written.

import { button, field, fill, h, select } from "../dom.js";
import { isScript } from "./spec.js";

/** Draws it into the body of the form; while somebody writes, what is written stays. */
export function drawScript(state, typing) {
  const { catalog, spec } = state;
  const scripts = (catalog.scripts ?? []).filter((each) => !each.memory);
  const example = isScript(spec) && spec.script.startsWith("example:") ? spec.script.slice(8) : "";
  const item = ({ name }) => [`example:${name}`, name];
  const text = isScript(spec)
    ? (example ? (scripts.find((each) => each.name === example)?.text ?? state.script) : spec.script)
    : (state.script ?? scripts[0]?.text ?? "");
  const area = h("textarea", {
    rows: 7,
    spellcheck: "false",
    "aria-label": "Script",
    data: { name: "script" },
    id: "script",
  }, text ?? "");
  area.value = text ?? "";
  const played = () =>
    state.change({ ...(isScript(spec) && spec.files ? { files: spec.files } : {}), script: area.value });
  area.addEventListener("input", () => {
    clearTimeout(state.timer);
    state.timer = setTimeout(played, 900);
  });
  const old = typing === "script" ? state.body.querySelector("#script") : null;
  if (old && old.value === area.value) return;
  fill(
    state.body,
    h(
      "div",
      { class: "row end" },
      field(
        "Example",
        select([["", "own script"], ...scripts.map(item)], example ? `example:${example}` : "", {
          id: "example",
          data: { name: "example" },
          on: {
            change: (event) => {
              if (event.target.value) state.change({ script: event.target.value });
            },
          },
        }),
      ),
      button("Run script", played, { class: "primary" }),
      h(
        "span",
        { class: "soft small" },
        "Each action takes one tick: request, release, deliver, lose, duplicate, crash, clock, tell.",
      ),
    ),
    area,
  );
}
