// The cut through a diagram, and the names of nodes with what they hold at it.

import { fill, svg } from "../dom.js";
import { AXIS } from "./layout.js";
import { latest } from "./state.js";

/** The cut: a line, a flag with its time, the veil, a ring around the event, and the labels of nodes as they are then. */
export function drawCut(view) {
  const { story, places, lane, cut, layers, axis, run } = view;
  if (!places || !view.drawn) return;
  const event = story.events[cut - 1];
  const x = event ? places.x(story.momentOf[cut - 1]) : 6;
  const ring = event && event.event !== "loop"
    ? svg("circle", { cx: x, cy: lane.y(event.node), r: lane.bar / 2 + 4, class: "ring" })
    : null;
  const isOver = cut >= story.events.length;
  fill(
    layers.cut,
    isOver
      ? null
      : svg("rect", { x: x + 1, y: 0, width: Math.max(0, places.width - x + 400), height: lane.height, class: "veil" }),
    svg("path", { d: `M${x} ${AXIS - 6}V${lane.height}`, class: "now", data: { cut } }),
    ring,
  );
  const text = event ? `t = ${event.time}` : "start";
  const wide = text.length * 6.6 + 10;
  view.flag = { x, wide };
  fill(
    axis.querySelector(".flag") ?? axis,
    svg("rect", { x: -wide / 2, y: 2, width: wide, height: 16, rx: 3, class: "flag-ground" }),
    svg("text", { x: 0, y: 14, class: "flag-text" }, text),
  );
  placeFlag(view);
  drawLabels(view, run);
}

/** Puts the flag above its line, and wholly into the window as long as the line is in it. */
export function placeFlag({ flag, axis, box, gutter }) {
  if (!flag) return;
  const [left, right] = [box.scrollLeft, box.scrollLeft + box.clientWidth - gutter];
  const isSeen = flag.x >= left && flag.x <= right;
  const inside = Math.max(left + flag.wide / 2, Math.min(right - flag.wide / 2 - 1, flag.x));
  axis.querySelector(".flag")?.setAttribute("transform", `translate(${isSeen ? inside : flag.x} 0)`);
}

function drawLabels(view, run) {
  const { lane, labels, gutter, drawn, cut } = view;
  const focused = document.activeElement?.closest?.(".label")?.dataset.label;
  const here = Number(focused ?? view.story.events[cut - 1]?.node ?? 1);
  const items = [
    svg("rect", { x: 0, y: drawn.top - 99, width: gutter - 4, height: drawn.bottom - drawn.top + 198, class: "cover" }),
  ];
  for (let node = lane.nodeAt(drawn.top); node <= lane.nodeAt(drawn.bottom); node += 1) {
    const state = cut <= run.known ? latest(run.states[node - 1] ?? [], cut) : null;
    const phase = state?.phase ?? "outside";
    const y = lane.y(node);
    items.push(
      svg(
        "g",
        {
          class: `label ${phase}`,
          tabindex: node === here ? "0" : "-1",
          role: "button",
          "aria-label": `Node ${node}, ${phase}: what can be done to it`,
          data: { label: node },
        },
        svg("rect", {
          x: 2,
          y: y - lane.pitch / 2 + 2,
          width: gutter - 8,
          height: lane.pitch - 4,
          rx: 4,
          class: "label-ground",
        }),
        svg("text", { x: 8, y: y + 5, class: "label-number" }, node),
        lane.pitch >= 34 ? held(state?.permission, y, lane) : null,
      ),
    );
  }
  fill(labels, items);
  if (focused) labels.querySelector(`[data-label="${focused}"]`)?.focus({ preventScroll: true });
}

function held(permission, y, lane) {
  const text = permission?.token ? "token" : typeof permission?.vote === "number" ? `vote ${permission.vote}` : null;
  return text ? svg("text", { x: 8, y: y + lane.bar / 2 + 11, class: "label-held" }, text) : null;
}
