// The page Quorums: one or two quorum systems side by side. Nodes can be crashed in the picture, and both systems show what is left of
// them; below, their ratings. Everything is in the address.

import { Refused, layouts, work } from "../api.js";
import { sample } from "../compare/chart.js";
import { button, field, fill, h, panel, select } from "../dom.js";
import { failureChart, failureRequest, ratingsTable } from "./ratings.js";
import { side } from "./side.js";
import { MOST_NODES, STEP, address, firstWord, parts, read, withKind, withNodes } from "./spec.js";

export const styles = ["quorums/page.css"];

const SIDES = ["left", "right"];

export function open(page, query, app) {
  const quorums = new Quorums(page, app, read(query));
  return { update: (next) => quorums.take(read(next)), close: () => quorums.close() };
}

/** What the page shows: a specification, and the systems that the server built for it. */
class Quorums {
  constructor(page, app, spec) {
    this.app = app;
    this.spec = spec;
    this.mode = "crash";
    this.systems = {};
    this.cache = new Map();
    const refuse = (error) => this.app.say(error.message, "error");
    this.askForCurves = layouts("failures", (answer, asked) => this.drawCurves(answer, asked), refuse);
    const acts = { press: (node) => (this.mode === "crash" ? this.toggle(node) : this.ask(node)), ask: (node) => this.ask(node) };
    this.sides = SIDES.map((name) => side(name, acts));
    this.controls = h("div", { class: "panel", id: "quorum-controls" });
    this.pictures = h("div", { class: "columns pictures" }, this.sides.map((one) => one.element));
    this.ratings = h("div", { class: "columns", id: "quorum-rated" });
    fill(page, h("h1", { class: "unseen" }, "Quorums"), h("div", { class: "stack quorums" }, this.controls, this.pictures, this.ratings));
    this.observer = new ResizeObserver(() => this.onResize());
    this.observer.observe(this.ratings);
    this.begin();
  }

  async begin() {
    try {
      this.catalog = await this.app.catalog();
      this.show();
      await this.load();
    } catch (error) {
      fill(this.controls, h("p", { class: "note error" }, error.message));
    }
  }

  close() {
    this.observer.disconnect();
    this.abort?.abort();
  }

  /** A specification from the address. */
  take(spec) {
    const isNew = ["nodes", ...SIDES].some((name) => spec[name] !== this.spec[name]);
    this.spec = spec;
    if (!this.catalog) return;
    this.show();
    if (isNew) this.load();
    else this.draw();
  }

  change(spec) {
    this.app.push(address(spec));
    this.take(spec);
  }

  toggle(node) {
    const crashed = new Set(this.spec.crashed);
    if (!crashed.delete(node)) crashed.add(node);
    this.change({ ...this.spec, crashed });
  }

  ask(node) {
    for (const one of this.sides) one.pinned = null;
    this.change({ ...this.spec, of: node });
  }

  /** Has both systems built; a side that cannot be says why. */
  async load() {
    this.abort?.abort();
    const abort = new AbortController();
    this.abort = abort;
    this.systems = {};
    await Promise.all(this.sides.map((one) => this.loadSide(one, abort)));
    if (this.abort === abort) this.draw();
  }

  async loadSide(one, abort) {
    const word = this.spec[one.name];
    one.element.hidden = word === "none";
    if (word === "none") return;
    const key = `${word} ${this.spec.nodes}`;
    try {
      if (!this.cache.has(key)) {
        one.tell(word, "The system is being built and rated …", "");
        this.cache.set(key, await work("quorums", { kind: word, nodes: this.spec.nodes }, { signal: abort.signal }));
      }
      if (this.abort === abort) this.systems[one.name] = this.cache.get(key);
    } catch (error) {
      if (!(error instanceof Refused) && error.name !== "AbortError") throw error;
      if (this.abort === abort) one.tell(word, error.message, "error");
    }
  }

  draw() {
    for (const one of this.sides) if (this.systems[one.name]) one.show(this.systems[one.name], this.spec);
    this.drawRatings();
  }

  /** The systems that the server has built, with their names. */
  shown() {
    return SIDES.filter((name) => this.systems[name]).map((name) => ({ name: this.spec[name], system: this.systems[name] }));
  }

  drawRatings() {
    const shown = this.shown();
    if (shown.length === 0) {
      fill(this.ratings);
      return;
    }
    // The chart stays until the server has laid out the next one.
    this.curves ??= h("div", { class: "chart-place" });
    fill(
      this.ratings,
      panel("Ratings", {}, h("div", { class: "wide" }, ratingsTable(shown, this.spec.p))),
      panel("How likely no quorum is alive", {}, this.curveControls(), this.curves),
    );
    this.showSamples();
    this.width = this.ratings.clientWidth;
    this.askForCurves(failureRequest(shown, { p: this.spec.p, y: this.spec.y, width: Math.max(160, Math.floor(this.curves.clientWidth)) }));
  }

