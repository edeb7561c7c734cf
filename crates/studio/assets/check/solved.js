// Whether a run of an exercise has come to what was looked for: something that must never happen, a standstill, or one who is
// passed over again and again.

import { latest } from "../run/state.js";
import { listed } from "./words.js";

/** How often one must be passed over, all its requests having arrived, before it counts as starved. */
const PASSED = 4;

/** What went wrong in a run so far, as a sentence; null if nothing did. */
export function wentWrong(run, goal) {
  const isStarvation = goal.property === "starvation-freedom";
  return violation(run) ?? standstill(run) ?? (isStarvation ? passedOver(run) : null);
}

function violation(run) {
  const found = run.events.find(({ event }) => event === "violation");
  if (!found) return null;
  const inside = inPhase(run, "inside");
  if (inside.length > 1) return `nodes ${listed(inside)} are inside together`;
  return String(found.what ?? found.says);
}

/** The nodes in a phase at the end of a run. */
export function inPhase(run, phase) {
  const numbers = run.states.map((changes, index) => (latest(changes, run.events.length)?.phase === phase ? index + 1 : null));
  return numbers.filter((number) => number !== null);
}

function standstill(run) {
  const waiting = inPhase(run, "waiting");
  const canGoOn = run.choices.some(({ line }) => /^(deliver|release)\b/.test(line));
  if (waiting.length === 0 || canGoOn || inPhase(run, "inside").length > 0) return null;
  const [who, waits] = waiting.length === 1 ? ["node", "waits"] : ["nodes", "wait"];
  return `nothing is in flight, nobody is inside, and ${who} ${listed(waiting)} ${waits} for ever`;
}

/** One whose request has arrived everywhere, and after whom others entered again and again. */
function passedOver(run) {
  const since = new Map();
  const flying = new Map();
  const passed = new Map();
  const add = (node, by) => flying.set(node, (flying.get(node) ?? 0) + by);
  for (const event of run.events) {
    const { node } = event;
    if (event.event === "request") since.set(node, 0);
    if (event.event === "send" && event.kind === "REQUEST") add(node, 1);
    if ((event.event === "deliver" || event.event === "lost") && event.kind === "REQUEST") add(event.from ?? node, -1);
    if (event.event !== "enter") continue;
    since.delete(node);
    passed.delete(node);
    for (const other of since.keys()) if ((flying.get(other) ?? 0) === 0) passed.set(other, (passed.get(other) ?? 0) + 1);
  }
  const found = [...passed].find(([, times]) => times >= PASSED);
  return found
    ? `node ${found[0]} has been passed over ${found[1]} times since its request had arrived everywhere, and it can go on like that for ever`
    : null;
}
