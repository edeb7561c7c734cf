// Pointing at a diagram: what is under the pointer is told, a click moves the cut, the head of an arrow can be dragged to another
// time of delivery, the background can be dragged away, and a menu opens at what can be changed. All of it works by keys, too.

import { fill, h, svg } from "../dom.js";
import { line } from "./arrows.js";
import { endingAt, nearest } from "./layout.js";
import { countAt } from "./story.js";
import { aboutMessage } from "./tips.js";

/**
 * Listens to a diagram. `does` has `cut(count)`, `retime(way, time)`, `menu(target, {x, y})` with a target `{message}` or
 * `{node, time}`, and `canRetime(way)`.
 */
export function pointing(view, does) {
  const tip = h("div", { class: "tip", role: "tooltip", hidden: true });
  view.box.after(tip);
  const state = { view, does, tip, held: null, over: null };
  const { box } = view;
  const listen = (name, act, options) => box.addEventListener(name, (event) => act(state, event), options);
  listen("pointermove", moved);
  listen("pointerdown", pressed);
  listen("pointerup", released);
  listen("pointercancel", dropped);
  listen("pointerleave", left);
  listen("contextmenu", menuWanted);
  listen("wheel", wheeled, { passive: false });
  listen("keydown", typed);
  listen("focusin", focused);
  listen("focusout", left);
  return { hide: () => spot(state, null) };
}

function pointOf(view, event) {
  const area = view.box.getBoundingClientRect();
  const [inX, inY] = [event.clientX - area.left - view.box.clientLeft, event.clientY - area.top - view.box.clientTop];
  return {
    inX,
    inY,
    x: inX - view.gutter + view.box.scrollLeft,
    y: inY + view.box.scrollTop,
    isLabel: inX < view.gutter - 4,
    isBox: inX <= view.box.clientWidth && inY <= view.box.clientHeight,
  };
}

function moved(state, event) {
  const { view, held } = state;
  if (!view.places) return;
  if (held?.kind === "pan") return panned(state, event);
  const point = pointOf(view, event);
  if (held?.kind === "head") return dragged(state, point);
  const found = point.isLabel || event.pointerType === "touch" ? null : nearest(view.shown, point.x, point.y);
  view.box.classList.toggle("on-head", Boolean(found?.isHead && state.does.canRetime(found.way)));
  view.box.classList.toggle("on-arrow", Boolean(found));
  spot(state, found?.way ?? null, point);
}

function pressed(state, event) {
  if (event.button !== 0) return;
  const { view, does } = state;
  const point = pointOf(view, event);
  if (!view.places || !point.isBox) return;
  const found = point.isLabel ? null : nearest(view.shown, point.x, point.y, event.pointerType === "touch" ? 14 : 7);
  state.start = {
    x: event.clientX,
    y: event.clientY,
    left: view.box.scrollLeft,
    top: view.box.scrollTop,
    found,
    point,
  };
  if (found?.isHead && does.canRetime(found.way)) {
    state.held = { kind: "head", way: found.way, isMoved: false };
    view.box.setPointerCapture(event.pointerId);
    event.preventDefault();
  } else if (event.pointerType === "mouse") {
    state.held = { kind: "pan", isMoved: false };
  } else {
    state.held = { kind: "tap" };
  }
}

function panned(state, event) {
  const { view, held, start } = state;
  const [right, down] = [event.clientX - start.x, event.clientY - start.y];
  if (!held.isMoved && Math.hypot(right, down) < 5) return;
  if (!held.isMoved) view.box.setPointerCapture(event.pointerId);
  held.isMoved = true;
  spot(state, null);
  view.box.scrollLeft = start.left - right;
  view.box.scrollTop = start.top - down;
}

/** While a head is dragged, a ghost shows where it would arrive. */
function dragged(state, point) {
  const { view, held } = state;
  if (!held.isMoved && Math.abs(point.x - state.start.point.x) < 4) return;
  held.isMoved = true;
  const sent = view.story.events[held.way.message.index].time;
  held.time = Math.max(sent, view.places.timeAt(Math.max(point.x, held.way.x1)));
  const x = Math.max(held.way.x1, view.places.xOfTime(held.time));
  const ghost = endingAt(held.way, view.places.spacing === "time" ? x : Math.max(held.way.x1, point.x));
  const text = `arrives at ${held.time}`;
  state.tip.hidden = true;
  fill(
    view.layers.spot,
    svg("path", { d: line(ghost), class: "ghost" }),
    svg("circle", { cx: ghost.x2, cy: ghost.y2, r: 6, class: "ghost-head" }),
    svg("text", { x: ghost.x2 + 10, y: ghost.y2 - 8, class: "ghost-text" }, text),
  );
}

