// What somebody wishes to be otherwise in the run that is shown: changes, taking them back, the next action of a script.

import { changed } from "./change.js";
import { messageMenu, nodeMenu } from "./menus.js";
import { appended } from "./script.js";
import { isSame, isScript } from "./spec.js";

/** What the panel of changes can ask for. */
export function changing(state) {
  const { ask, want } = state;
  const back = (other, history) => other && ask(other.spec, { at: other.cut, step: "push", history });
  return {
    undo: () => back(state.past.at(-1), { past: state.past.slice(0, -1), future: [...state.future, here(state)] }),
    redo: () => back(state.future.at(-1), { past: [...state.past, here(state)], future: state.future.slice(0, -1) }),
    without: (spec) => want(spec, state.cut, ""),
    choose: (line) =>
      want(
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

/** The runs before and behind once another one follows: `{past, future}`, the nearest last. */
export function followed(state) {
  return { past: state.run ? [...state.past, here(state)] : [], future: [] };
}

/** The same once one has gone to a run that may be among them. To one that is not, no way was taken that could be taken back. */
export function travelled(state, spec) {
  const { past, future } = state;
  const among = (some) => some.findLastIndex((each) => isSame(each.spec, spec));
  const passed = (some) => [here(state), ...some.slice(among(some) + 1).reverse()];
  if (among(past) >= 0) return { past: past.slice(0, among(past)), future: [...future, ...passed(past)] };
  if (among(future) >= 0) return { past: [...past, ...passed(future)], future: future.slice(0, among(future)) };
  return { past: [], future: [] };
}

function here({ spec, cut }) {
  return { spec, cut };
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
