// The page *Shared memory*: a program, its registers and its processes, stepped access by access. The run is a script, and the
// address holds it.

import { get } from "../api.js";
import { fill, h, panel } from "../dom.js";
import { watched } from "../check/watch.js";
import { controlsView } from "./controls.js";
import { exercisePanel } from "./exercise.js";
import { history } from "./history.js";
import { keys } from "./keys.js";
import { listing } from "./listing.js";
import { processTable, registerTable, storesView } from "./registers.js";
import { actions, halt, load, trouble } from "./run.js";
import { headingOf, headingOfQuery, scriptOf } from "./script.js";
import { player } from "./stepper.js";

export const styles = ["memory/page.css"];

/** Opens the page. */
export function open(page, query, app) {
  const state = {
    app,
    heading: null,
    run: null,
    steps: [],
    loopAt: null,
    at: 0,
    undo: [],
    choices: null,
    turn: 0,
    timer: null,
    leaving: new AbortController(),
    extra: [],
  };
  const deeds = actions(state);
  Object.assign(state, parts(deeds));
  fill(page, frame(state));
  const release = keys(deeds);
  arrive(state, query);
  return {
    update: (asked) => {
      halt(state);
      arrive(state, asked);
    },
    close: () => {
      halt(state);
      release();
      state.leaving.abort();
    },
  };
}

function parts(deeds) {
  return {
    controls: h("div", { class: "stack", id: "memory-controls" }),
    work: h("div", {}),
    notes: h("div", { class: "stack", id: "findings", "aria-live": "polite" }),
    task: h("div", {}),
    turns: h("div", { class: "turns", id: "turns" }),
    title: h("h2", {}, "Program"),
    about: h("div", {}),
    listing: listing(),
    registers: registerTable(),
    stores: storesView(),
    processes: processTable(),
    history: history((at) => deeds.go(at)),
    player: player(deeds),
  };
}

function frame(state) {
  return h(
    "div",
    { class: "stack" },
    panel(null, {}, h("h1", {}, "Shared memory"), state.controls, state.work),
    state.task,
    state.notes,
    panel("Who makes the next step?", { class: "next" }, state.turns, state.player.element, keyHelp()),
    h(
      "div",
      { class: "memory-grid" },
      h("section", { class: "panel" }, state.title, state.listing.element, state.about),
      h(
        "div",
        { class: "stack" },
        panel("Registers", {}, state.registers.element),
        state.stores.element,
        panel("Processes", {}, state.processes.element),
      ),
      panel("Accesses", {}, state.history.element),
    ),
  );
}

function keyHelp() {
  const key = (name) => h("kbd", {}, name);
  const words = [key("1"), " … ", key("9"), " a step of that process, ", key("←"), " ", key("→"), " back and on, "];
  return h("p", { class: "soft small keys" }, "Keys: ", words, key("space"), " play, ", key("u"), " undo");
}

/** What an address asks for: a script, a program, or a run against a property that a check has to find first. */
async function arrive(state, query) {
  try {
    const catalog = await state.app.catalog();
    const written = query.get("script");
    const text = written === null ? scriptOf(headingOfQuery(query), []) : textOf(written, catalog);
    const extra = ["exercise", "tour", "step"].filter((name) => query.has(name)).map((name) => [name, query.get(name)]);
    Object.assign(state, { undo: [], extra, heading: headingOf(text) });
    state.controls.parentElement.hidden = query.has("tour");
    controlsView(state.controls, state.heading, catalog, state.app);
    fill(state.task, exercisePanel(query.get("exercise"), catalog));
    fill(state.about, aboutProgram(state.heading.program, catalog));
    if (query.get("find")) return await search(state, query.get("find"));
    const at = query.get("at");
    await load(state, text, at === null ? null : Number(at));
  } catch (error) {
    trouble(state, error);
  }
}

function textOf(written, catalog) {
  const name = written.startsWith("example:") ? written.slice("example:".length) : null;
  return name === null ? written : (catalog.scripts.find((script) => script.name === name)?.text ?? written);
}

/** What is to be said about a program, to be unfolded; a specimen's would give away what is wrong. */
function aboutProgram(name, catalog) {
  const about = catalog.programs.find((program) => program.name === name);
  if (!about || about.specimen) return null;
  const said = h("div", {}, "…");
  const element = h("details", { class: "about" }, h("summary", {}, "About this program"), said);
  const tell = ({ page }) => fill(said, page.split("\n\n").map((text) => h("p", {}, text)));
  const ask = () => get(`catalog/${name}`).then(tell, (error) => fill(said, error.message));
  element.addEventListener("toggle", ask, { once: true });
  return element;
}

/** Checks the program against a property and opens the run that breaks it. */
async function search(state, property) {
  const { heading, app } = state;
  const { program, tickets, buffer, ...rest } = heading;
  const body = { ...rest, algorithm: program, properties: [property], ...(tickets ? { tickets: Number(tickets) } : {}) };
  const { result, refusal, cancelled } = await watched(state.work, "checks", body, state.leaving.signal);
  if (refusal) app.say(refusal, "error");
  const found = result?.counterexamples?.find((one) => one.property === property);
  if (found) return load(state, found.script, found.loop_start ?? 0);
  if (!cancelled && result) app.say(`${program} keeps ${property} in this system: there is no run against it.`);
  await load(state, scriptOf(heading, []), null);
}
