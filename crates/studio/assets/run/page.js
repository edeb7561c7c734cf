// The page Run: one run, its picture, and a cut through it that one can move, with everything that was so at the cut. Changing what
// happens makes another run; the address holds all of it.

import { fill, h, panel, progressBar } from "../dom.js";
import { work } from "../api.js";
import { firstDifference } from "./change.js";
import { changesPanel } from "./changes.js";
import { diagram } from "./diagram.js";
import { exporter } from "./export.js";
import { form } from "./form.js";
import { waitGraph } from "./graph.js";
import { eventList, now, rules } from "./happening.js";
import { menu } from "./menu.js";
import { ended, metrics } from "./metrics.js";
import { player } from "./player.js";
import { pointing } from "./pointing.js";
import { fromQuery, isSame, isScript, toHash } from "./spec.js";
import { stateTable } from "./state.js";
import { countAbout, tell } from "./story.js";
import { CLOCKS } from "./times.js";
import { tools } from "./tools.js";
import { change, changing, followed, menuAt, travelled } from "./wishes.js";

export const styles = ["run/page.css"];

/** Opens the page. */
export function open(page, query, app) {
  const state = {
    app,
    page,
    spec: null,
    wish: null,
    run: null,
    story: null,
    cut: 0,
    past: [],
    future: [],
    said: null,
    extra: {},
    asking: null,
    parts: null,
  };
  Object.assign(state, { want: (...what) => wanted(state, ...what), ask: (...what) => ask(state, ...what) });
  const keys = (event) => typed(state, event);
  document.addEventListener("keydown", keys);
  build(state);
  arrive(state, query);
  app.catalog().then((catalog) => controls(state, catalog), (error) => troubled(state, error));
  return {
    update: (next) => arrive(state, next),
    close() {
      document.removeEventListener("keydown", keys);
      state.asking?.abort();
      state.parts.player.stop();
      state.parts.view.close();
      state.parts.menu.remove();
      clearTimeout(state.timer);
    },
  };
}

/** Puts the panels in their places. */
function build(state) {
  const go = (count) => cutAt(state, count);
  const view = diagram();
  const parts = {
    view,
    tools: tools(view, { clocked: () => clocked(state) }),
    player: player(go),
    state: stateTable(),
    graph: waitGraph(),
    now: now(go),
    rules: rules(),
    events: eventList(go),
    metrics: metrics(),
    exporter: exporter(state.app, () => toHash(state.spec, state.cut, clockOf(state)), () => state.parts.view.clock),
    menu: menu(),
    changes: changesPanel(changing(state)),
    form: null,
    controls: h("div", { class: "form-place" }),
    trouble: h("div", { class: "troubles", role: "alert" }),
    title: h("h1", { id: "title" }),
    ending: h("div", {}),
    busy: h("div", { hidden: true }),
  };
  state.parts = parts;
  const picture = panel(
    null,
    { class: "picture-panel" },
    h("div", { class: "row spread" }, parts.title, parts.busy),
    parts.ending,
    parts.tools.element,
    h("div", { class: "diagram-place" }, view.element),
    parts.player.element,
  );
  const aside = h(
    "div",
    { class: "stack aside" },
    panel("What just happened", {}, parts.now.element),
    panel("Wait-for graph", {}, parts.graph.element),
    panel("Changes", {}, parts.changes.element),
  );
  fill(
    state.page,
    parts.controls,
    parts.trouble,
    h(
      "div",
      { class: "run-columns" },
      h("div", { class: "stack" }, picture, panel("State at the cut", { class: "state-panel" }, parts.state.element)),
      aside,
    ),
    h(
      "div",
      { class: "columns run-below" },
      panel("This run against the formula", {}, parts.metrics.element),
      h(
        "div",
        { class: "stack" },
        panel("Rules", {}, parts.rules.element),
        panel("Take it along", {}, parts.exporter.element),
      ),
    ),
    panel(null, { class: "events-panel" }, parts.events.element),
    parts.menu.element,
  );
  parts.pointing = pointing(view, {
    cut: go,
    retime: (way, time) => change(state, { what: "retime", message: way.message, end: way.end, time }),
    canRetime: (way) => state.spec.trace === undefined && !(way.end?.isLost && isScript(state.spec)),
    menu: (target, at) => menuAt(state, target, at),
  });
}

function controls(state, catalog) {
  state.parts.form = form(catalog, (spec) => wanted(state, spec));
  fill(state.parts.controls, state.parts.form.element);
  const spec = state.wish ?? state.spec;
  if (spec) state.parts.form.show(spec, state.run);
}

/** An address was opened: another run, or only another cut of this one. */
function arrive(state, query) {
  const { spec: named, at } = fromQuery(query);
  const spec = query.has("file") ? recorded(state) ?? named : named;
  state.parts.view.clock = CLOCKS.some(([clock]) => clock === query.get("clocks")) ? query.get("clocks") : "";
  state.extra = { tour: query.get("tour"), step: query.get("step"), ...clockOf(state) };
  state.parts.controls.hidden = query.has("tour");
  if (state.run && isSame(spec, state.spec)) return stay(state, at ?? state.run.events.length);
  ask(state, spec, { at, step: "replace", history: travelled(state, spec), about: query.get("about") });
}

/** Another clock was chosen: the address says so, too. */
function clocked(state) {
  Object.assign(state.extra, clockOf(state));
  cutAt(state, state.cut);
}

function clockOf({ parts }) {
  return { clocks: parts.view.clock };
}

