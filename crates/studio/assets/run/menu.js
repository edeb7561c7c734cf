// A menu at a place of the screen: what can be done to a message or to a node, by pointer and by keys.

import { fill, h, select } from "../dom.js";

/** Makes the menu; `open({x, y}, title, items, back)` shows `[{text, act} | {form, text, act}]`, Escape closes it. */
export function menu() {
  const element = h("div", { class: "menu", role: "dialog", "aria-label": "What can be changed", hidden: true });
  let back = null;
  const close = () => {
    if (element.hidden) return;
    element.hidden = true;
    if (element.contains(document.activeElement) || document.activeElement === document.body) {
      back?.focus?.({ preventScroll: true });
    }
  };
  const outside = (event) => {
    if (!element.contains(event.target)) close();
  };
  document.addEventListener("pointerdown", outside, true);
  element.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget && !element.contains(relatedTarget)) element.hidden = true;
  });
  element.addEventListener("keydown", (event) => walked(element, event, close));
  return {
    element,
    close,
    open(at, title, items) {
      back = document.activeElement;
      fill(element, h("div", { class: "menu-title" }, title), items.map((item) => shown(item, close)));
      element.hidden = false;
      put(element, at);
      element.querySelector("button, input, select")?.focus({ preventScroll: true });
    },
    remove: () => document.removeEventListener("pointerdown", outside, true),
  };
}

function shown(item, close) {
  if (item.note) return h("p", { class: "soft small" }, item.note);
  const act = (values) => {
    close();
    item.act(values);
  };
  if (!item.fields) {
    return h("button", {
      type: "button",
      class: "menu-item",
      data: { action: item.action },
      on: { click: () => act() },
    }, item.text);
  }
  const inputs = item.fields.map(box);
  const submit = (event) => {
    event.preventDefault();
    act(inputs.map((input) => (input.value === "" ? null : Number(input.value))));
  };
  return h(
    "form",
    { class: "menu-form", data: { action: item.action }, on: { submit } },
    item.fields.map((each, place) => h("label", {}, h("span", {}, each.label), inputs[place])),
    h("button", { type: "submit" }, item.text),
  );
}

/** A box for a number, or for one of some numbers. */
function box({ name, label, placeholder, least, value, choices }) {
  const properties = { "aria-label": label, data: { input: name } };
  if (choices) return select(choices, value, properties);
  return h("input", { ...properties, type: "number", placeholder, min: least ?? 0, value: value ?? "" });
}

/** Keeps the menu within the window. */
function put(element, { x, y }) {
  const [wide, high] = [element.offsetWidth, element.offsetHeight];
  const { clientWidth, clientHeight } = document.documentElement;
  element.style.left = `${Math.max(4, Math.min(x, clientWidth - wide - 8))}px`;
  element.style.top = `${Math.max(4, Math.min(y + 4, clientHeight - high - 8))}px`;
}

/** Who goes on behind the last item, or back before the first, is where the menu was opened. */
function left(element, event, close) {
  const items = [...element.querySelectorAll("button, input, select")];
  if (document.activeElement !== items.at(event.shiftKey ? 0 : -1)) return;
  event.preventDefault();
  close();
}

function walked(element, event, close) {
  event.stopPropagation();
  if (event.key === "Escape") return close();
  if (event.key === "Tab") return left(element, event, close);
  const aside = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!aside || /^(INPUT|SELECT)$/.test(event.target.tagName)) return undefined;
  event.preventDefault();
  const items = [...element.querySelectorAll("button, input, select")];
  return items[(items.indexOf(document.activeElement) + aside + items.length) % items.length]?.focus();
}
