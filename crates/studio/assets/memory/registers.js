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

/** The processes: place, next line, what each keeps for itself, and its stores on their way. */
export function processTable() {
  const element = h("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Processes" });
  return { element, show: (run, count, before, isBuffered) => fill(element, processesOf(run, count, before, isBuffered)) };
}

function processesOf(run, count, before, isBuffered) {
  const nodes = Array.from({ length: run.nodes }, (_, index) => index + 1);
  const now = nodes.map((node) => processAt(run, node, count));
  const old = nodes.map((node) => processAt(run, node, before));
  const names = [...new Set(run.fields.filter((name) => !["next line", "place", "buffer", "writes"].includes(name)))];
  const isWriting = now.some(({ writes }) => writes.length > 0);
  const heads = [
    "process",
    "place",
    "next line",
    ...names,
    ...(isWriting ? ["is writing"] : []),
    ...(isBuffered ? ["store buffer, oldest first"] : []),
  ];
  const value = (process, name) => process.fields.find(([field]) => field === name)?.[1] ?? "–";
  const row = (node) => {
    const [process, was] = [now[node - 1], old[node - 1]];
    const mark = (is, wasThen) => (is === wasThen ? null : "new");
    return h(
      "tr",
      { data: { process: node, place: process.place } },
      h("th", { scope: "row" }, chip(node)),
      h("td", { class: mark(process.place, was.place) }, h("span", { class: `phase ${process.place}` }, process.place)),
      h("td", { class: `number ${mark(process.line, was.line) ?? ""}` }, process.line),
      names.map((name) => h("td", { class: mark(value(process, name), value(was, name)) }, value(process, name))),
      isWriting ? h("td", { class: "mono" }, process.writes.join(" ") || "–") : null,
      isBuffered ? h("td", { data: { buffer: node } }, bufferView(process.buffer)) : null,
    );
  };
  return h(
    "table",
    { class: "processes" },
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        heads.map((text) => h("th", { scope: "col" }, text)),
      ),
    ),
    h("tbody", {}, nodes.map(row)),
  );
}

function bufferView(stores) {
  if (stores.length === 0) return h("span", { class: "soft" }, "empty");
  return h(
    "span",
    { class: "buffer" },
    stores.map((store, index) =>
      h("span", { class: "store mono", title: index === 0 ? "the oldest: it reaches memory next" : null }, store),
    ),
  );
}
