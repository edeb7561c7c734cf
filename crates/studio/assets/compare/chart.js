// Charts that the server has laid out: this paints them and adds what a reader can do. One mark is a tab stop; arrow keys go from it along
// its series and from series to series. A mark is pointed at from a few pixels away, and together with those that it covers.

import { svg } from "../dom.js";
import { paint } from "../paint.js";

/** With more series than this the bands would hide each other: only the one that is looked at has its band. */
const MOST_BANDS = 4;
/** A mark is meant from so many pixels away. */
const REACH = 13;

/**
 * Paints a chart. `look.describe(name, at)` says a mark in words, `look.at(names, mark, at)` is told which mark is looked at and which
 * series have it, `look.away()` that none is, `look.choose(name, at)` a click.
 */
export function paintChart(layout, look) {
  const bands = layout.elements.filter((element) => element.class?.startsWith("series"));
  const picture = svg(
    "svg",
    {
      class: bands.length > MOST_BANDS ? "chart many" : "chart",
      width: layout.width,
      height: layout.height,
      role: "group",
      "aria-label": layout.description,
    },
    layout.elements.map((element) => paint(element)),
  );
  // The page has tooltips of its own.
  for (const title of picture.querySelectorAll("title")) title.remove();
  listen(picture, look);
  return picture;
}

/** A small picture of a series, from the server's legend. */
export function sample(entry) {
  return svg(
    "svg",
    { class: "sample", width: 22, height: 14, viewBox: "-11 -7 22 14", "aria-hidden": "true" },
    (entry?.elements ?? []).map((element) => paint(element)),
  );
}

/** Brings one series forward, with those that it covers, and lets the others step back; none, if there is no name. */
export function emphasise(picture, name, covered = []) {
  picture.classList.toggle("has-one", name !== null);
  for (const part of picture.querySelectorAll("[data-name]")) {
    part.classList.toggle("is-one", part.dataset.name === name);
    part.classList.toggle("is-covered", covered.includes(part.dataset.name));
  }
}

function nameOf(mark) {
  return mark.closest("[data-name]").dataset.name;
}

/** All series that have a mark at the place of this one. */
function namesAt(mark) {
  return [nameOf(mark), ...(mark.dataset.also?.split(", ") ?? [])];
}

/** The middle of a mark, in pixels of the picture. */
export function middle(mark) {
  const { x, y, width, height } = mark.getBBox();
  return [x + width / 2, y + height / 2];
}

function listen(picture, look) {
  const marks = [...picture.querySelectorAll(".series .mark")];
  marks.forEach((mark, index) => {
    mark.setAttribute("role", "button");
    mark.setAttribute("tabindex", index === 0 ? "0" : "-1");
    mark.setAttribute("aria-label", look.describe(nameOf(mark), Number(mark.dataset.at)));
  });
  let shown = null;
  const attend = (mark) => {
    if (mark === shown) return;
    shown = mark;
    for (const other of marks) other.setAttribute("tabindex", other === mark ? "0" : "-1");
    const [name, ...covered] = namesAt(mark);
    emphasise(picture, name, covered);
    look.at([name, ...covered], mark, Number(mark.dataset.at));
  };
  const leave = () => {
    shown = null;
    emphasise(picture, null);
    look.away();
  };
  const choose = (mark) => look.choose(nameOf(mark), Number(mark.dataset.at));
  const meant = (event) => event.target.closest(".series .mark") ?? nearest(marks, event.offsetX, event.offsetY);
  picture.addEventListener("pointermove", (event) => {
    const mark = meant(event);
    const label = event.target.closest(".label");
    if (mark) attend(mark);
    else if (label) emphasise(picture, label.dataset.name);
    else if (!marks.includes(document.activeElement)) leave();
  });
  picture.addEventListener("pointerleave", leave);
  picture.addEventListener("click", (event) => {
    const mark = meant(event);
    if (mark) choose(mark);
  });
  picture.addEventListener("focusin", (event) => marks.includes(event.target) && attend(event.target));
  picture.addEventListener("focusout", leave);
  picture.addEventListener("keydown", (event) => marks.includes(event.target) && onKey(event, marks, choose));
}

/** The mark that is nearest to a place of the picture, if it is near. */
function nearest(marks, x, y) {
  const far = (mark) => {
    const [left, top] = middle(mark);
    return Math.hypot(left - x, top - y);
  };
  const best = marks.map((mark) => [far(mark), mark]).sort(([one], [other]) => one - other)[0];
  return best && best[0] <= REACH ? best[1] : null;
}

function onKey(event, marks, choose) {
  if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    choose(event.target);
    return;
  }
  const next = neighbour(event.key, event.target, marks);
  if (!next) return;
  event.preventDefault();
  next.focus();
}

/** The next mark along the series, or the next one above or below at the same N. */
function neighbour(key, mark, marks) {
  const along = marks.filter((other) => nameOf(other) === nameOf(mark));
  if (key === "ArrowRight") return along[along.indexOf(mark) + 1];
  if (key === "ArrowLeft") return along[along.indexOf(mark) - 1];
  if (key !== "ArrowUp" && key !== "ArrowDown") return undefined;
  const column = marks.filter((other) => other.dataset.at === mark.dataset.at);
  column.sort((one, other) => middle(other)[1] - middle(one)[1]);
  return column[column.indexOf(mark) + (key === "ArrowUp" ? 1 : -1)];
}
