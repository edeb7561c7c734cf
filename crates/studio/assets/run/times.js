// Logical time in the diagram: beside each step of a node the Lamport time, the vector time or both of its first and its last event. The server computes
// them; where two would overlap, the later one is left out until there is room, as when one zooms in.

import { fill, svg } from "../dom.js";

/** The clocks that one can choose. */
export const CLOCKS = [["", "no clocks"], ["lamport", "Lamport time"], ["vector", "vector time"], ["both", "both times"]];

const HAS_LAMPORT = new Set(["lamport", "both"]);
const HAS_VECTOR = new Set(["vector", "both"]);

/** Can this clock be shown for a run? There are no vectors of runs that are too large. */
export function isKnown({ clocks }, clock) {
  return (!HAS_LAMPORT.has(clock) || clocks.lamport.length > 0) && (!HAS_VECTOR.has(clock) || clocks.vector.length > 0);
}

/** The time of an event in words, or null. */
export function timeOf({ clocks }, index, clock) {
  const [lamport, vector] = [clocks.lamport[index] ?? null, clocks.vector[index] ?? null];
  const parts = [
    HAS_LAMPORT.has(clock) && lamport !== null ? `Lamport time ${lamport}` : null,
    HAS_VECTOR.has(clock) && vector !== null ? `vector time ${vector}` : null,
  ];
  return parts.filter(Boolean).join(" · ") || null;
}

/** Draws the times of the steps between two places of the picture into a group. */
export function drawTimes(group, { run, story, places, lane, clock }, { left, right }) {
  const { lamport_steps: scalars, vector_steps: vectors } = run.clocks;
  const free = new Map();
  const texts = [];
  (clock && isKnown(run, clock) ? scalars : []).forEach(({ first, text }, place) => {
    const parts = [HAS_LAMPORT.has(clock) ? text : null, HAS_VECTOR.has(clock) ? vectors[place]?.text : null];
    const label = parts.filter(Boolean).join(" ");
    const { node } = story.events[first];
    const [step, wide] = [places.x(story.momentOf[first]), label.length * 6.4];
    // At the right end it stands before its step, where it is not cut.
    const x = step + 4 + wide > places.width ? step - 8 - wide : step + 4;
    if (x < (free.get(node) ?? -Infinity)) return;
    free.set(node, x + wide + 6);
    if (x > right || free.get(node) < left) return;
    const y = lane.y(node) - lane.bar / 2 - 4;
    texts.push(svg("text", { x, y, class: "time", data: { first: first + 1 } }, label));
  });
  fill(group, texts);
}
