// Paints pictures that the server has laid out: a list of elements such as
// `{shape: "circle", cx: 4, cy: 8, r: 3, class: "node-shape", "data-node": "2"}`. `shape` is the name of the SVG element and the other
// members are its attributes, apart from `title` (a tooltip), `text` (what a text says) and `children` (of a group).
// Pages add interaction and states; they compute no positions.

import { svg } from "./dom.js";

/** The SVG element of one element. `more(element)` returns further properties, as for `svg`, or null for none. */
export function paint(element, more = () => null) {
  // The width of a text is that of the font of exports. The page has another font, which would look squeezed.
  const { shape, title, text, children, textLength, lengthAdjust, ...attributes } = element;
  return svg(
    shape,
    { ...attributes, ...more(element) },
    title ? svg("title", {}, title) : null,
    text ?? null,
    (children ?? []).map((child) => paint(child, more)),
  );
}

/** The numbers that an element refers to: `numbers(line, "nodes")` of `{"data-nodes": "1 4 6"}` is `[1, 4, 6]`. */
export function numbers(element, name) {
  return (element[`data-${name}`] ?? "").split(" ").filter(Boolean).map(Number);
}
