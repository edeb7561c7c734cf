// The page *Shared memory*: a program, its registers and its processes, stepped access by access. The run is a script, and the
// address holds it.

import { work } from "../api.js";
import { fill, h, panel } from "../dom.js";
import { watched } from "../check/watch.js";
import { controlsView } from "./controls.js";
import { exercisePanel } from "./exercise.js";
import { findings, findingsView } from "./found.js";
import { history } from "./history.js";
import { keys } from "./keys.js";
import { listing } from "./listing.js";
import { processTable, registerTable } from "./registers.js";
import { headingOf, headingOfQuery, queryOfHeading, scriptOf } from "./script.js";
import { choicesView, lineOfKey, player } from "./stepper.js";
import { countAfter, sameBefore, stepsOf } from "./steps.js";

export const styles = ["memory/page.css"];

const PACE = 700;

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
    wanted: null,
    exercise: null,
  };
  Object.assign(state, parts(state));
  fill(page, frame(state));
  const release = keys(actions(state));
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

function parts(state) {
  const { go, play, undo, restart } = actions(state);
  return {
    controls: h("div", { class: "stack", id: "memory-controls" }),
    work: h("div", {}),
    notes: h("div", { class: "stack", id: "findings", "aria-live": "polite" }),
    task: h("div", {}),
    turns: h("div", { class: "turns", id: "turns" }),
    listing: listing(),
    registers: registerTable(),
    processes: processTable(),
    history: history((at) => go(at)),
    player: player({ go, play, undo, restart }),
    heading2: h("h2", {}, "Program"),
  };
}

function frame(state) {
  return h(
    "div",
    { class: "stack" },
    panel(null, {}, h("h1", {}, "Shared memory"), state.controls, state.work),
    state.task,
    state.notes,
    panel(
      "Who makes the next step?",
      { class: "next" },
      state.turns,
      state.player.element,
      h(
        "p",
        { class: "soft small keys" },
        "Keys: ",
        h("kbd", {}, "1"),
        " … ",
        h("kbd", {}, "9"),
        " a step of that process, ",
        h("kbd", {}, "←"),
        " ",
        h("kbd", {}, "→"),
        " back and on, ",
        h("kbd", {}, "space"),
        " play, ",
        h("kbd", {}, "u"),
        " undo",
      ),
    ),
    h(
      "div",
      { class: "memory-grid" },
      h("section", { class: "panel" }, state.heading2, state.listing.element),
      h("div", { class: "stack" }, panel("Registers", {}, state.registers.element), panel("Processes", {}, state.processes.element)),
      panel("Accesses", {}, state.history.element),
    ),
  );
}

