// The small system in which a specimen shows what is wrong with it: as in the script that ships with it, or, for programs, as
// told here. A check of just that system finds the run.

import { asked } from "./words.js";

/** Programs that are wrong have no scripts; these systems are large enough, and as small as can be. */
const PROGRAMS = {
  "tournament/leaf-first": { nodes: 3 },
  "tournament/missing-barrier": { nodes: 2, memory: "tso" },
  "bakery/maximum-by-position": { nodes: 3 },
  "bakery/maxpos-loop": { nodes: 3 },
};

/** The system, `{nodes, memory}`, in which the mistake of a program can be met; nothing for those that make none in the usual one. */
export function systemOf(program) {
  return PROGRAMS[program] ?? {};
}

/** What a script's heading says, and how often each node asks in it. */
export function headingOf(text) {
  const heading = { algorithm: null, nodes: null, channels: "fifo", options: {}, requests: [], loops: false };
  const asks = new Map();
  for (const written of text.split("\n")) {
    const words = written
      .replace(/#(\D.*)?$/, "")
      .trim()
      .split(/\s+/);
    read(heading, asks, words);
  }
  heading.requests = Array.from({ length: heading.nodes ?? 0 }, (_, index) => asks.get(index + 1) ?? 0);
  return heading;
}

function read(heading, asks, [word, first, second]) {
  switch (word) {
    case "algorithm":
      heading.algorithm = first;
      break;
    case "nodes":
      heading.nodes = Number(first);
      break;
    case "channels":
      heading.channels = first;
      break;
    case "start-inside":
      heading.start_inside = Number(first);
      break;
    case "quorum":
    case "structure":
    case "tree":
    case "arbitration":
      heading.options[word] = first;
      break;
    case "set":
      heading.options[first] = second;
      break;
    case "loop":
      heading.loops = true;
      break;
    case "request":
      asks.set(Number(first), (asks.get(Number(first)) ?? 0) + 1);
      break;
  }
}

/** The script that ships with a specimen, the one with the fewest nodes if there are several; null if none does. */
export function shippedScript(name, catalog) {
  const some = catalog.scripts.filter((script) => script.algorithm === name && !script.memory);
  return some.sort((one, other) => headingOf(one.text).nodes - headingOf(other.text).nodes)[0] ?? null;
}

/** The body of a check of a specimen that finds what is wrong with it. */
export function instanceOf(specimen, catalog) {
  const script = shippedScript(specimen.name, catalog);
  if (!script) return { algorithm: specimen.name, nodes: 2, ...PROGRAMS[specimen.name] };
  const { nodes, channels, options, requests, loops, start_inside } = headingOf(script.text);
  const again = loops ? requests.map(() => "unbounded") : requests;
  return { algorithm: specimen.name, nodes, channels, options, requests: again, ...(start_inside ? { start_inside } : {}) };
}

/** The heading of a script for such a system. */
export function scriptHeading({ algorithm, nodes, channels, options, start_inside, memory, registers, barrier, tickets }) {
  const lines = [`algorithm ${algorithm}`, `nodes ${nodes}`];
  const says = { channels, registers, memory, barrier, tickets, "start-inside": start_inside };
  for (const [word, value] of Object.entries(says)) if (value) lines.push(`${word} ${value}`);
  for (const [name, value] of Object.entries(options ?? {})) lines.push(`set ${name} ${value}`);
  return lines;
}

/** A system in one line: `3 nodes, fifo channels, quorum cyclic`. */
export function systemWords({ nodes, channels, options, requests, memory, registers, barrier, isProgram }) {
  const parts = [`${nodes} ${isProgram ? "processes" : "nodes"}`];
  if (channels) parts.push(channels === "any" ? "channels of any order" : `${channels} channels`);
  for (const [name, value] of Object.entries(options ?? {})) parts.push(`${name} ${value}`);
  if (requests?.length) parts.push(`requests ${asked(requests)}`);
  if (registers && registers !== "atomic") parts.push(registersInWords(registers));
  if (memory && memory !== "sequential") parts.push(`memory ${memory}`);
  if (barrier && barrier !== "on") parts.push(`barrier ${barrier}`);
  return parts.join(", ");
}

/** Registers that are not atomic, with what writes leave that overlap each other. */
function registersInWords(registers) {
  const isAny = registers === "safe-any";
  return `${isAny ? "safe" : registers} registers (${isAny ? "overlapping writes leave any value" : "of overlapping writes the last wins"})`;
}
