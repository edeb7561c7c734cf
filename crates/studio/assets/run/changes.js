// The panel of changes: what was changed in this run, taking it back, and in a script what could happen next.

import { button, fill, h, icon } from "../dom.js";
import { changesOf } from "./change.js";
import { isScript } from "./spec.js";

/** `{element, show(spec, run, cut, {canUndo, canRedo, note})}`; `does` has `undo()`, `redo()`, `without(spec)`, `choose(line)`. */
export function changesPanel(does) {
  const undo = button([icon("undo"), "Undo"], does.undo, { id: "undo", disabled: true, title: "Take the last change back" });
  const redo = button([icon("redo"), "Redo"], does.redo, { id: "redo", disabled: true });
  const list = h("ul", { class: "changes", id: "changes" });
  const note = h("p", { class: "small" });
  const choices = h("div", { class: "choices", id: "choices" });
  const element = h(
    "div",
    {},
    h("div", { class: "row spread" }, h("div", { class: "buttons" }, undo, redo)),
    list,
    note,
    choices,
  );
  return {
    element,
    show(spec, run, cut, { canUndo, canRedo, said }) {
      undo.disabled = !canUndo;
      redo.disabled = !canRedo;
      drawList(list, spec, does);
      fill(note, said ?? hint(spec));
      note.classList.toggle("soft", !said);
      drawChoices(choices, spec, run, does);
    },
  };
}

function hint(spec) {
  if (isScript(spec)) {
    return "A change rewrites the script: drag the head of an arrow, or click a message or the number of a node.";
  }
  if (spec.trace !== undefined) return "A recorded file cannot be changed.";
  return "Drag the head of an arrow to another time of delivery, or click a message or the number of a node for more.";
}

function drawList(list, spec, does) {
  const all = changesOf(spec);
  list.hidden = all.length === 0;
  fill(
    list,
    all.map(({ text, word, without }) =>
      h(
        "li",
        { data: { change: word } },
        text,
        " ",
        button("remove", () => does.without(without), { class: "link", "aria-label": `Remove: ${text}` }),
      )
    ),
  );
}

function drawChoices(box, spec, run, does) {
  const some = isScript(spec) ? (run.choices ?? []) : [];
  fill(
    box,
    some.length === 0 ? null : [
      h("h3", {}, "What could happen next, at the end"),
      h(
        "div",
        { class: "buttons" },
        some.slice(0, 60).map((choice) =>
          button(choice.says, () => does.choose(choice.line), { title: choice.line, data: { choice: choice.line } })
        ),
      ),
    ],
  );
}
