// The space-time diagram: a box that scrolls, and in it a picture of only what is seen, so that long runs are as quick as short ones.
//
// The box has the size of the whole picture; its SVG sticks to the corner and shows the window that is scrolled to, with a margin.
// Scrolling moves what is drawn, and only beyond the margin it is drawn anew. What comes after the cut is under a veil.

import { fill, h, svg } from "../dom.js";
import { AXIS, lanes, ways } from "./layout.js";
import { drawArrows, MOST_SINGLE } from "./arrows.js";
import { drawLanes, drawMarks } from "./bands.js";
import { scale, ticks } from "./scale.js";
import { drawCut, placeFlag } from "./cut.js";
import { drawTimes } from "./times.js";
import { sentence } from "./tips.js";

/** Makes a diagram. `run`, `story` come with `show`; what is pointed at is told by `pointing.js`. */
export function diagram({ label = "Space-time diagram" } = {}) {
  const parts = scaffold(label);
  const view = {
    ...parts,
    run: null,
    story: null,
    lane: null,
    places: null,
    all: [],
    shown: [],
    areSingle: true,
    spacing: "time",
    zoom: 1,
    hidden: new Set(),
    clock: "",
    cut: 0,
    chosen: 1,
    drawn: null,
    gutter: 58,
    isWaiting: false,
    isRough: false,
  };
  const soon = () => {
    if (view.isWaiting) return;
    view.isWaiting = true;
    requestAnimationFrame(() => {
      view.isWaiting = false;
      frame(view);
    });
  };
  const measure = () => {
    arrange(view);
    soon();
  };
  parts.box.addEventListener("scroll", soon, { passive: true });
  const watcher = new ResizeObserver(measure);
  watcher.observe(parts.box);
  return Object.assign(view, {
    element: parts.box,
    show: (run, story) => {
      Object.assign(view, { run, story, chosen: 1 });
      measure();
    },
    setCut: (count) => {
      view.cut = count;
      drawCut(view);
    },
    setSpacing: (spacing) => {
      view.spacing = spacing;
      measure();
    },
    setZoom: (zoom, around) => zoomed(view, zoom, around, soon),
    setHidden: (hidden) => {
      view.hidden = hidden;
      redraw(view);
    },
    setClock: (clock) => {
      view.clock = clock;
      redraw(view);
    },
    choose: (number) => {
      view.chosen = number;
      redraw(view);
    },
    reveal: () => reveal(view, soon),
    redraw: () => {
      redraw(view);
    },
    close: () => {
      watcher.disconnect();
      clearTimeout(view.resting);
    },
  });
}

