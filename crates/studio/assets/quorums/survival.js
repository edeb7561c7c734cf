// Which quorums are left when some nodes have crashed. A quorum survives if all of its members do.

/** What is left of a system: the assigned quorums by node, and of all minimal quorums if the server listed them. */
export function survival(system, crashed) {
  const isAlive = (quorum) => quorum.every((node) => !crashed.has(node));
  const assigned = system.quorums.map((members, index) => ({ node: index + 1, members, isAlive: isAlive(members) }));
  const listed = system.minimal ?? distinct(system.quorums);
  const alive = listed.filter(isAlive);
  return { assigned, listed, alive, isComplete: Array.isArray(system.minimal) };
}

/** One sentence that tells what is left. */
export function sentence(system, crashed, left) {
  const whole = left.isComplete ? "minimal quorums" : "assigned quorums";
  const gone = crashed.size === 0 ? "All nodes are alive" : `${nodes([...crashed], "N")} crashed`;
  if (left.alive.length > 0) return `${gone}: ${left.alive.length} of ${left.listed.length} ${whole} survive${left.alive.length === 1 ? "s" : ""}.`;
  if (left.isComplete) return `${gone}: no quorum survives, so nobody can enter.`;
  return `${gone}: none of the ${left.listed.length} ${whole} survives; the system has more than are listed.`;
}

/** Of which nodes the assigned quorum survives, in one sentence. */
export function assignedSentence(left) {
  const able = left.assigned.filter((quorum) => quorum.isAlive).map((quorum) => quorum.node);
  if (able.length === 0) return "None of them survives.";
  if (able.length === left.assigned.length) return "All of them survive.";
  return able.length === 1 ? `Only that of ${nodes(able)} survives.` : `Those of ${nodes(able)} survive.`;
}

function nodes(numbers, initial = "n") {
  const sorted = [...numbers].sort((one, other) => one - other);
  return sorted.length === 1 ? `${initial}ode ${sorted[0]}` : `${initial}odes ${sorted.join(", ")}`;
}

function distinct(quorums) {
  const seen = new Map(quorums.map((quorum) => [quorum.join(" "), quorum]));
  return [...seen.values()];
}
