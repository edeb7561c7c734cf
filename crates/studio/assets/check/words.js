// The words of the checker: what each property says, and a verdict as a short text, a sentence and a symbol.

/** What can be decided, in the order of the tables. `over` says where: messages, memory, or both. */
export const PROPERTIES = [
  { name: "mutual-exclusion", short: "exclusion", over: "both", says: "At most one is ever inside." },
  { name: "deadlock-freedom", short: "no deadlock", over: "both", says: "If somebody waits, somebody enters in the end." },
  { name: "starvation-freedom", short: "no starvation", over: "both", says: "Everybody who waits enters in the end." },
  { name: "one-token", short: "one token", over: "messages", says: "There is never more than one token, and it is not lost." },
  { name: "invariants", short: "invariants", over: "both", says: "The algorithm's own invariants hold in every state." },
  { name: "fence", short: "fence", over: "messages", says: "The fence increases from entry to entry." },
  { name: "happened-before-order", short: "order of requests", over: "messages", says: "Requests are served in happened-before order." },
  { name: "fifo", short: "first come", over: "both", says: "Nobody is overtaken by one whose request came later." },
  {
    name: "bounded-waiting",
    short: "overtaken at most",
    over: "both",
    says: "There is a limit to how often one is overtaken while one waits.",
  },
];

/** What a lock must be; the rest some algorithms promise and others do not. */
const OF_A_LOCK = ["mutual-exclusion", "deadlock-freedom", "starvation-freedom", "one-token", "invariants", "fence"];

export function isOfALock(name) {
  return OF_A_LOCK.includes(name);
}

/** The properties that make sense for programs over shared memory, or for algorithms over messages. */
export function propertiesOf(isProgram) {
  return PROPERTIES.filter(({ over }) => over === "both" || over === (isProgram ? "memory" : "messages"));
}

export function propertyNamed(name) {
  return PROPERTIES.find((property) => property.name === name) ?? { name, short: name, says: name };
}

/** A verdict as `holds`, `violated` or `undecided`, for classes and data attributes. */
export function kindOf({ verdict }) {
  return verdict === "holds" || verdict === "violated" ? verdict : "undecided";
}

/** A verdict as it stands in a cell: `✓ holds`, `✗ 6 steps`. */
export function shortly(verdict) {
  const kind = kindOf(verdict);
  if (verdict.name === "bounded-waiting") return overtaken(verdict, kind);
  if (kind === "violated") return verdict.steps ? `✗ ${counted(verdict.steps, "step")}` : "✗ violated";
  if (kind === "undecided") return "? undecided";
  return isFairnessNeeded(verdict) ? `✓ if ${verdict.fairness}ly fair` : "✓ holds";
}

function overtaken({ bound }, kind) {
  if (kind === "violated") return "✗ no limit";
  if (typeof bound !== "number") return kind === "holds" ? "✓ holds" : "? undecided";
  return kind === "holds" ? `✓ ${counted(bound, "time")}` : `? ${bound} or more`;
}

/** The classes of a chip with a verdict: what need not hold is no alarm. */
export function chipClass(verdict) {
  return `chip ${kindOf(verdict)}${isOfALock(verdict.name) ? "" : " optional"}`;
}

/** A verdict as a sentence. */
export function atLength(verdict) {
  const { says } = propertyNamed(verdict.name);
  const parts = [`${says.slice(0, -1)}: ${ending(verdict)}`];
  if (typeof verdict.bound === "number") parts.push(`overtaken ${counted(verdict.bound, "time")} at most in what was seen`);
  parts.push(verdict.extent, verdict.remark);
  return `${parts.filter(Boolean).join("; ")}.`;
}

function ending(verdict) {
  const kind = kindOf(verdict);
  if (kind === "undecided") return "undecided, because not all states were reached";
  if (kind === "holds") return isFairnessNeeded(verdict) ? `holds if the scheduler is ${verdict.fairness}ly fair` : "holds in every run";
  const after = verdict.steps ? `violated, the shortest run has ${counted(verdict.steps, "step")}` : "violated";
  return isFairnessNeeded(verdict) ? `${after}, even if the scheduler is ${verdict.fairness}ly fair` : after;
}

function isFairnessNeeded({ fairness }) {
  return fairness === "weak" || fairness === "strong";
}

/** A number with its noun: `1 step`, `12,345 states`. */
export function counted(number, noun) {
  return `${thousands(number)} ${noun}${number === 1 ? "" : "s"}`;
}

export function thousands(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** How often each node asks: `2,2,1`, with ∞ for again and again. */
export function asked(requests) {
  return (requests ?? []).map((times) => (times === null || times === "unbounded" ? "∞" : times)).join(",");
}

/** Some numbers as words: `1, 2 and 3`. */
export function listed(items) {
  const words = items.map(String);
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
