// The picture of a quorum system. Members of the shown quorum are filled, have bold numbers and are joined; crashed nodes are crossed
// out; the node whose quorum it is has a second ring. Nodes are buttons: one of them is a tab stop, arrow keys go to the
// nearest node in that direction.

import { svg } from "../dom.js";
import { figure } from "./layout.js";

const MARGIN = 14;
/** A picture that would have to be smaller scrolls. */
const LEAST_SCALE = 0.7;

/** Draws a system: `{system, crashed, shown: {members, of}, press(node), keys}`. */
export function drawPicture({ system, crashed, shown, press, ask }) {
  const drawn = figure(system);
  const box = bounds(drawn);
  const members = new Set(shown.members);
  const picture = svg("svg", {
    class: "quorum-picture",
    width: box.width,
    height: box.height,
    style: { minWidth: `${Math.round(box.width * LEAST_SCALE)}px` },
    viewBox: `${box.left} ${box.top} ${box.width} ${box.height}`,
    role: "group",
    "aria-label": `${system.kind} of ${system.n} nodes`,
  });
  picture.append(...drawn.lines.map((line) => drawLine(line, drawn.places, members, crashed)));
  if (drawn.isRing) picture.append(...chords(shown.members, drawn.places, crashed));
  for (const [node, place] of [...drawn.places].sort(([one], [other]) => one - other)) {
    picture.append(drawNode(node, place, drawn, { isMember: members.has(node), isCrashed: crashed.has(node), isOwner: node === shown.of }));
  }
  listen(picture, drawn.places, press, ask);
  return picture;
}

function bounds({ places, reach, shape }) {
  const wide = (shape === "brick" ? reach * 1.6 : reach) + MARGIN;
  const high = reach + MARGIN;
  const [xs, ys] = [[...places.values()].map((place) => place.x), [...places.values()].map((place) => place.y)];
  const [left, top] = [Math.min(...xs) - wide, Math.min(...ys) - high];
  return { left, top, width: Math.max(...xs) + wide - left, height: Math.max(...ys) + high - top };
}

function drawLine({ nodes, shape }, places, members, crashed) {
  const isShown = nodes.every((node) => members.has(node));
  const isBroken = nodes.some((node) => crashed.has(node));
  const properties = { class: `figure-line${isShown ? " shown" : ""}${isBroken ? " broken" : ""}` };
  const [one, other, third] = nodes.map((node) => places.get(node));
  if (shape !== "round") return svg("path", { ...properties, d: `M${one.x} ${one.y}L${other.x} ${other.y}` });
  const middle = { x: (one.x + other.x + third.x) / 3, y: (one.y + other.y + third.y) / 3 };
  return svg("circle", { ...properties, cx: middle.x, cy: middle.y, r: Math.hypot(one.x - middle.x, one.y - middle.y) });
}

/** From each member to the next, drawn towards the middle so that no other node is in the way. */
function chords(members, places, crashed) {
  if (members.length < 2) return [];
  const pulled = ({ x, y }, pull) => `${x * (1 - pull)} ${y * (1 - pull)}`;
  return members.map((node, index) => {
    const next = members[(index + 1) % members.length];
    const [from, to] = [places.get(node), places.get(next)];
    const isBroken = crashed.has(node) || crashed.has(next);
    const pull = 0.42 * Math.min(1, Math.hypot(from.x - to.x, from.y - to.y) / Math.hypot(from.x, from.y));
    return svg("path", { class: `figure-line shown${isBroken ? " broken" : ""}`, d: `M${from.x} ${from.y}C${pulled(from, pull)} ${pulled(to, pull)} ${to.x} ${to.y}` });
  });
}

function drawNode(node, { x, y }, { shape, reach }, { isMember, isCrashed, isOwner }) {
  const told = [`node ${node}`, isCrashed ? "crashed" : "alive", isMember ? "in the shown quorum" : null, isOwner ? "whose quorum it is" : null];
  const cross = 0.62 * reach;
  return svg(
    "g",
    {
      class: `quorum-node${isMember ? " member" : ""}${isCrashed ? " crashed" : ""}`,
      transform: `translate(${x} ${y})`,
      role: "button",
      tabindex: node === 1 ? "0" : "-1",
      "aria-pressed": String(isCrashed),
      "aria-label": told.filter(Boolean).join(", "),
      "data-node": node,
    },
    outline(shape, reach, "node-shape"),
    isOwner ? outline(shape, reach + 5, "node-owner") : null,
    isCrashed ? svg("path", { class: "node-cross", d: `M${-cross} ${-cross}L${cross} ${cross}M${-cross} ${cross}L${cross} ${-cross}` }) : null,
    svg("text", { "text-anchor": "middle", y: 5 }, node),
  );
}

function outline(shape, reach, name) {
  if (shape === "circle") return svg("circle", { class: name, r: reach });
  const [wide, high] = shape === "brick" ? [reach * 1.6, reach * 0.85] : [reach, reach];
  return svg("rect", { class: name, x: -wide, y: -high, width: 2 * wide, height: 2 * high, rx: 4 });
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
