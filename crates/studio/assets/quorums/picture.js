// The picture of a quorum system, laid out by the server. Members of the shown quorum are filled, have bold numbers and are joined; crashed
// nodes are crossed out; the node whose quorum is shown has a second ring. Nodes are buttons: one of them is a tab stop, arrow keys
// go to the nearest node in that direction.

import { svg } from "../dom.js";
import { numbers, paint } from "../paint.js";

/** A picture that would have to be smaller scrolls. */
const LEAST_SCALE = 0.7;

/** Draws a system: `{system, crashed, shown: {members, of}, press(node), ask(node)}`. */
export function drawPicture({ system, crashed, shown, press, ask }) {
  const { width, height, elements } = system.layout;
  const state = { members: new Set(shown.members), neighbours: neighboursIn(shown.members), crashed, of: shown.of };
  const picture = svg(
    "svg",
    {
      class: "quorum-picture",
      width,
      height,
      style: { minWidth: `${Math.round(width * LEAST_SCALE)}px` },
      viewBox: `0 0 ${width} ${height}`,
      role: "group",
      "aria-label": `${system.kind} of ${system.n} nodes`,
    },
    elements.filter((element) => isSeen(element, state)).map((element) => paint(element, (one) => stateOf(one, state))),
  );
  const nodes = elements.filter((element) => "data-node" in element);
  const places = new Map(nodes.map((node) => [Number(node["data-node"]), { x: Number(node["data-x"]), y: Number(node["data-y"]) }]));
  listen(picture, places, press, ask);
  return picture;
}

/** The pairs of neighbours in a quorum as `"3 7"`, the last and the first member among them. */
function neighboursIn(members) {
  const pair = (node, index) => [node, members[(index + 1) % members.length]].sort((one, other) => one - other).join(" ");
  return new Set(members.map(pair));
}

/** Chords are there for every pair that a quorum can join; only those of the shown one are seen. */
function isSeen(element, { neighbours }) {
  return !isChord(element) || neighbours.has(element["data-nodes"]);
}

function isChord(element) {
  return element.class === "figure-line chord";
}

/** What the page adds to an element: the classes of its state, and what makes a node a button. */
function stateOf(element, state) {
  if ("data-nodes" in element) return lineState(element, state);
  return "data-node" in element ? nodeState(Number(element["data-node"]), state) : null;
}

function lineState(element, { members, crashed }) {
  const nodes = numbers(element, "nodes");
  const isShown = isChord(element) || nodes.every((node) => members.has(node));
  const isBroken = nodes.some((node) => crashed.has(node));
  return { class: `${element.class}${isShown ? " shown" : ""}${isBroken ? " broken" : ""}` };
}

function nodeState(node, { members, crashed, of }) {
  const [isMember, isCrashed, isOwner] = [members.has(node), crashed.has(node), node === of];
  const told = [`node ${node}`, isCrashed ? "crashed" : "alive", isMember ? "in the shown quorum" : null, isOwner ? "whose quorum it is" : null];
  return {
    class: `quorum-node${isMember ? " member" : ""}${isCrashed ? " crashed" : ""}${isOwner ? " owner" : ""}`,
    role: "button",
    tabindex: node === 1 ? "0" : "-1",
    "aria-pressed": String(isCrashed),
    "aria-label": told.filter(Boolean).join(", "),
  };
}

function listen(picture, places, press, ask) {
  const nodeOf = (event) => Number(event.target.closest("[data-node]")?.dataset.node);
  picture.addEventListener("click", (event) => {
    if (nodeOf(event)) press(nodeOf(event));
  });
  picture.addEventListener("keydown", (event) => {
    const node = nodeOf(event);
    if (!node || event.ctrlKey || event.metaKey || event.altKey) return;
    const action = keyAction(event.key, node, places, picture, press, ask);
    if (!action) return;
    event.preventDefault();
    action();
  });
}

function keyAction(key, node, places, picture, press, ask) {
  if (key === "Enter" || key === " ") return () => press(node);
  if (key === "q") return () => ask(node);
  const next = neighbour(key, node, places);
  return next ? () => focusNode(picture, next) : null;
}

/** Makes a node the tab stop and goes there. */
export function focusNode(picture, node) {
  for (const other of picture.querySelectorAll("[data-node]")) other.setAttribute("tabindex", other.dataset.node === String(node) ? "0" : "-1");
  picture.querySelector(`[data-node="${node}"]`)?.focus();
}

/** The nearest node in the direction of an arrow key. */
function neighbour(key, node, places) {
  const direction = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[key];
  if (!direction) return null;
  const from = places.get(node);
  const far = ([, place]) => {
    const [x, y] = [place.x - from.x, place.y - from.y];
    const [along, aside] = [x * direction[0] + y * direction[1], Math.abs(x * direction[1]) + Math.abs(y * direction[0])];
    return along > 1 ? along + 2 * aside : Infinity;
  };
  const nearest = [...places].map((entry) => [far(entry), entry[0]]).sort(([one], [other]) => one - other)[0];
  return nearest && nearest[0] < Infinity ? nearest[1] : null;
}
