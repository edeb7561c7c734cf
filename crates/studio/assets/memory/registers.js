// What memory holds and what the processes know: registers as a table with arrays as rows, and store buffers as queues.

import { fill, h } from "../dom.js";
import { latest } from "../run/state.js";
import { chip } from "./listing.js";
import { processAt } from "./steps.js";

/** The table of registers: `{element, show(run, count, before)}`. */
export function registerTable() {
  const element = h("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Registers" });
  return { element, show: (run, count, before) => fill(element, tableOf(run, count, before)) };
}

/** Registers by name: scalars, and arrays with their indices. */
export function arraysOf(names) {
  const rows = new Map();
  names.forEach((name, place) => {
    const [, array, index] = /^(.*)\[([^[\]]*)\]$/.exec(name) ?? [null, name, null];
    if (!rows.has(array)) rows.set(array, []);
    rows.get(array).push({ index, place, name });
  });
  return [...rows];
}

function tableOf(run, count, before) {
  const now = latest(run.values, count) ?? [];
  const old = latest(run.values, before) ?? now;
  const arrays = arraysOf(run.registers);
  const columns = [...new Set(arrays.flatMap(([, cells]) => cells.map(({ index }) => index)).filter((index) => index !== null))];
  const cell = ({ place, name }, span) =>
    h(
      "td",
      {
        colspan: span,
        class: now[place] === old[place] ? "number" : "number new",
        data: { register: name },
        title: now[place] === old[place] ? name : `${name} was ${old[place]}`,
      },
      now[place],
    );
  const row = ([array, cells]) => {
    const isScalar = cells.length === 1 && cells[0].index === null;
    const content = isScalar
      ? [cell(cells[0]), columns.length > 1 ? h("td", { colspan: columns.length - 1 }) : null]
      : columns.map((column) => {
          const found = cells.find(({ index }) => index === column);
          return found ? cell(found) : h("td", {});
        });
    return h("tr", {}, h("th", { scope: "row", class: "mono" }, array), content);
  };
  const head =
    columns.length > 0
      ? h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("th", { scope: "col" }, "register"),
            columns.map((column) => h("th", { scope: "col", class: "number mono" }, `[${column}]`)),
          ),
        )
      : null;
  return h("table", { class: "registers" }, head, h("tbody", {}, arrays.map(row)));
}

/** The processes: place, next line, and what each keeps for itself. */
export function processTable() {
  const element = h("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Processes" });
  return { element, show: (run, count, before) => fill(element, processesOf(run, count, before)) };
}

const TOLD_ELSEWHERE = ["next line", "place", "buffer", "writes"];

function processesOf(run, count, before) {
  const names = run.fields.filter((name) => !TOLD_ELSEWHERE.includes(name));
  const value = (process, name) => process.fields.find(([field]) => field === name)?.[1] ?? "–";
  const row = (node) => {
    const [now, old] = [processAt(run, node, count), processAt(run, node, before)];
    const mark = (is, was) => (is === was ? "" : "new");
    return h(
      "tr",
      { data: { process: node, place: now.place } },
      h("th", { scope: "row" }, chip(node)),
      h("td", { class: mark(now.place, old.place) }, h("span", { class: `phase ${now.place}` }, now.place)),
      h("td", { class: `number ${mark(now.line, old.line)}` }, now.line),
      names.map((name) => h("td", { class: mark(value(now, name), value(old, name)) }, value(now, name))),
    );
  };
  const heads = ["process", "place", "next line", ...names].map((text) => h("th", { scope: "col" }, text));
  return h("table", { class: "processes" }, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, nodesOf(run).map(row)));
}

function nodesOf(run) {
  return Array.from({ length: run.nodes }, (_, index) => index + 1);
}

/** Writes that are not over: in store buffers under tso and pso, begun and not ended in registers that are not atomic. */
export function storesView() {
  const title = h("h2", {});
  const list = h("ul", { class: "stores" });
  const element = h("section", { class: "panel", id: "stores" }, title, list);
  const show = (run, count, heading) => {
    const isBuffered = heading.memory === "tso" || heading.memory === "pso";
    const isSplit = ["regular", "safe", "safe-any"].includes(heading.registers);
    element.hidden = !isBuffered && !isSplit;
    title.textContent = isBuffered ? "Store buffers, oldest first" : "Writes that have begun";
    fill(
      list,
      nodesOf(run).map((node) => storeRow(node, processAt(run, node, count))),
    );
  };
  return { element, show };
}

function storeRow(node, { buffer, writes }) {
  const stores = [...writes.map((store) => `${store} …`), ...buffer];
  const store = (text, index) => h("span", { class: "store mono", title: index === 0 && buffer.length > 0 ? "the oldest" : null }, text);
  return h("li", { data: { buffer: node } }, chip(node), stores.length > 0 ? stores.map(store) : h("span", { class: "soft" }, "none"));
}
