// Makes elements. Whatever is put into a page goes through here as text or as an attribute, never as markup, so that no name
// in a trace, a script or an address can become part of the page's code.

const SVG = "http://www.w3.org/2000/svg";

/**
 * An HTML element: `h("button", {class: "primary", on: {click: go}, data: {node: 3}}, "go")`.
 *
 * Properties: `class`, `on` (listeners), `data` (data attributes), `style` (an object), `value`/`checked`/`disabled`/… as in HTML;
 * `null`, `undefined` and `false` leave an attribute out. Children: elements, text, numbers, lists of them; null is nothing.
 */
export function h(tag, properties, ...children) {
  return filled(document.createElement(tag), properties, children);
}

/** An SVG element, with the same properties and children as `h`. */
export function svg(tag, properties, ...children) {
  return filled(document.createElementNS(SVG, tag), properties, children);
}

/** Puts these children, and only them, into an element. */
export function fill(element, ...children) {
  element.replaceChildren(...flat(children));
  return element;
}

function filled(element, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) set(element, name, value);
  element.append(...flat(children));
  return element;
}

function set(element, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name === "on") {
    for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
  } else if (name === "data") {
    for (const [key, content] of Object.entries(value)) {
      if (content !== null && content !== undefined) element.dataset[key] = content;
    }
  } else if (name === "style") {
    Object.assign(element.style, value);
  } else if (name === "value" && "value" in element) {
    element.value = value;
    if (element.tagName === "INPUT") element.setAttribute("value", value);
  } else {
    element.setAttribute(name, value === true ? "" : value);
  }
}

function flat(children) {
  const some = children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
  return some.map((child) => (child instanceof Node ? child : String(child)));
}

/** A labelled control: a caption above an input or select. `hint` is told to those who point at it. */
export function field(caption, control, hint) {
  return h("label", { class: "field", title: hint }, h("span", {}, caption), control);
}

/** A select box of `[value, text]` pairs or of plain words. */
export function select(choices, chosen, properties = {}) {
  const option = (choice) => {
    const [value, text] = Array.isArray(choice) ? choice : [choice, choice];
    return h("option", { value, selected: String(value) === String(chosen) }, text);
  };
  return h("select", properties, choices.map(option));
}

/** A button: what it says (text, or a list with an icon), what it does, and further properties. */
export function button(text, click, properties = {}) {
  return h("button", { type: "button", ...properties, on: { click, ...properties.on } }, text);
}

/** A panel: a box with a heading. */
export function panel(title, properties, ...children) {
  return h(
    "section",
    { ...properties, class: `panel ${properties?.class ?? ""}` },
    title ? h("h2", {}, title) : null,
    children,
  );
}

/** A progress bar of a job: `{element, show({done, total, text})}`; a cancel button if `cancel` is given. */
export function progressBar(cancel) {
  const bar = h("progress", { max: 1 });
  const text = h("span", { class: "soft" });
  const element = h(
    "div",
    { class: "progress", role: "status" },
    bar,
    text,
    cancel ? button("Cancel", cancel, { data: { cancel: "" } }) : null,
  );
  const show = (progress) => {
    if (progress.total) bar.value = progress.done / progress.total;
    else bar.removeAttribute("value");
    text.textContent = progress.text ?? (progress.total ? `${progress.done} of ${progress.total}` : `${progress.done}`);
  };
  return { element, show };
}

const ICONS = {
  first: "M2 2h2.5v12H2zM14 2v12L5.5 8z",
  back: "M12 2v12L3.5 8z",
  play: "M3 1.5v13L14 8z",
  pause: "M3 2h3.5v12H3zM9.5 2H13v12H9.5z",
  forward: "M4 2v12l8.5-6z",
  last: "M14 2h-2.5v12H14zM2 2v12l8.5-6z",
  entry: "M9 1h6v14H9v-2h4V3H9zM1 7h6V4l4 4-4 4V9H1z",
  dice:
    "M3 1h10a2 2 0 012 2v10a2 2 0 01-2 2H3a2 2 0 01-2-2V3a2 2 0 012-2zm1.7 2.5a1.2 1.2 0 100 2.4 1.2 1.2 0 000-2.4zm6.6 6.6a1.2 1.2 0 100 2.4 1.2 1.2 0 000-2.4zM8 6.8a1.2 1.2 0 100 2.4 1.2 1.2 0 000-2.4z",
  undo: "M6 1L1 5.5 6 10V7h4a2.5 2.5 0 010 5H6v2h4a4.5 4.5 0 000-9H6z",
  redo: "M10 1l5 4.5L10 10V7H6a2.5 2.5 0 000 5h4v2H6a4.5 4.5 0 010-9h4z",
};

/** A small picture by its name, which fonts may not have; it says nothing to those who cannot see it. */
export function icon(name) {
  return svg(
    "svg",
    { class: "icon", viewBox: "0 0 16 16", "aria-hidden": "true" },
    svg("path", { d: ICONS[name], "fill-rule": "evenodd" }),
  );
}