/** What an address asks for: a script, a program, or a run against a property that a check has to find first. */
async function arrive(state, query) {
  const { app } = state;
  try {
    const catalog = await app.catalog();
    const written = query.get("script");
    const text = written === null ? scriptOf(headingOfQuery(query), []) : textOf(written, catalog);
    Object.assign(state, { catalog, undo: [], exercise: query.get("exercise") });
    state.heading = headingOf(text);
    controlsView(state.controls, state.heading, catalog, app);
    fill(state.task, exercisePanel(state.exercise, catalog));
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

/** Checks the program against a property and opens the run that breaks it. */
async function search(state, property) {
  const { heading, app } = state;
  const { program, nodes, options, registers, memory, barrier, tickets } = heading;
  const body = {
    algorithm: program,
    nodes,
    options,
    registers,
    memory,
    barrier,
    tickets: tickets ? Number(tickets) : undefined,
    properties: [property],
  };
  const { result, refusal, cancelled } = await watched(state.work, "checks", body, state.leaving.signal);
  if (refusal) app.say(refusal, "error");
  const found = result?.counterexamples?.find((one) => one.property === property);
  if (found) return openFound(state, found);
  if (!cancelled && result) app.say(`${program} keeps ${property} in this system: there is no run against it.`);
  await load(state, scriptOf(heading, []), null);
}

async function openFound(state, found) {
  await load(state, found.script, typeof found.loop_start === "number" ? found.loop_start : 0);
}

/** Has a script played from its start, and shows it at a step, or at its end. */
async function load(state, text, at) {
  const turn = (state.turn += 1);
  const run = await work("runs", { script: text }, { signal: state.leaving.signal, wait: 5000 });
  if (turn !== state.turn) return;
  const heading = headingOf(text);
  const { steps, loopAt } = stepsOf(run, heading);
  Object.assign(state, { run, heading, steps, loopAt, choices: null });
  state.at = Math.min(steps.length, Math.max(0, at ?? steps.length));
  if (run.trouble) state.app.say(run.trouble, "error");
  show(state);
}

function trouble(state, error) {
  if (error.name === "AbortError") return;
  if (error.name !== "Refused") throw error;
  state.app.say(error.message, "error");
}

function show(state) {
  const { run, steps, at, loopAt, heading } = state;
  const [count, before] = [countAfter(steps, at), countAfter(steps, Math.max(0, at - 1))];
  state.heading2.textContent = run.title;
  state.listing.show(run, count, at > 0 ? steps[at - 1].node : null);
  state.registers.show(run, count, before);
  state.processes.show(run, count, before, heading.memory === "tso" || heading.memory === "pso");
  state.history.show(run, steps, at, loopAt);
  state.player.show({ place: at, total: steps.length, isPlaying: state.timer !== null, canUndo: state.undo.length > 0 });
  showFindings(state);
  remember(state);
  choices(state, count);
}

function showFindings(state) {
  const { run, steps, at, loopAt } = state;
  const found = findings(run, steps, at);
  const loop = loopAt === null ? null : sameBefore(run, steps.slice(0, steps.length), steps.length);
  fill(state.notes, findingsView(found, loop && { ...loop, from: loopAt }));
  state.task.firstElementChild?.judge?.(found, at);
}

function remember({ app, heading, steps, loopAt, at, exercise }) {
  const query =
    steps.length === 0
      ? queryOfHeading(heading)
      : new URLSearchParams({
          script: scriptOf(
            heading,
            steps.map(({ line }) => line),
            loopAt,
          ),
          at,
        });
  if (exercise) query.set("exercise", exercise);
  app.replace(`#/memory?${query}`);
}

/** What could be done at the step that is shown: at the end the server has said so, before it must be asked. */
async function choices(state, count) {
  const { run, steps, at, turns, turn } = state;
  const draw = (some) => choicesView(turns, run, count, some, (line) => choose(state, line));
  if (at === steps.length) {
    state.choices = run.choices;
    return draw(run.choices);
  }
  state.choices = null;
  draw(null);
  try {
    const prefix = scriptOf(
      state.heading,
      steps.slice(0, at).map(({ line }) => line),
    );
    const short = await work("runs", { script: prefix }, { signal: state.leaving.signal, wait: 5000 });
    if (state.turn !== turn || state.at !== at) return;
    state.choices = short.choices;
    draw(short.choices);
  } catch (error) {
    trouble(state, error);
  }
}

/** Makes a step. If it is the one that comes anyway, goes on to it; else what came after is given up, until undone. */
async function choose(state, line) {
  const { steps, at, loopAt } = state;
  halt(state);
  if (steps[at]?.line === line) return goTo(state, at + 1);
  const lines = steps.map((step) => step.line);
  state.undo.push({ lines, loopAt, at });
  await replay(state, [...lines.slice(0, at), line], null, at + 1);
}

async function replay(state, lines, loopAt, at) {
  try {
    await load(state, scriptOf(state.heading, lines, loopAt), at);
  } catch (error) {
    trouble(state, error);
  }
}

function goTo(state, place) {
  const { steps, at } = state;
  if (!state.run) return;
  const wanted = { back: at - 1, forward: at + 1, last: steps.length }[place] ?? place;
  state.at = Math.min(steps.length, Math.max(0, wanted));
  show(state);
}

function halt(state) {
  clearInterval(state.timer);
  state.timer = null;
}

/** Everything that buttons and keys do. */
function actions(state) {
  return {
    go: (place) => {
      halt(state);
      goTo(state, place);
    },
    play: () => {
      if (state.timer !== null) {
        halt(state);
        return show(state);
      }
      state.timer = setInterval(() => {
        if (state.at + 1 >= state.steps.length) halt(state);
        goTo(state, "forward");
      }, PACE);
      goTo(state, "forward");
    },
    undo: () => {
      const before = state.undo.pop();
      if (before) replay(state, before.lines, before.loopAt, before.at);
    },
    restart: () => {
      if (!state.run || state.steps.length === 0) return;
      state.undo.push({ lines: state.steps.map(({ line }) => line), loopAt: state.loopAt, at: state.at });
      replay(state, [], null, 0);
    },
    step: (node) => {
      const line = lineOfKey(state.choices, node);
      if (line) choose(state, line);
      else if (state.choices && node <= (state.run?.nodes ?? 0)) state.app.say(`Process ${node} has no single next step: choose a button.`);
    },
  };
}
