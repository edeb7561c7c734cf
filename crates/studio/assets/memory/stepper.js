// The buttons with which a run is made: a step of a process, a write that reaches memory; and those with which one goes back and forth.

import { button, fill, h } from "../dom.js";
import { chip } from "./listing.js";
import { processAt } from "./steps.js";

/** Draws, for each process, what it could do next. `choose(line)` is called with the script line that was chosen. */
export function choicesView(element, run, count, choices, choose) {
  const nodes = Array.from({ length: run.nodes }, (_, index) => index + 1);
  const row = (node) => {
    const { place } = processAt(run, node, count);
    const some = choices?.filter((choice) => choice.node === node) ?? [];
    const buttons = some.map((choice) => choiceButton(choice, node, choose));
    const none = choices ? "cannot make a step now" : "…";
    return h(
      "div",
      { class: "turn-of", data: { process: node } },
      chip(node),
      h("span", { class: `phase ${place}` }, place),
      h("div", { class: "buttons" }, buttons.length > 0 ? buttons : h("span", { class: "soft" }, none)),
    );
  };
  const focused = document.activeElement?.closest?.(".turn-of")?.dataset.process ?? element.dataset.focused;
  fill(element, nodes.map(row));
  if (focused) refocus(element, focused);
}

/** Who steps with the keyboard stays with the process that it was at, although the buttons are new. */
function refocus(element, node) {
  const control = element.querySelector(`.turn-of[data-process="${node}"] button`);
  if (control) delete element.dataset.focused;
  else element.dataset.focused = node;
  if (control && document.activeElement === document.body) control.focus({ preventScroll: true });
}

function choiceButton({ line, says }, node, choose) {
  const isReach = line.startsWith("reach");
  const text = says.replace(new RegExp(`^process ${node} `), "");
  return button([isReach ? "→ " : null, text], () => choose(line), {
    class: isReach ? "choice reach" : "choice",
    data: { choice: line },
    title: isReach ? "A write that has been on its way reaches memory" : `Key ${node}`,
  });
}

/** The line that the key of a process stands for: its only step; null if there is none, or a choice of values. */
export function lineOfKey(choices, node) {
  const some = (choices ?? []).filter((choice) => choice.node === node && choice.line.startsWith("step"));
  return some.length === 1 ? some[0].line : null;
}

/** The player: first, back, play, forward, last, a scrubber and the place in words. */
export function player({ go, play, undo, restart }) {
  const at = h("output", { class: "soft", id: "step-count" });
  const scrubber = h("input", { type: "range", min: 0, "aria-label": "Step", on: { input: (event) => go(Number(event.target.value)) } });
  const control = (text, label, click, id) => button(text, click, { "aria-label": label, title: label, id });
  const parts = {
    first: control("|◀", "To the start (Home)", () => go(0), "first"),
    back: control("◀", "One step back (←)", () => go("back"), "back"),
    play: control("▶ play", "Play (space)", play, "play"),
    forward: control("▶", "One step on (→)", () => go("forward"), "forward"),
    last: control("▶|", "To the end (End)", () => go("last"), "last"),
    undo: control("Undo", "Take back what was chosen last (u)", undo, "undo"),
    restart: control("Restart", "Forget all steps", restart, "restart"),
  };
  const element = h(
    "div",
    { class: "row player" },
    h("div", { class: "buttons" }, parts.first, parts.back, parts.play, parts.forward, parts.last),
    scrubber,
    at,
    h("div", { class: "buttons" }, parts.undo, parts.restart),
  );
  const show = ({ place, total, loopAt, isPlaying, canUndo }) => {
    [scrubber.max, scrubber.value] = [total, place];
    at.textContent = `step ${place} of ${total}${loopAt === null ? "" : `, then from ${loopAt + 1} again`}`;
    parts.first.disabled = parts.back.disabled = place === 0;
    parts.last.disabled = place === total;
    parts.forward.disabled = parts.play.disabled = place === total && loopAt === null;
    parts.play.textContent = isPlaying ? "❚❚ pause" : "▶ play";
    parts.undo.disabled = !canUndo;
    parts.restart.disabled = total === 0;
  };
  return { element, show };
}
