// Scripts of steps over shared memory: the heading says what runs, each line after it is one step.

import { systemOf } from "../check/instances.js";

const WORDS = ["registers", "memory", "barrier", "buffer", "tickets"];

/** What a script's heading says: `{program, nodes, registers, memory, barrier, buffer, tickets, options}`. */
export function headingOf(text) {
  const heading = { program: "", nodes: 2, options: {} };
  for (const written of text.split("\n")) {
    const [word, first, second] = written.split("#")[0].trim().split(/\s+/);
    if (word === "algorithm") heading.program = first ?? "";
    else if (word === "nodes") heading.nodes = Number(first);
    else if (word === "set" && first) heading.options[first] = second ?? "";
    else if (WORDS.includes(word)) heading[word] = first;
  }
  return heading;
}

/** A script: the heading, the steps with equal ones drawn together, and where it begins to repeat itself. */
export function scriptOf(heading, lines, loopAt = null) {
  const text = [`algorithm ${heading.program}`, `nodes ${heading.nodes}`];
  for (const word of WORDS) if (heading[word]) text.push(`${word} ${heading[word]}`);
  for (const [name, value] of Object.entries(heading.options)) if (value) text.push(`set ${name} ${value}`);
  text.push("");
  const parts = loopAt === null ? [lines] : [lines.slice(0, loopAt), lines.slice(loopAt)];
  return `${[...text, ...parts.flatMap((part, index) => [...(index > 0 ? ["loop"] : []), ...together(part)])].join("\n")}\n`;
}

/** Draws `step 1`, `step 1` together to `step 1 x2`. */
function together(lines) {
  const some = [];
  for (const line of lines) {
    const last = some.at(-1);
    if (last?.line === line && /^step \d+$/.test(line)) last.times += 1;
    else some.push({ line, times: 1 });
  }
  return some.map(({ line, times }) => (times > 1 ? `${line} x${times}` : line));
}

/**
 * The heading that an address asks for: `program=lamport-fast&nodes=2&memory=tso&set.lock=fast`. Where it does not say how many
 * processes there are, a specimen gets the system in which its mistake can be met.
 */
export function headingOfQuery(query) {
  const program = query.get("program") ?? "lamport-fast";
  const usual = query.has("nodes") ? {} : systemOf(program);
  const heading = { program, nodes: Number(query.get("nodes") ?? usual.nodes) || 2, memory: usual.memory, options: {} };
  for (const word of WORDS) if (query.get(word)) heading[word] = query.get(word);
  for (const [name, value] of query) if (name.startsWith("set.")) heading.options[name.slice(4)] = value;
  return heading;
}

/** The same as a query. */
export function queryOfHeading(heading) {
  const query = new URLSearchParams({ program: heading.program, nodes: heading.nodes });
  for (const word of WORDS) if (heading[word]) query.set(word, heading[word]);
  for (const [name, value] of Object.entries(heading.options)) if (value) query.set(`set.${name}`, value);
  return query;
}