function released(state, event) {
  const { view, does, held, start } = state;
  state.held = null;
  if (!held || !view.places) return;
  if (held.kind === "head" && held.isMoved) {
    spot(state, null);
    return does.retime(held.way, held.time);
  }
  if (held.isMoved) return;
  if (held.kind === "tap" && Math.hypot(event.clientX - start.x, event.clientY - start.y) > 10) return;
  if (start.found) {
    return opened(state, { message: start.found.way.message, way: start.found.way }, event.clientX, event.clientY);
  }
  if (start.point.isLabel) {
    return opened(state, { node: view.lane.nodeAt(start.point.y), time: null }, event.clientX, event.clientY);
  }
  does.cut(countAt(view.story, view.places.momentAt(start.point.x + 4)));
}

function dropped(state) {
  state.held = null;
  spot(state, null);
}

function left(state) {
  if (!state.held) spot(state, null);
}

function menuWanted(state, event) {
  const { view } = state;
  if (!view.places) return;
  event.preventDefault();
  state.held = null;
  const byKey = event.clientX === 0 && event.clientY === 0;
  if (byKey) return;
  const point = pointOf(view, event);
  const found = point.isLabel ? null : nearest(view.shown, point.x, point.y);
  const target = found
    ? { message: found.way.message, way: found.way }
    : { node: view.lane.nodeAt(point.y), time: point.isLabel ? null : view.places.timeAt(point.x) };
  opened(state, target, event.clientX, event.clientY);
}

function opened(state, target, x, y) {
  spot(state, null);
  state.does.menu(target, { x, y });
}

function wheeled(state, event) {
  if (!event.ctrlKey) return;
  event.preventDefault();
  const point = pointOf(state.view, event);
  state.view.setZoom(state.view.zoom * Math.exp(-event.deltaY / 300), point.inX - state.view.gutter);
}

/** Up and down go from message to message and from node to node, Enter opens the menu of what has the focus. */
function typed(state, event) {
  const { view } = state;
  const message = event.target.closest(".message");
  const label = event.target.closest(".label");
  if ((event.key === "Enter" || event.key === "ContextMenu") && (message || label)) {
    event.preventDefault();
    event.stopPropagation();
    const area = (message?.querySelector(".grip") ?? label).getBoundingClientRect();
    const target = message
      ? { message: view.story.messages[Number(message.dataset.message) - 1] }
      : { node: Number(label.dataset.label), time: null };
    return opened(state, target, area.left, area.bottom);
  }
  const aside = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (!(message || label) || !aside) return undefined;
  event.preventDefault();
  if (label) return view.labels.querySelector(`[data-label="${Number(label.dataset.label) + aside}"]`)?.focus();
  return chosen(view, Number(message.dataset.message), aside);
}

function chosen(view, number, aside) {
  const { messages } = view.story;
  let next = number + aside;
  while (messages[next - 1] && view.hidden.has(messages[next - 1].kind)) next += aside;
  if (!messages[next - 1]) return;
  const way = view.all.find((each) => each.message.number === next);
  const room = view.box.clientWidth - view.gutter;
  if (way.x1 < view.box.scrollLeft || way.x2 > view.box.scrollLeft + room) view.box.scrollLeft = way.x1 - room / 3;
  view.choose(next);
  requestAnimationFrame(() =>
    view.layers.arrows.querySelector(`[data-message="${next}"][tabindex]`)?.focus({ preventScroll: true })
  );
}

function focused(state, event) {
  const message = event.target.closest?.(".message");
  if (!message || state.held) return;
  const way = state.view.shown.find((each) => each.message.number === Number(message.dataset.message));
  if (way) {
    spot(state, way, {
      inX: way.x2 + state.view.gutter - state.view.box.scrollLeft,
      inY: way.y2 - state.view.box.scrollTop,
    });
  }
}

/** Marks an arrow and tells about it. */
function spot(state, way, point) {
  const { view, tip } = state;
  if (way === state.over && way !== null) return placeTip(view, tip, point);
  state.over = way;
  view.box.classList.toggle("on-arrow", Boolean(way));
  fill(view.layers.spot, way ? svg("path", { d: line(way), class: "spotted" }) : null);
  tip.hidden = way === null;
  if (way === null) return;
  fill(tip, aboutMessage(view.run, view.story, way.message));
  placeTip(view, tip, point);
}

function placeTip(view, tip, { inX, inY }) {
  const [wide, high] = [tip.offsetWidth, tip.offsetHeight];
  const { clientWidth, clientHeight, offsetLeft, offsetTop } = view.box;
  const x = Math.min(Math.max(4, inX + 16), Math.max(4, clientWidth - wide - 4));
  const y = inY + 18 + high > clientHeight ? Math.max(-high / 2, inY - high - 12) : inY + 18;
  tip.style.left = `${offsetLeft + x}px`;
  tip.style.top = `${offsetTop + y}px`;
}
