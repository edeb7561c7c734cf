// The page Compare: several algorithms on the same work, as charts over N and as a table. What is compared is in the address; a change
// of it makes the runs anew, a change of number or axes only draws anew.

import { layouts, work } from "../api.js";
import { button, fill, h, panel, progressBar } from "../dom.js";
import { emphasise, middle, paintChart, sample } from "./chart.js";
import { controls, drawing } from "./controls.js";
import { isOutsideFormula, metricNamed, number } from "./metrics.js";
import { address, body, command, hasSameRuns, read, runAddress } from "./spec.js";
import { allAsText, asText, numbersTable } from "./table.js";

export const styles = ["compare/page.css"];

export function open(page, query, app) {
  const comparing = new Comparing(page, app, read(query));
  return { update: (next) => comparing.take(read(next)), close: () => comparing.close() };
}

/** What the page shows: a specification, the cells that were measured for it, and the work under way. */
class Comparing {
  constructor(page, app, spec) {
    this.app = app;
    this.spec = spec;
    this.cells = [];
    this.measured = null;
    this.legend = new Map();
    this.places = places();
    this.askForCharts = layouts("comparison", (answer) => this.drawCharts(answer), (error) => this.refuse(error));
    fill(page, h("h1", { class: "unseen" }, "Compare"), this.places.whole);
    this.observer = new ResizeObserver(() => this.onResize());
    this.observer.observe(this.places.charts);
    this.begin();
  }

  async begin() {
    try {
      this.catalog = await this.app.catalog();
    } catch (error) {
      this.refuse(error);
      return;
    }
    this.show();
    this.run();
  }

  close() {
    this.observer.disconnect();
    this.abort?.abort();
  }

  /** A specification from the address. */
  take(spec) {
    const isNew = !hasSameRuns(spec, this.spec);
    this.spec = spec;
    if (!this.catalog) return;
    this.show();
    if (isNew) this.run();
  }

  /** A specification from the controls. */
  change(spec) {
    this.app.push(address(spec));
    this.take(spec);
  }

  async run() {
    this.abort?.abort();
    const abort = new AbortController();
    this.abort = abort;
    const bar = progressBar(() => abort.abort());
    fill(this.places.state, bar.element);
    bar.show({ done: 0, total: null, text: "running…" });
    const spec = this.spec;
    try {
      const result = await work("comparisons", body(spec), { signal: abort.signal, progress: bar.show });
      if (this.abort !== abort) return;
      this.cells = result.cells;
      this.measured = spec;
      fill(this.places.state);
      this.draw();
    } catch (error) {
      if (this.abort === abort) this.refuse(error);
    }
  }

  refuse(error) {
    if (error.name !== "AbortError") {
      fill(this.places.state, h("p", { class: "note error" }, error.message));
      return;
    }
    const again = button("Compare", () => this.run(), { class: "primary" });
    fill(this.places.state, h("div", { class: "row" }, h("span", { class: "soft" }, "Cancelled: what is shown below is older. "), again));
  }

  /** Controls and all that follows from them. */
  show() {
    const focused = document.activeElement?.id;
    const change = (spec) => this.change(spec);
    fill(this.places.controls, controls(this.spec, this.catalog, change));
    this.showSamples();
    fill(this.places.drawing, drawing(this.spec, change));
    fill(this.places.command, h("code", { id: "compare-command" }, command(this.spec)));
    if (focused) document.getElementById(focused)?.focus();
    this.draw();
  }

  /** What each series looks like, beside the name of its algorithm. */
  showSamples() {
    for (const place of this.places.controls.querySelectorAll("[data-sample]")) {
      fill(place, this.legend.has(place.dataset.sample) ? sample(this.legend.get(place.dataset.sample)) : null);
    }
  }

  draw() {
    if (this.cells.length === 0) return;
    const metric = metricNamed(this.spec.metric);
    this.layOut();
    fill(this.places.point, h("p", { class: "soft" }, help(metric, this.spec)));
    fill(this.places.numbers, this.tablePanel(metric));
  }

  /** Has the charts laid out for the room that there is. */
  layOut() {
    const { metric, x, y, formula } = this.spec;
    const { key } = metricNamed(metric);
    const cells = this.cells.map((cell) => ({
      algorithm: cell.algorithm,
      nodes: cell.nodes,
      load: cell.load,
      value: cell[key],
      formula: cell.formula,
      formula_least: cell.formula_least,
      formula_most: cell.formula_most,
    }));
    this.width = this.places.charts.clientWidth;
    const width = this.chartWidth(new Set(cells.map((cell) => cell.load)).size);
    const kind = (word) => (word === "linear" ? "linear" : "log");
    this.askForCharts({ metric: metricNamed(metric).name, x: kind(x), y: kind(y), formulas: formula ? "bounds" : "off", width, height: width < 440 ? 300 : 400, cells });
  }

