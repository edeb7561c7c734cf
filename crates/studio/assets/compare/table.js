// The numbers of a comparison as a table, on the page and as text to be pasted elsewhere: tab-separated for a spreadsheet, CSV for
// programs. The best of each column is marked with *, what lies outside the formula with !.

import { h } from "../dom.js";
import { best, inOrder, isOutsideFormula, number } from "./metrics.js";

/** The table of one number: a row for each algorithm, a column for each load and size. */
export function numbersTable(cells, metric) {
  const { names, loads, sizes } = axes(cells);
  const heads = loads.map((load) => h("th", { colspan: sizes.length, scope: "colgroup", class: "group" }, load));
  const sizeHeads = loads.flatMap(() => sizes.map((n, index) => h("th", { class: edge(index), scope: "col" }, `N = ${n}`)));
  const columns = loads.flatMap((load) => sizes.map((n, index) => ({ load, n, index, best: bestOf(cells, metric, load, n) })));
  const row = (name) => {
    const ours = cells.filter((cell) => cell.algorithm === name);
    const numbers = columns.map((column) => numberCell(ours, metric, column));
    return h("tr", { data: { algorithm: name } }, h("th", { scope: "row" }, name), h("td", { class: "soft formula" }, ours[0]?.formula), numbers);
  };
  return h(
    "table",
    { id: "compare-table", class: "full" },
    h("thead", {}, h("tr", {}, h("th", { rowspan: 2, scope: "col" }, "algorithm"), h("th", { rowspan: 2, scope: "col", class: "formula" }, "textbook: messages"), heads), h("tr", {}, sizeHeads)),
    h("tbody", {}, names.map(row)),
  );
}

function numberCell(ours, metric, column) {
  const cell = find(ours, column.load, column.n);
  const isOutside = metric.name === "messages" && cell && isOutsideFormula(cell) === true;
  const value = cell?.[metric.key];
  const isBest = column.best !== null && number(value) === number(column.best);
  const marks = `${isOutside ? "!" : ""}${number(value)}${cell?.failed ? " ✗" : ""}`;
  const classes = `${edge(column.index)}${isBest ? " strong" : ""}${isOutside || cell?.failed ? " alarm" : ""}`;
  return h("td", { class: classes, title: cell?.command }, marks, h("span", { class: "star" }, isBest ? "*" : ""));
}

function edge(index) {
  return index === 0 ? "number group" : "number";
}

function bestOf(cells, metric, load, n) {
  const column = cells.filter((cell) => cell.load === load && cell.nodes === n);
  return best(metric, column.map((cell) => cell[metric.key]));
}

/** The shown table as lines, with this between the fields of a line. */
export function asText(cells, metric, between) {
  const { names, loads, sizes } = axes(cells);
  const columns = loads.flatMap((load) => sizes.map((n) => ({ load, n })));
  const head = ["algorithm", "textbook", ...columns.map(({ load, n }) => `${load} N=${n}`)];
  const row = (name) => {
    const ours = cells.filter((cell) => cell.algorithm === name);
    return [name, ours[0]?.formula, ...columns.map(({ load, n }) => find(ours, load, n)?.[metric.key])];
  };
  return lines([head, ...names.map(row)], between);
}

/** All numbers of all cells, as `doorway compare --csv` prints them. */
export function allAsText(cells, between) {
  const keys = Object.keys(cells[0] ?? {});
  return lines([keys, ...cells.map((cell) => keys.map((key) => cell[key]))], between);
}

function axes(cells) {
  return { names: inOrder(cells, "algorithm"), loads: inOrder(cells, "load"), sizes: inOrder(cells, "nodes") };
}

function find(cells, load, n) {
  return cells.find((cell) => cell.load === load && cell.nodes === n);
}

function lines(rows, between) {
  const field = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return text.includes(between) || text.includes("\"") ? `"${text.replaceAll("\"", "\"\"")}"` : text;
  };
  return rows.map((row) => `${row.map(field).join(between)}\n`).join("");
}
