// The run on the page: it is loaded from a script, looked at step by step, and goes on as the reader chooses.

import { work } from "../api.js";
import { fill } from "../dom.js";
import { findings, findingsView } from "./found.js";
import { headingOf, queryOfHeading, scriptOf } from "./script.js";
import { choicesView, lineOfKey } from "./stepper.js";
import { countAfter, roundSince, stepsOf } from "./steps.js";

/** How long a step is shown while it plays, in milliseconds. */
const PACE = 700;

/** Has a script played from its start, and shows it at a step, or at its end. */
export async function load(state, text, at) {
  const turn = (state.turn += 1);
  const run = await work("runs", { script: text }, { signal: state.leaving.signal, wait: 5000 });
  if (turn !== state.turn) return;
  if (!run.memory) return state.app.go(`#/run?${new URLSearchParams({ script: text })}`);
  const heading = headingOf(text);
  const { steps, loopAt } = stepsOf(run, heading);
  // What could not be played to its end does not repeat itself, whatever the script says.
  Object.assign(state, { run, heading, steps, loopAt: run.trouble ? null : loopAt, choices: null });
  state.at = Math.min(steps.length, Math.max(0, at ?? steps.length));
  if (run.trouble) state.app.say(run.trouble, "error");
  show(state);
}

export function trouble(state, error) {
  if (error.name === "AbortError") return;
  if (error.name !== "Refused") throw error;
  state.app.say(error.message, "error");
}

function show(state) {
  const { run, steps, at, loopAt, heading } = state;
  const [count, before] = [countAfter(steps, at), countAfter(steps, Math.max(0, at - 1))];
  state.title.textContent = run.title;
  state.listing.show(run, count, at > 0 ? steps[at - 1].node : null, heading.barrier);
  state.registers.show(run, count, before);
  state.stores.show(run, count, heading);
  state.processes.show(run, count, before);
  state.history.show(run, steps, at, loopAt);
  state.player.show({ place: at, total: steps.length, loopAt, isPlaying: state.timer !== null, canUndo: state.undo.length > 0 });
  showFindings(state);
  remember(state);
  choices(state, count);
}

function showFindings({ run, steps, at, loopAt, notes, task }) {
  const found = findings(run, steps, at);
  const loop = loopAt === null ? null : roundSince(run, steps, loopAt, steps.length);
  fill(notes, findingsView(found, loop));
  task.firstElementChild?.judge?.(found, at);
}

/** The address holds the whole run. */
function remember({ app, heading, steps, loopAt, at, extra }) {
  const lines = steps.map(({ line }) => line);
  const query = lines.length === 0 ? queryOfHeading(heading) : new URLSearchParams({ script: scriptOf(heading, lines, loopAt), at });
  for (const [name, value] of extra) query.set(name, value);
  app.replace(`#/memory?${query}`);
}

/** What could be done at the step that is shown: at the end the server has said so, before it must be asked. */
async function choices(state, count) {
  const { run, steps, at, turns, turn } = state;
  const draw = (some) => {
    state.choices = some;
    choicesView(turns, run, count, some, (line) => choose(state, line));
  };
  if (at === steps.length) return draw(run.choices);
  draw(null);
  try {
    const prefix = scriptOf(
      state.heading,
      steps.slice(0, at).map(({ line }) => line),
    );
    const short = await work("runs", { script: prefix }, { signal: state.leaving.signal, wait: 5000 });
    if (state.turn === turn && state.at === at) draw(short.choices);
  } catch (error) {
    trouble(state, error);
  }
}

/** Makes a step. If it is the one that comes anyway, goes on to it; else what came after is given up, until undone. */
function choose(state, line) {
  const { steps, at } = state;
  halt(state);
  if (steps[at]?.line === line) return goTo(state, at + 1);
  const lines = keep(state);
  replay(state, [...lines.slice(0, at), line], null, at + 1);
}

/** Keeps the run as it is, to be undone to; tells its lines. */
function keep({ undo, steps, loopAt, at }) {
  const lines = steps.map(({ line }) => line);
  undo.push({ lines, loopAt, at });
  return lines;
}

async function replay(state, lines, loopAt, at) {
  try {
    await load(state, scriptOf(state.heading, lines, loopAt), at);
  } catch (error) {
    trouble(state, error);
  }
}

function goTo(state, place) {
  const { steps, at, loopAt } = state;
  if (!state.run) return;
  const next = at === steps.length && loopAt !== null ? loopAt + 1 : at + 1;
  const wanted = { back: at - 1, forward: next, last: steps.length }[place] ?? place;
  state.at = Math.min(steps.length, Math.max(0, wanted));
  show(state);
}

/** Stops playing. */
export function halt(state) {
  clearInterval(state.timer);
  state.timer = null;
}

function play(state) {
  const isPlaying = state.timer !== null;
  halt(state);
  if (isPlaying) return show(state);
  const step = () => {
    if (state.at + 1 >= state.steps.length && state.loopAt === null) halt(state);
    goTo(state, "forward");
  };
  state.timer = setInterval(step, PACE);
  step();
}

function stepOf(state, node) {
  const line = lineOfKey(state.choices, node);
  if (line) return choose(state, line);
  if (!state.choices || node > state.run.nodes) return;
  const canStep = state.choices.some((choice) => choice.node === node && choice.line.startsWith("step"));
  const why = canStep ? "may read one of several values: choose a button" : "cannot make a step now: its writes have to reach memory first";
  state.app.say(`Process ${node} ${why}.`);
}

/** Everything that buttons and keys do. */
export function actions(state) {
  return {
    go: (place) => {
      halt(state);
      goTo(state, place);
    },
    play: () => play(state),
    undo: () => {
      const before = state.undo.pop();
      if (before) replay(state, before.lines, before.loopAt, before.at);
    },
    restart: () => {
      if (state.steps.length === 0) return;
      keep(state);
      replay(state, [], null, 0);
    },
    step: (node) => stepOf(state, node),
  };
}