  /** How wide one of so many charts is: measured with empty panels, since the style sheet decides how many stand side by side. */
  chartWidth(count) {
    const boxes = Array.from({ length: count }, () => h("div", { class: "chart-box" }));
    const probe = h("div", { class: "columns charts probe" }, boxes.map((box) => panel("", { class: "chart-panel" }, box)));
    this.places.charts.after(probe);
    const width = Math.floor(boxes[0].clientWidth);
    probe.remove();
    return Math.max(160, width);
  }

  drawCharts({ charts, legend }) {
    const metric = metricNamed(this.spec.metric);
    this.legend = new Map(legend.map((entry) => [entry.name, entry]));
    this.showSamples();
    fill(this.places.charts, charts.map((chart) => this.chartPanel(chart, metric)));
  }

  chartPanel({ load, layout }, metric) {
    if (!layout) {
      const sentence = `No run with the load ${load} has a ${metric.name}; another load may have one.`;
      return panel(`${metric.title}, ${load}`, { class: "chart-panel" }, h("p", { class: "soft" }, sentence));
    }
    const tip = h("div", { class: "chart-tip", role: "status", hidden: true });
    const box = h("div", { class: "chart-box", data: { load } });
    const cellOf = (name, nodes) => this.cells.find((cell) => cell.algorithm === name && cell.nodes === nodes && cell.load === load);
    const picture = paintChart(layout, {
      describe: (name, nodes) => `${name}, N = ${nodes}: ${cellOf(name, nodes)?.[metric.key]} ${metric.title}`,
      at: (names, mark, nodes) => showTip(tip, box, middle(mark), names.map((name) => cellOf(name, nodes)).filter(Boolean), metric),
      away: () => (tip.hidden = true),
      choose: (name, nodes) => this.choose(cellOf(name, nodes), metric),
    });
    for (const mark of picture.querySelectorAll(".series .mark")) {
      const name = mark.closest("[data-name]").dataset.name;
      mark.classList.toggle("failed", cellOf(name, Number(mark.dataset.at))?.failed === true);
    }
    fill(box, picture, tip, layout.named ? null : namesBelow(this.legend, picture));
    return panel(layout.title, { class: "chart-panel" }, box);
  }

  /** Tells all about one mark below the charts. */
  choose(cell, metric) {
    const value = cell[metric.key];
    const copy = button("Copy command", () => this.copy(cell.command, "The command is in the clipboard."));
    const link = h("a", { class: "button", href: runAddress(cell, this.spec) }, "Open a short run of it");
    fill(
      this.places.point,
      h("p", {}, h("strong", {}, `${cell.algorithm}, N = ${cell.nodes}, ${cell.load}: ${value} ${metric.title}`), `. ${formulaSentence(cell)}`),
      h("p", {}, h("code", {}, cell.command)),
      h("div", { class: "buttons" }, copy, link),
    );
  }

  tablePanel(metric) {
    const copy = (text, sentence) => () => this.copy(text(), sentence);
    return panel(
      `Table: ${metric.title}`,
      {},
      h(
        "div",
        { class: "buttons" },
        button("Copy table", copy(() => asText(this.cells, metric, "\t"), "The table is in the clipboard, separated by tabs."), { id: "copy-table" }),
        button("Copy as CSV", copy(() => asText(this.cells, metric, ","), "The table is in the clipboard as CSV."), { id: "copy-csv" }),
        button("Copy all numbers as CSV", copy(() => allAsText(this.cells, ","), "All numbers are in the clipboard as CSV."), { id: "copy-all" }),
      ),
      h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Table of the numbers" }, numbersTable(this.cells, metric)),
      h("p", { class: "soft small" }, "* best of its column, ! outside the formula, ✗ stalled or violated something; times in ticks."),
    );
  }

  async copy(text, sentence) {
    try {
      await navigator.clipboard.writeText(text);
      this.app.say(sentence);
    } catch {
      fill(this.places.copied, panel("Copy this", {}, h("textarea", { rows: 8, readonly: true, value: text })));
      this.places.copied.querySelector("textarea").select();
    }
  }

