// What somebody wishes to be otherwise in the run that is shown: changes, taking them back, the next action of a script.

import { changed } from "./change.js";
import { messageMenu, nodeMenu } from "./menus.js";
import { appended } from "./script.js";
import { isScript } from "./spec.js";

/** What the panel of changes can ask for. */
export function changing(state) {
  const swap = (from, to) => () => {
    const other = from().pop();
    if (!other) return;
    to().push({ spec: state.spec, cut: state.cut });
    state.ask(other.spec, other.cut, "push");
  };
  return {
    undo: swap(() => state.past, () => state.future),
    redo: swap(() => state.future, () => state.past),
    without: (spec) => state.want(spec, state.cut, ""),
    choose: (line) =>
      state.want(
        {
          ...state.spec,
          script: appended(state.run.script ?? state.spec.script, line, state.run.trouble),
          ...files(state),
        },
        null,
        "",
      ),
  };
}

function files(state) {
  const known = state.spec.files ?? state.run.spec?.files;
  return known ? { files: known } : {};
}

/** Makes a change that somebody wishes: another run at the same cut. */
export function change(state, wish) {
  const { spec, note, trouble } = changed(
    { ...state.spec, ...(isScript(state.spec) ? files(state) : {}) },
    state.run,
    state.story,
    wish,
  );
  if (trouble) return state.app.say(trouble, "error");
  return state.want(spec, state.cut, note ?? "");
}

/** Opens the menu of a message or a node. */
export function menuAt(state, target, at) {
  const make = target.message ? messageMenu : nodeMenu;
  const { title, items } = make(state, target, (wish) => change(state, wish));
  state.parts.menu.open(at, title, items);
}
