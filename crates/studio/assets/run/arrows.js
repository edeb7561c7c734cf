// Draws messages. A few are elements of their own, which can be focused and asked; of many, all of a kind are one path.

import { svg } from "../dom.js";
import { headElement, headPath, look } from "../kinds.js";
import { direction } from "./layout.js";

/** With more arrows than this in the window, nobody could point at one of them anyway, and the browser would be slow. */
export const MOST_SINGLE = 300;
/** While the picture moves, even fewer. */
const MOST_MOVING = 40;

/** Draws these ways into a group. Returns whether each has an element of its own. */
export function drawArrows(group, shown, describe, chosen, isMoving) {
  if (shown.length > (isMoving ? MOST_MOVING : MOST_SINGLE)) {
    group.append(...batches(shown));
    return false;
  }
  group.append(...shown.map((way) => single(way, describe, chosen)));
  return true;
}

/** One arrow with all that tests and keyboards need. */
function single(way, describe, chosen) {
  const { message, end } = way;
  const { hue, dash } = look(message.kind);
  const path = line(way);
  const data = {
    message: message.number,
    kind: message.kind,
    from: message.from,
    to: message.to,
    event: message.index + 1,
    end: end ? end.index + 1 : null,
    fate: !end ? "under-way" : end.isLost ? "lost" : "delivered",
  };
  const isFirst = end === null || message.ends[0] === end;
  const isChosen = message.number === chosen && isFirst;
  return svg(
    "g",
    {
      class: "message",
      data,
      tabindex: isFirst ? (isChosen ? "0" : "-1") : null,
      role: "button",
      "aria-label": isFirst ? describe(message) : null,
      "aria-hidden": isFirst ? null : "true",
    },
    svg("path", { d: path, class: "reach" }),
    svg("path", { d: path, class: `line hue${hue}-line`, "stroke-dasharray": dash || null }),
    tip(way),
    svg("circle", { cx: round(way.x2), cy: round(way.y2), r: 10, class: "grip" }),
  );
}

/** What an arrow ends in: a head, a cross for a loss, an empty circle while it is in flight. */
function tip(way) {
  const { message, end, x2, y2 } = way;
  const { hue } = look(message.kind);
  if (end === null) {
    return svg("circle", { cx: x2, cy: y2, r: 3.5, class: `hue${hue}-line hollow`, "stroke-width": 1.4 });
  }
  if (end.isLost) return svg("path", { d: cross(x2, y2), class: `cross hue${hue}-line` });
  const [right, down] = direction(way);
  const turn = (Math.atan2(down, right) * 180) / Math.PI;
  return headElement(message.kind, { transform: `translate(${round(x2)} ${round(y2)}) rotate(${round(turn)})` });
}

function batches(shown) {
  const byKind = new Map();
  for (const way of shown) {
    const { kind } = way.message;
    if (!byKind.has(kind)) byKind.set(kind, { lines: [], heads: [], crosses: [] });
    const batch = byKind.get(kind);
    batch.lines.push(line(way));
    if (way.end?.isLost) batch.crosses.push(cross(way.x2, way.y2));
    else if (way.end) batch.heads.push(head(way));
  }
  return [...byKind].flatMap(([kind, batch]) => {
    // Without dashes: browsers take many times as long to paint thousands of dashed lines, and among so many nobody sees them.
    const { hue } = look(kind);
    const filled = headPath(look(kind).head).filled === true ? `hue${hue}` : "hollow";
    return [
      svg("path", {
        d: batch.lines.join(""),
        class: `batch hue${hue}-line`,
        data: { kind, messages: batch.lines.length },
      }),
      svg("path", { d: batch.heads.join(""), class: `head hue${hue}-line ${filled}` }),
      svg("path", { d: batch.crosses.join(""), class: `cross hue${hue}-line` }),
    ];
  });
}

/** A small triangle at the end of a way. */
function head(way) {
  const { x2, y2 } = way;
  const [along, across] = direction(way);
  const [back, aside] = [7, 3];
  const corner = (side) =>
    `${round(x2 - along * back - across * aside * side)} ${round(y2 - across * back + along * aside * side)}`;
  return `M${round(x2)} ${round(y2)}L${corner(1)}L${corner(-1)}Z`;
}

function cross(x, y) {
  const [left, right, top, bottom] = [x - 5, x + 5, y - 5, y + 5].map(round);
  return `M${left} ${top}L${right} ${bottom}M${left} ${bottom}L${right} ${top}`;
}

/** The path of a way. */
export function line({ x1, y1, x2, y2, controls }) {
  const point = (x, y) => `${round(x)} ${round(y)}`;
  if (!controls) return `M${point(x1, y1)}L${point(x2, y2)}`;
  return `M${point(x1, y1)}C${controls.map(([x, y]) => point(x, y)).join(" ")} ${point(x2, y2)}`;
}

function round(value) {
  return Math.round(value * 10) / 10;
}
