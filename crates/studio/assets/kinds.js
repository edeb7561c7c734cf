// What a kind of message looks like: a hue, a dash and a head, so that nobody needs the colour to tell kinds apart.
//
// The hues follow M. Okabe and K. Ito, "Color universal design" (2008); base.css has them as --hue0 to --hue8 with a contrast of at
// least 4.5 to 1 in both themes. A kind has the same look on every page and for every algorithm.

import { h, svg } from "./dom.js";

const LOOKS = {
  REQUEST: { hue: 0, dash: "", head: "triangle" },
  REPLY: { hue: 2, dash: "10 3", head: "hollow-triangle" },
  LOCKED: { hue: 2, dash: "10 3", head: "hollow-triangle" },
  GRANT: { hue: 2, dash: "10 3", head: "hollow-triangle" },
  FAILED: { hue: 1, dash: "5 3", head: "chevron" },
  INQUIRE: { hue: 4, dash: "2 3", head: "diamond" },
  TRANSFER: { hue: 4, dash: "2 3", head: "diamond" },
  RELINQUISH: { hue: 3, dash: "10 3 2 3", head: "disc" },
  YIELD: { hue: 3, dash: "10 3 2 3", head: "disc" },
  RELEASE: { hue: 8, dash: "14 4", head: "hollow-diamond" },
  TOKEN: { hue: 1, dash: "", head: "disc" },
  ENTER: { hue: 5, dash: "6 3 2 3 2 3", head: "chevron" },
};

const REST = [
  { hue: 5, dash: "6 3 2 3 2 3", head: "chevron" },
  { hue: 6, dash: "4 2", head: "diamond" },
  { hue: 7, dash: "1.5 5", head: "hollow-triangle" },
];

/** The look of a kind: `{hue, dash, head}`; draw with the classes `hueN` (fill) and `hueN-line` (stroke). */
export function look(kind) {
  if (Object.hasOwn(LOOKS, kind)) return LOOKS[kind];
  let sum = 0;
  for (const letter of String(kind)) sum = (sum * 31 + letter.codePointAt(0)) % 9973;
  return REST[sum % REST.length];
}

/** The path of a head that points to the right and has its tip at 0, 0; is it filled, or drawn as strokes only? */
export function headPath(head) {
  switch (head) {
    case "chevron":
      return { path: "M-8-4.5L0 0L-8 4.5", filled: false };
    case "diamond":
      return { path: "M0 0L-5-4L-10 0L-5 4Z", filled: true };
    case "hollow-triangle":
      return { path: "M0 0L-9-4.5V4.5Z", filled: "paper" };
    case "disc":
      return { path: "M0 0A4 4 0 1 0-8 0A4 4 0 1 0 0 0Z", filled: true };
    case "hollow-diamond":
      return { path: "M0 0L-5-4L-10 0L-5 4Z", filled: "paper" };
    default:
      return { path: "M0 0L-9-4.5V4.5Z", filled: true };
  }
}

/** A head as an SVG element. */
export function headElement(kind, properties = {}) {
  const { hue, head } = look(kind);
  const { path, filled } = headPath(head);
  const inside = filled === true ? `hue${hue}` : filled === "paper" ? "hollow" : "";
  return svg("path", { ...properties, d: path, class: `head hue${hue}-line ${inside} ${properties.class ?? ""}` });
}

/** A short sample of a kind's arrow, for legends. */
export function sample(kind) {
  const { hue, dash } = look(kind);
  return svg(
    "svg",
    { class: "sample", width: 40, height: 12, viewBox: "0 0 40 12", "aria-hidden": "true" },
    svg("path", { d: "M1 6H32", class: `hue${hue}-line`, "stroke-dasharray": dash || null, "stroke-width": 1.8 }),
    headElement(kind, { transform: "translate(39 6)" }),
  );
}

/** A kind's name in its colour. */
export function kindName(kind) {
  return h("span", { class: `kind hue${look(kind).hue}-text` }, kind);
}