/** The recorded file that was opened last; an address has no room for it, so after a reload it is gone, which is said. */
function recorded({ app, spec, past, future }) {
  const some = [...future, ...past, { spec }].map((each) => each.spec).filter((each) => each?.trace !== undefined);
  if (some.length === 0) {
    app.say("A link cannot hold a recorded file: open the file again. Until then this is another run.", "error");
  }
  return some.at(-1) ?? null;
}

/** Somebody wants another run: the old one can be had back. */
function wanted(state, spec, at = null, said = null) {
  if (state.spec && isSame(spec, state.spec)) return stay(state, state.cut);
  ask(state, spec, { at, step: "push", history: followed(state), said });
}

/** The run that is shown stays, whatever else was asked for. */
function stay(state, cut) {
  state.asking?.abort();
  Object.assign(state, { asking: null, wish: null });
  state.parts.busy.hidden = true;
  showTroubles(state);
  state.parts.form?.show(state.spec, state.run);
  cutAt(state, cut);
}

/** Asks for a run. Until it comes, and if it is refused, all stays as it is; only the form may show what was wished. */
async function ask(state, spec, { at, step, history, said = null, about = null }) {
  state.asking?.abort();
  const asking = new AbortController();
  Object.assign(state, { asking, wish: spec });
  const before = state.run;
  state.parts.player.stop();
  const bar = progressBar(() => asking.abort());
  fill(state.parts.busy, bar.element);
  const late = setTimeout(() => {
    if (state.asking === asking) state.parts.busy.hidden = false;
  }, 300);
  try {
    const run = await work("runs", spec, { signal: asking.signal, progress: bar.show });
    if (state.asking !== asking) return;
    const words = said === null ? null : [said, difference(before, run)].filter(Boolean).join(" ") || null;
    Object.assign(state, { spec, wish: null, said: words, ...history });
    arrived(state, run, about === null ? at : at ?? countAbout(run, about), step);
  } catch (error) {
    if (state.asking === asking) refused(state, error, said === null ? spec : state.spec ?? spec);
  } finally {
    clearTimeout(late);
    if (state.asking === asking) state.parts.busy.hidden = true;
  }
}

function refused(state, error, spec) {
  if (error.name !== "AbortError") troubled(state, error);
  state.parts.form?.show(spec, state.run);
}

function difference(before, run) {
  const place = before ? firstDifference(before, run) : null;
  if (place === null) return before ? "Nothing else comes of it." : null;
  return `The run differs from event ${place + 1} on, at time ${(run.events[place] ?? run.events.at(-1))?.time}.`;
}

/** A run has come. */
function arrived(state, run, at, step) {
  const { parts, spec } = state;
  Object.assign(state, { run, story: tell(run) });
  fill(parts.title, run.title ?? run.algorithm, h("span", { class: "soft" }, ` ${about(run)}`));
  fill(parts.ending, ended(run));
  showTroubles(state);
  parts.form?.show(spec, run);
  parts.view.show(run, state.story);
  parts.tools.show(run, state.story);
  parts.player.show(run, state.story);
  parts.metrics.show(run, state.story);
  parts.exporter.show(spec, run);
  const cut = Math.min(at ?? run.events.length, run.events.length);
  if (step === "push") state.app.say(null);
  state.app[step](toHash(spec, cut, state.extra));
  cutAt(state, cut);
}

function showTroubles({ parts, run, spec }) {
  fill(
    parts.trouble,
    run.trouble ? h("p", { class: "note error" }, run.trouble) : null,
    run.warning ? h("p", { class: "note warning", id: "warning" }, `⚠ ${run.warning}`) : null,
    run.memory ? memoryNote(spec) : null,
  );
}

function about(run) {
  const words = [
    `${run.nodes} nodes`,
    `${run.channels} channels`,
    ...Object.entries(run.options ?? {}).map(([name, word]) => `${name} ${word}`),
  ];
  return words.join(" · ");
}

function memoryNote(spec) {
  return h(
    "p",
    { class: "note" },
    "This is a program over shared memory. ",
    h("a", { href: toHash(spec, null).replace("#/run", "#/memory") }, "Look at it line by line"),
    ".",
  );
}

function troubled(state, error) {
  fill(state.parts.trouble, h("p", { class: "note error", id: "trouble" }, error.message));
}

/** Moves the cut, and shows all that was so then. */
function cutAt(state, count) {
  if (!state.run) return;
  const { parts, run, story } = state;
  state.cut = Math.max(0, Math.min(run.events.length, count));
  parts.player.set(state.cut);
  parts.view.setCut(state.cut);
  parts.view.reveal();
  parts.now.show(run, story, state.cut, parts.view.clock);
  parts.graph.show(run, story, state.cut);
  parts.state.show(run, state.cut);
  parts.rules.show(run, state.cut);
  parts.events.show(run, state.cut);
  parts.changes.show(state.spec, run, state.cut, {
    canUndo: state.past.length > 0,
    canRedo: state.future.length > 0,
    said: state.said,
  });
  clearTimeout(state.timer);
  state.timer = setTimeout(() => state.app.replace(toHash(state.spec, state.cut, state.extra)), 150);
}

function typed(state, event) {
  if (!state.run || event.target.closest?.(".menu")) return;
  if (event.key === "z" && (event.ctrlKey || event.metaKey) && !/^(INPUT|TEXTAREA)$/.test(event.target.tagName)) {
    event.preventDefault();
    changing(state)[event.shiftKey ? "redo" : "undo"]();
    return;
  }
  state.parts.player.key(event);
  state.parts.tools.key(event);
}