function scaffold(label) {
  const layer = (name) => svg("g", { class: name });
  const layers = {
    grid: layer("grid"),
    marks: layer("marks"),
    bands: layer("bands"),
    arrows: layer("arrows"),
    times: layer("times"),
    cut: layer("cut"),
    spot: layer("spot"),
  };
  const scrolled = svg("g", { class: "scrolled" }, Object.values(layers));
  const axis = layer("axis-layer");
  const labels = layer("labels");
  const hatch = svg(
    "pattern",
    { id: "hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    svg("rect", { width: 6, height: 6, class: "hatch-ground" }),
    svg("rect", { width: 2.2, height: 6, class: "hatch-line" }),
  );
  const corner = svg("rect", { class: "cover", width: 0, height: AXIS - 4 });
  const picture = svg(
    "svg",
    { class: "picture", role: "group", "aria-label": label },
    svg("defs", {}, hatch),
    scrolled,
    axis,
    labels,
    corner,
  );
  const extent = h("div", { class: "extent" }, picture);
  const box = h("div", {
    class: "diagram",
    tabindex: "0",
    role: "region",
    "aria-label": `${label}. Arrow keys step through the run.`,
    data: { diagram: "" },
  }, extent);
  return { box, extent, picture, scrolled, axis, labels, corner, layers };
}

/** Finds all places anew: another run, another zoom, another width of the box. */
function arrange(view) {
  const { box, story, extent } = view;
  if (!story || box.clientWidth === 0) return;
  view.gutter = box.clientWidth < 520 ? 44 : 62;
  view.lane = lanes(story.nodes, story.hasRibbons);
  view.places = scale(story, view.spacing, view.zoom, box.clientWidth - view.gutter);
  view.all = ways(story, view.places, view.lane);
  extent.style.width = `${Math.max(box.clientWidth, view.gutter + view.places.width)}px`;
  extent.style.height = `${view.lane.height}px`;
  view.drawn = null;
}

/** One frame: moves the picture, and draws it anew where the window has left what is drawn. */
function frame(view) {
  const { box, places, lane } = view;
  if (!places) return;
  const [left, top, width, height] = [box.scrollLeft, box.scrollTop, box.clientWidth, box.clientHeight];
  const { drawn } = view;
  const isInside = drawn && left >= drawn.left && left + width <= drawn.right && top >= drawn.top &&
    top + height <= drawn.bottom && drawn.width === width;
  if (!isInside) {
    const [before, behind] = margins(left - (drawn?.at ?? left), width);
    const above = height * 0.5;
    view.drawn = {
      at: left,
      left: left - before,
      right: left + width + behind,
      top: top - above,
      bottom: top + height + above,
      width,
    };
    view.picture.setAttribute("width", width);
    view.corner.setAttribute("width", view.gutter - 4);
    view.picture.setAttribute("height", Math.min(height, lane.height));
    redraw(view, drawn !== null);
  }
  view.scrolled.setAttribute("transform", `translate(${view.gutter - left} ${-top})`);
  view.axis.setAttribute("transform", `translate(${view.gutter - left} 0)`);
  view.labels.setAttribute("transform", `translate(0 ${-top})`);
  placeFlag(view);
  if (view.isRough) rest(view);
}

/** How much is drawn to the left and to the right of the window: more on the side to which it moves. */
function margins(way, width) {
  const [far, near] = [width * 1.5, width * 0.2];
  if (way === 0) return [width * 0.7, width * 0.7];
  return way > 0 ? [near, far] : [far, near];
}

/** Draws what the window and its margin show. While it moves, arrows of a kind are one path; they become single when it rests. */
function redraw(view, isMoving = false) {
  const { drawn, layers, story, places, lane, hidden, run } = view;
  if (!drawn || !story) return;
  const focused = document.activeElement?.closest?.(".message")?.dataset.message;
  const window = { left: drawn.left - view.gutter, right: drawn.right, top: drawn.top, bottom: drawn.bottom };
  const overlaps = ({ x1, x2, y1, y2, message }) =>
    x2 >= window.left && x1 <= window.right &&
    Math.max(y1, y2) >= window.top && Math.min(y1, y2) <= window.bottom && !hidden.has(message.kind);
  view.shown = view.all.filter(overlaps);
  fill(layers.marks);
  drawMarks(layers.marks, story, places, lane);
  fill(layers.bands);
  drawLanes(layers.bands, story, places, lane, window);
  fill(layers.arrows);
  view.areSingle = drawArrows(layers.arrows, view.shown, (message) => sentence(run, message), view.chosen, isMoving);
  drawTimes(layers.times, view, window);
  view.isRough = isMoving && !view.areSingle && view.shown.length <= MOST_SINGLE;
  clearTimeout(view.resting);
  view.picture.dataset.messages = story.messages.length;
  view.picture.dataset.lanes = story.nodes;
  drawAxis(view, window);
  drawCut(view);
  if (focused) layers.arrows.querySelector(`[data-message="${focused}"]`)?.focus({ preventScroll: true });
}

/** Draws all arrows singly once the picture has not moved for a while. */
function rest(view) {
  clearTimeout(view.resting);
  view.resting = setTimeout(() => redraw(view), 180);
}

function drawAxis(view, window) {
  const { places, story, lane, axis, layers } = view;
  const marks = ticks(story, places, Math.max(0, window.left), window.right);
  fill(layers.grid, marks.map(([x]) => svg("path", { d: `M${x} ${AXIS - 4}V${lane.height}`, class: "axis" })));
  fill(
    axis,
    svg("rect", { x: window.left - 9, y: 0, width: window.right - window.left + 99, height: AXIS - 4, class: "cover" }),
    marks.map(([x, text]) => svg("text", { x, y: 14, class: "tick" }, text)),
    svg("g", { class: "flag" }),
  );
}

function zoomed(view, zoom, around, soon) {
  const { box, gutter, places } = view;
  if (!places) return;
  const spot = around ?? (box.clientWidth - gutter) / 2;
  const share = (box.scrollLeft + spot) / places.width;
  view.zoom = Math.min(40, Math.max(0.1, zoom));
  arrange(view);
  box.scrollLeft = share * view.places.width - spot;
  soon();
}

/** Scrolls to the cut, if it is not seen. */
function reveal(view, soon) {
  const { box, places, story, cut, lane, gutter } = view;
  if (!places) return;
  const event = story.events[cut - 1];
  const x = event ? places.x(story.momentOf[cut - 1]) : 0;
  const room = box.clientWidth - gutter;
  const margin = Math.min(90, room / 4);
  if (x < box.scrollLeft + (cut > 0 ? margin : 0) || x > box.scrollLeft + room - margin) box.scrollLeft = x - room / 2;
  if (event) {
    const y = lane.y(event.node);
    if (y < box.scrollTop + AXIS + 20 || y > box.scrollTop + box.clientHeight - 20) {
      box.scrollTop = y - box.clientHeight / 2;
    }
  }
  soon();
}

/** For tests: pans over the diagram for so many frames and says how long each took, in milliseconds. */
export function measurePanning(box, frames = 120) {
  return new Promise((resolve) => {
    const times = [];
    let before = null;
    const far = Math.max(1, box.scrollWidth - box.clientWidth);
    const step = (now) => {
      if (before !== null) times.push(now - before);
      before = now;
      if (times.length >= frames) return resolve(times);
      box.scrollLeft = (far * times.length) / frames;
      box.scrollTop = ((box.scrollHeight - box.clientHeight) * times.length) / frames;
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  });
}
