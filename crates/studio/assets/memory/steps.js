// A run over shared memory as steps: one tick is one step, although several events may tell of it.

import { latest } from "../run/state.js";

/**
 * The steps of a RunView: `{steps: [{node, line, events, count}], loopAt}`. `line` is the script line that makes the step again, and
 * `count` says how many events had happened after it.
 */
export function stepsOf(run, heading) {
  const steps = [];
  let loopAt = null;
  run.events.forEach((event, index) => {
    if (event.event === "loop") {
      loopAt = steps.length;
      return;
    }
    while (steps.length < event.time - 1) steps.push({ node: event.node, line: `step ${event.node}`, events: [], count: index });
    if (steps.length < event.time) steps.push({ node: event.node, line: `step ${event.node}`, events: [], count: index });
    const step = steps.at(-1);
    step.events.push(event);
    step.count = index + 1;
    step.line = lineOf(event, heading) ?? step.line;
  });
  return { steps, loopAt };
}

function lineOf(event, heading) {
  if (event.event !== "access") return null;
  if (event.access === "reach") return `reach ${event.node} ${event.register}`;
  if (event.access === "end" && heading.registers === "safe-any") return `step ${event.node} leaves ${event.value}`;
  const isOpen = event.access === "read" && heading.registers && heading.registers !== "atomic";
  return isOpen ? `step ${event.node} reads ${event.value}` : `step ${event.node}`;
}

/** How many events had happened after so many steps. */
export function countAfter(steps, at) {
  return at > 0 ? steps[at - 1].count : 0;
}

/** What a step did, in the signs of the textbook: `x := 1`. */
export function signs(step) {
  const access = step.events.find(({ event }) => event === "access");
  if (!access) return "goes on";
  const { register, value } = access;
  switch (access.access) {
    case "read":
      return `${register} = ${value}`;
    case "begin":
      return `${register} := ${value} …`;
    case "end":
      return `… ${register} := ${value}`;
    case "reach":
      return `${register} → ${value}`;
    case "barrier":
      return "barrier";
    default:
      return `${register} := ${value}`;
  }
}

/** What came of a step beside its access: enters, leaves, a violation. */
export function outcomeOf(step) {
  const words = { request: "asks", enter: "enters", release: "leaves" };
  return step.events.map(({ event }) => words[event]).filter(Boolean);
}

export function violationOf(step) {
  const found = step?.events.find(({ event }) => event === "violation");
  return found ? String(found.what ?? found.says) : null;
}

/** A process after so many events: `{place, line, fields: [[name, value]], buffer: […], writes: […]}`. */
export function processAt(run, node, count) {
  const state = latest(run.states[node - 1] ?? [], count);
  const process = { phase: state?.phase ?? "outside", place: "remainder", line: null, fields: [], buffer: [], writes: [] };
  run.fields.forEach((name, index) => {
    const value = state?.fields[index];
    if (value === null || value === undefined) return;
    if (name === "next line") process.line = Number(value);
    else if (name === "place") process.place = value;
    else if (name === "buffer" || name === "writes") process[name] = value.split(/\s+/).filter((store) => store.includes(":="));
    else process.fields.push([name, value]);
  });
  return process;
}

/**
 * A round that ends as it began: from an earlier step after which all looked as it does now. The shortest in which nobody is left out
 * if there is one, else the shortest; null if there is none.
 */
export function sameBefore(run, steps, at) {
  const key = (place) => {
    const count = countAfter(steps, place);
    return JSON.stringify([run.states.map((changes) => latest(changes, count)), latest(run.values, count)]);
  };
  const now = key(at);
  let shortest = null;
  for (let place = at - 1; place >= 0; place -= 1) {
    if (key(place) !== now) continue;
    const round = roundSince(run, steps, place, at);
    if (round.idle.length === 0) return round;
    shortest ??= round;
  }
  return shortest;
}

/** What happened in a round that ends as it began: who entered, who waited all the while, who made no step although it was not resting. */
export function roundSince(run, steps, from, at) {
  const some = steps.slice(from, at);
  const entered = new Set(some.filter((step) => step.events.some(({ event }) => event === "enter")).map(({ node }) => node));
  const stepped = new Set(some.map(({ node }) => node));
  const isWaiting = (node) => processAt(run, node, countAfter(steps, at)).phase === "waiting";
  const all = Array.from({ length: run.nodes }, (_, index) => index + 1);
  const starved = all.filter((node) => isWaiting(node) && !entered.has(node));
  const idle = all.filter((node) => !stepped.has(node) && processAt(run, node, countAfter(steps, at)).place !== "remainder");
  return { from, entered: [...entered], starved, idle };
}