  drawCurves({ layout, legend }, { p }) {
    this.legend = legend;
    this.showSamples();
    const names = h("p", { class: "row small" }, legend.map((entry) => h("span", {}, sample(entry), ` ${entry.name}`)));
    if (this.curves) fill(this.curves, failureChart(layout, this.shown(), p), layout.named ? null : names);
  }

  /** What each curve looks like, above its column of the table. */
  showSamples() {
    const looks = new Map((this.legend ?? []).map((entry) => [entry.name, entry]));
    for (const place of this.ratings.querySelectorAll("[data-sample]")) {
      fill(place, looks.has(place.dataset.sample) ? sample(looks.get(place.dataset.sample)) : null);
    }
  }

  curveControls() {
    const slide = (event) => {
      this.spec = { ...this.spec, p: Number(event.target.value) };
      this.app.replace(address(this.spec));
      this.drawRatings();
      document.getElementById("quorum-p").focus();
    };
    const slider = h("input", { type: "range", id: "quorum-p", min: 0, max: 1, step: STEP, value: this.spec.p, on: { input: slide } });
    const kinds = select([["linear", "linear"], ["log", "logarithmic"]], this.spec.y, { id: "quorum-y", on: { change: (event) => this.change({ ...this.spec, y: event.target.value }) } });
    return h("div", { class: "row end" }, field(`a node has crashed with probability ${this.spec.p}`, slider), field("upright axis", kinds));
  }

  /** The controls that both systems share, and a kind for each. */
  show() {
    const { spec } = this;
    const focused = document.activeElement?.id;
    const number = (caption, id, value, most, put) =>
      field(caption, h("input", { type: "number", id, min: 1, max: most, value, on: { change: (event) => this.onNumber(event, most, put) } }));
    const modes = [["crash", "crashes or repairs it"], ["ask", "shows its quorum"]];
    fill(
      this.controls,
      h(
        "div",
        { class: "row end" },
        number("nodes", "quorum-nodes", spec.nodes, MOST_NODES, (nodes) => withNodes(this.spec, nodes)),
        SIDES.map((name) => this.kindChoice(name)),
        number("shown: quorum of node", "quorum-of", spec.of, spec.nodes, (of) => ({ ...this.spec, of })),
        field("a click on a node", select(modes, this.mode, { id: "quorum-mode", on: { change: (event) => (this.mode = event.target.value) } })),
        button("Repair all", () => this.change({ ...this.spec, crashed: new Set() }), { id: "quorum-repair", disabled: spec.crashed.size === 0 }),
      ),
      h("p", { class: "soft small keys" }, "Keys in a picture: arrows go to the next node, ", h("kbd", {}, "Enter"), " is a click, ", h("kbd", {}, "q"), " shows the node’s quorum."),
    );
    if (focused) document.getElementById(focused)?.focus();
  }

  onNumber(event, most, put) {
    const value = Number(event.target.value);
    if (Number.isInteger(value) && value >= 1 && value <= most) this.change(put(value));
    else this.app.say(`${event.target.value || "nothing"} is no number from 1 to ${most}.`, "error");
  }

  kindChoice(name) {
    const { kind, after } = parts(this.spec[name]);
    const kinds = this.catalog.quorums.map((quorum) => quorum.kind).filter((one) => one !== "file");
    const help = this.catalog.quorums.find((quorum) => quorum.kind === kind)?.help;
    const put = (word) => this.change(withKind(this.spec, name, word));
    const choices = name === "right" ? [["none", "none"], ...kinds.map((one) => [one, one])] : kinds;
    const box = select(choices, kind, { id: `quorum-${name}`, on: { change: (event) => put(firstWord(event.target.value, this.spec.nodes)) } });
    const typed = h("input", { id: `quorum-${name}-after`, value: after, spellcheck: "false", on: { change: (event) => put(event.target.value ? `${kind}:${event.target.value.trim()}` : kind) } });
    const caption = { wall: "widths of its rows", weighted: "votes of its nodes", singleton: "the node" }[kind];
    return [field(name === "left" ? "system" : "beside it", box, help), caption ? field(caption, typed) : null];
  }

  onResize() {
    if (Math.abs((this.width ?? 0) - this.ratings.clientWidth) > 1 && this.catalog) this.drawRatings();
  }
}
