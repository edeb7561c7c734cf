// One of the two systems: its picture, what is left of it, and its quorums in words.

import { button, fill, h, panel } from "../dom.js";
import { drawPicture, focusNode } from "./picture.js";
import { assignedSentence, sentence, survival } from "./survival.js";

/** So many surviving quorums are listed. */
const LISTED = 60;

/** A side with nothing in it yet. `acts` are what its nodes can do: `press(node)`, `ask(node)`. */
export function side(name, acts) {
  const box = h("div", { class: "stack", data: { side: name } });
  return new Side(name, acts, box);
}

class Side {
  constructor(name, acts, box) {
    this.name = name;
    this.acts = acts;
    this.element = box;
    this.pinned = null;
  }

  /** Says a sentence instead of a system. */
  tell(word, text, tone) {
    fill(this.element, panel(word, {}, h("p", { class: `note ${tone}`, role: "status" }, text)));
  }

  show(system, spec) {
    this.system = system;
    this.spec = spec;
    this.left = survival(system, spec.crashed);
    const isPinnedKnown = this.pinned && this.left.listed.some((quorum) => quorum.join() === this.pinned.join());
    if (!isPinnedKnown) this.pinned = null;
    this.focused = this.element.contains(document.activeElement) ? document.activeElement : null;
    this.draw(this.shown());
  }

  /** The quorum in the picture: one that was chosen in the list, or that of the chosen node. */
  shown() {
    return this.pinned ? { members: this.pinned, of: null } : { members: this.system.quorums[this.spec.of - 1] ?? [], of: this.spec.of };
  }

  draw(shown) {
    const { system, spec, left } = this;
    const node = this.focused?.dataset?.node;
    this.picture = h("div", { class: "wide picture-box" });
    this.drawPicture(shown);
    const state = left.alive.length > 0 ? "good" : "error";
    fill(
      this.element,
      panel(
        `${spec[this.name]}, ${system.n} nodes`,
        { class: "stack" },
        this.picture,
        h("p", { class: "soft", data: { shown: "" } }, this.shownSentence(shown)),
        h("p", { class: `note ${state}`, data: { survivors: left.alive.length } }, sentence(system, spec.crashed, left)),
        this.survivors(),
        this.assigned(),
      ),
    );
    if (node) focusNode(this.picture.firstElementChild, node);
  }

  drawPicture(shown) {
    const { system, spec, acts } = this;
    fill(this.picture, drawPicture({ system, crashed: spec.crashed, shown, ...acts }));
  }

  shownSentence({ members, of }) {
    const dead = members.filter((node) => this.spec.crashed.has(node));
    const whose = of ? `The quorum of node ${of}` : "The chosen quorum";
    const fate = dead.length === 0 ? "it survives" : `it is broken: ${dead.join(", ")} crashed`;
    return `${whose} is { ${members.join(" ")} }, ${members.length} of ${this.system.n} nodes; ${fate}.`;
  }

  /** The surviving quorums as buttons that show them. */
  survivors() {
    const { alive } = this.left;
    if (alive.length === 0) return null;
    const shortest = [...alive].sort((one, other) => one.length - other.length);
    const entry = (quorum) => {
      const isPinned = this.pinned?.join() === quorum.join();
      return button(quorum.join(" "), () => this.pin(isPinned ? null : quorum), {
        class: "quorum-chip mono",
        "aria-pressed": String(isPinned),
        on: { pointerenter: () => this.drawPicture({ members: quorum, of: null }), pointerleave: () => this.drawPicture(this.shown()) },
      });
    };
    const more = alive.length - LISTED;
    return h(
      "details",
      { open: this.isListOpen ?? true, on: { toggle: (event) => (this.isListOpen = event.target.open) } },
      h("summary", {}, `The ${alive.length === 1 ? "one that survives" : `${alive.length} that survive`} (point at one to see it)`),
      h("div", { class: "buttons quorum-list", data: { list: "survivors" } }, shortest.slice(0, LISTED).map(entry)),
      more > 0 ? h("p", { class: "soft small" }, `… and ${more} more.`) : null,
    );
  }

  pin(quorum) {
    this.pinned = quorum;
    const index = [...this.element.querySelectorAll(".quorum-chip")].indexOf(document.activeElement);
    this.draw(this.shown());
    this.element.querySelectorAll(".quorum-chip")[index]?.focus();
  }

  /** The quorum of each node. */
  assigned() {
    const row = ({ node, members, isAlive }) =>
      h("tr", { class: node === this.spec.of ? "here" : null }, h("th", { scope: "row" }, button(node, () => this.acts.ask(node), { class: "link" })), h("td", { class: "mono" }, members.join(" ")), h("td", { class: isAlive ? "good" : "alarm" }, isAlive ? "✓ survives" : "✗ broken"));
    return h(
      "details",
      { open: this.isTableOpen ?? false, on: { toggle: (event) => (this.isTableOpen = event.target.open) } },
      h("summary", {}, `The quorum of each node. ${assignedSentence(this.left)}`),
      h("div", { class: "wide" }, h("table", { class: "full" }, h("thead", {}, h("tr", {}, ["node", "its quorum", ""].map((head) => h("th", {}, head)))), h("tbody", {}, this.left.assigned.map(row)))),
    );
  }
}
