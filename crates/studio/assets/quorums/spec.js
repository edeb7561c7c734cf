// Which systems are looked at and what has happened to their nodes, as the address has it: one number of nodes, one set of crashed
// nodes and one chosen node for both systems.

const USUAL = { nodes: "7", left: "plane", right: "tree", of: "1", p: "0.1", y: "linear" };
/** More nodes are not drawn. */
export const MOST_NODES = 64;
/** The probabilities of a crash for which the server rates a system are so far apart. */
export const STEP = 0.05;

/** Reads the part of the address behind the question mark. */
export function read(query) {
  const word = (name) => query.get(name)?.trim() || USUAL[name];
  const nodes = whole(word("nodes"), 7);
  const crashed = (query.get("crashed") ?? "").split(/[\s,]+/).map(Number).filter((node) => isNode(node, nodes));
  const of = Number(word("of"));
  return {
    nodes,
    left: completed(word("left"), nodes),
    right: completed(word("right"), nodes),
    crashed: new Set(crashed),
    of: isNode(of, nodes) ? of : 1,
    p: Number((Math.round(Math.min(1, Math.max(0, Number(word("p")) || 0)) / STEP) * STEP).toFixed(2)),
    y: word("y") === "log" ? "log" : "linear",
  };
}

/** The address of what is shown; what is usual is left out. */
export function address(spec) {
  const words = [];
  const add = (name, value) => {
    if (String(value) !== (USUAL[name] ?? "")) words.push(`${name}=${encodeURIComponent(value).replaceAll("%2C", ",").replaceAll("%3A", ":")}`);
  };
  for (const name of ["nodes", "left", "right"]) add(name, spec[name]);
  add("crashed", [...spec.crashed].sort((one, other) => one - other).join(","));
  for (const name of ["of", "p", "y"]) add(name, spec[name]);
  return words.length > 0 ? `#/quorums?${words.join("&")}` : "#/quorums";
}

/** Another number of nodes: what cannot stay as it is follows. */
export function withNodes(spec, nodes) {
  const crashed = new Set([...spec.crashed].filter((node) => node <= nodes));
  const of = spec.of <= nodes ? spec.of : 1;
  return { ...spec, nodes, crashed, of, left: fitted(spec.left, nodes), right: fitted(spec.right, nodes) };
}

/** Another kind at one side; a wall or votes that are of other numbers of nodes change that number. */
export function withKind(spec, side, word) {
  const implied = impliedNodes(word);
  const next = { ...spec, [side]: word };
  return implied && implied !== spec.nodes ? withNodes(next, Math.min(implied, MOST_NODES)) : next;
}

/** The word for a kind among so many nodes, with numbers to begin with where it needs some. */
export function firstWord(kind, nodes) {
  if (kind === "wall") return `wall:${widths(nodes)}`;
  if (kind === "weighted") return `weighted:${[Math.min(3, nodes), ...Array(nodes - 1).fill(1)].join(",")}`;
  return kind;
}

/** The kind of a word, and what is behind its colon. */
export function parts(word) {
  const at = word.indexOf(":");
  return at < 0 ? { kind: word, after: "" } : { kind: word.slice(0, at), after: word.slice(at + 1) };
}

/** A wall or votes without numbers get some. */
function completed(word, nodes) {
  return word.includes(":") ? word : firstWord(word, nodes);
}

function fitted(word, nodes) {
  const implied = impliedNodes(word);
  return implied && implied !== nodes ? firstWord(parts(word).kind, nodes) : word;
}

/** How many nodes a wall or a list of votes speaks of. */
function impliedNodes(word) {
  const { kind, after } = parts(word);
  const numbers = after.split(",").map(Number);
  if (after === "" || numbers.some((number) => !Number.isInteger(number) || number < 0)) return null;
  if (kind === "weighted") return numbers.length;
  return kind === "wall" ? numbers.reduce((sum, width) => sum + width, 0) : null;
}

/** Rows of 1, 2, 2, 3, 3, 4, … nodes, the last of what is left. */
function widths(nodes) {
  const rows = [];
  for (let left = nodes; left > 0; left -= rows.at(-1)) {
    const width = 1 + Math.ceil(rows.length / 2);
    rows.push(left < 2 * width && rows.length > 0 ? left : Math.min(width, left));
  }
  return rows.join(",");
}

function isNode(number, nodes) {
  return Number.isInteger(number) && number >= 1 && number <= nodes;
}

function whole(word, otherwise) {
  const number = Number(word);
  return Number.isInteger(number) && number >= 1 ? Math.min(number, MOST_NODES) : otherwise;
}