  onResize() {
    const isOther = Math.abs((this.width ?? 0) - this.places.charts.clientWidth) > 1;
    if (isOther && this.cells.length > 0) this.layOut();
  }
}

/** The boxes of the page, in their order. */
function places() {
  const box = (id, name, properties = {}) => h(name ?? "div", { id, ...properties });
  const controls = box("compare-choice");
  const drawingBox = box("compare-drawing");
  const [state, charts] = [box("compare-state"), box("compare-charts", "div", { class: "columns charts" })];
  const [point, numbers, copied] = [box("compare-point", "div", { class: "panel", "aria-live": "polite" }), box("compare-numbers"), box("compare-copied")];
  const commandLine = box("compare-line", "p", { class: "soft" });
  const choice = h("details", { class: "panel choice", open: window.innerWidth > 800 }, h("summary", { class: "heading" }, "What is compared"), controls);
  const results = h("div", { class: "stack" }, h("div", { class: "panel stack" }, drawingBox, state, commandLine), charts, point, numbers, copied);
  return { whole: h("div", { class: "compare" }, choice, results), controls, drawing: drawingBox, state, charts, point, numbers, copied, command: commandLine };
}

/** One tooltip for all series that have a mark at this place. */
function showTip(tip, box, [x, y], cells, metric) {
  fill(tip, cells.length === 1 ? aboutOne(cells[0], metric) : aboutSeveral(cells, metric));
  if (cells.some((cell) => cell.failed)) tip.append(h("span", { class: "alarm" }, "The run stalled or violated something."));
  tip.hidden = false;
  const room = box.clientWidth - tip.offsetWidth;
  tip.style.left = `${Math.max(0, Math.min(x + 14, room))}px`;
  tip.style.top = y > tip.offsetHeight + 20 ? `${y - tip.offsetHeight - 12}px` : `${y + 16}px`;
}

function aboutOne(cell, metric) {
  const formula = metric.name === "messages" ? h("span", { class: "soft" }, formulaSentence(cell)) : null;
  return [h("strong", {}, cell.algorithm), `N = ${cell.nodes}: ${number(cell[metric.key])} ${metric.title}`, formula];
}

function aboutSeveral(cells, metric) {
  const row = (cell) => {
    const formula = metric.name === "messages" ? ` · ${cell.formula}${formulaNumbers(cell)}` : "";
    return h("span", {}, h("strong", {}, cell.algorithm), ` ${number(cell[metric.key])}`, h("span", { class: "soft" }, formula));
  };
  return [`N = ${cells[0].nodes}, ${metric.title}:`, cells.map(row)];
}

/** What the formula comes to here, with K: ` = 12 … 28, K = 5`. */
function formulaNumbers(cell) {
  const { formula_least: least, formula_most: most, quorum_least: smallest, quorum_most: largest } = cell;
  const k = smallest === null ? "" : `, K = ${smallest === largest ? smallest : `${smallest} to ${largest}`}`;
  if (least === null) return k;
  return ` = ${least === most ? number(least) : `${number(least)} … ${most === null ? "unbounded" : number(most)}`}${k}`;
}

function formulaSentence(cell) {
  if (cell.formula_least === null) return `The formula ${cell.formula}${formulaNumbers(cell)} has no number here.`;
  const fate = isOutsideFormula(cell) ? "measured outside it!" : "measured within it.";
  return `Formula: ${cell.formula}${formulaNumbers(cell)}; ${fate}`;
}

/** How to read the charts. */
function help(metric, spec) {
  const formula = "Dashed lines are the least and the most of the formula; between them is a band, seen for the series that one points at, and for all if they are few. ";
  const keys = "Point at a mark for its numbers; click it, or go to it with Tab and the arrow keys and press Enter, for its command.";
  return `Marks are measured. ${metric.name === "messages" && spec.formula ? formula : ""}${keys}`;
}

/** The names below the chart, where there is no room beside it. */
function namesBelow(legend, picture) {
  const entry = ([name, look]) => {
    const toggle = (event) => {
      const isPressed = event.currentTarget.getAttribute("aria-pressed") === "true";
      for (const other of event.currentTarget.parentElement.children) other.setAttribute("aria-pressed", "false");
      event.currentTarget.setAttribute("aria-pressed", String(!isPressed));
      emphasise(picture, isPressed ? null : name);
    };
    return button([sample(look), name], toggle, { class: "small chart-legend", "aria-pressed": "false" });
  };
  return h("div", { class: "buttons" }, [...legend].map(entry));
}
