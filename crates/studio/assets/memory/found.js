// What there is to say about the run so far: two inside together, or a round that ends as it began and can be repeated for ever.

import { h } from "../dom.js";
import { listed } from "../check/words.js";
import { sameBefore, violationOf } from "./steps.js";

/** What was found up to a step: `{violation, round}`. */
export function findings(run, steps, at) {
  const wrong = steps.slice(0, at).map(violationOf).find(Boolean) ?? null;
  return { violation: wrong, round: at > 0 ? sameBefore(run, steps, at) : null };
}

/** The same as notes. */
export function findingsView({ violation, round }, loop) {
  const notes = [];
  if (violation) notes.push(h("p", { class: "note error", data: { found: "violation" } }, `✗ ${capital(violation)}.`));
  if (loop) notes.push(h("p", { class: "note", data: { found: "loop", starves: loop.starved.join(" ") } }, loopWords(loop)));
  else if (round && round.starved.length > 0) notes.push(h("p", { class: "note", data: { found: "round" } }, roundWords(round)));
  return notes;
}

function loopWords({ from, starved }) {
  return `The run repeats itself for ever: what comes after step ${from} ends where it began. ${starvedWords(starved, "It is a lasso: ")}`;
}

function starvedWords(starved, before) {
  if (starved.length === 0) return "";
  const one = starved.length === 1;
  return `${before}process${one ? "" : "es"} ${listed(starved)} wait${one ? "s" : ""} all the while and starve${one ? "s" : ""}.`;
}

function roundWords({ from, entered, starved, idle }) {
  const others = entered.length > 0 ? `, while process ${listed(entered)} entered` : ", and nobody entered";
  const unfair = idle.length > 0 ? ` Process ${listed(idle)} made no step in it, though: a fair scheduler would not allow that.` : "";
  return `All is again as it was after step ${from}, so this round can be repeated for ever: process ${listed(starved)} waits all the while${others}.${unfair}`;
}

/** Whether an exercise is solved, as a sentence. */
export function solvedWords({ violation, round }, goal) {
  if (goal.property === "mutual-exclusion" || goal.property === "invariants") return violation;
  if (violation) return violation;
  if (!round || round.starved.length === 0 || round.idle.length > 0) return null;
  if (goal.property === "deadlock-freedom" && round.entered.length > 0) return null;
  return `process${round.starved.length > 1 ? "es" : ""} ${listed(round.starved)} can wait like this for ever`;
}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
