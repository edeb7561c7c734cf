// What just happened: the event at the cut, the rule that made it with its sentence, what it came of, all rules of the algorithm
// with the current one marked, and the list of all events.

import { button, fill, h } from "../dom.js";
import { kindName } from "../kinds.js";
import { timeOf } from "./times.js";
import { brief, ruleText } from "./tips.js";

/** The event at the cut: `{element, show(run, story, cut, clock)}`; `go(count)` follows a cause, `clock` tells its logical time. */
export function now(go) {
  const element = h("div", { class: "now-event", id: "event", role: "status" });
  return { element, show: (run, story, cut, clock) => fill(element, told(run, story, cut, clock, go)) };
}

function told(run, story, cut, clock, go) {
  const event = run.events[cut - 1];
  if (!event) {
    return [
      h("p", { class: "says" }, "Before anything happens."),
      h("p", { class: "soft" }, "Step forward with → or play with space."),
    ];
  }
  const place = story.placeOf.get(event.cause);
  const time = timeOf(run, cut - 1, clock);
  return [
    h(
      "p",
      { class: "soft small" },
      `event ${cut} · time ${event.time} · node ${event.node} `,
      event.kind ? kindName(event.kind) : null,
    ),
    h("p", { class: `says${event.event === "violation" ? " alarm" : ""}`, data: { says: "" } }, event.says),
    time ? h("p", { class: "small", data: { time: "" } }, time) : null,
    ruleText(run, event),
    event.message === undefined ? null : h("p", { class: "mono soft small" }, brief(event.message)),
    place === undefined
      ? null
      : h("p", { class: "small" }, "because ", button(run.events[place].says, () => go(place + 1), { class: "link" })),
  ];
}

/** All rules, with the one that just ran marked: `{element, show(run, cut)}`. */
export function rules() {
  const element = h("ol", { class: "rules", id: "rules" });
  let shown = null;
  const show = (run, cut) => {
    if (shown !== run) {
      fill(
        element,
        run.rules.map(([name, text]) => h("li", { data: { rule: name } }, h("b", {}, name), ` ${text}`)),
      );
    }
    shown = run;
    const current = ruleAt(run, cut);
    for (const item of element.children) {
      const isHere = item.dataset.rule === current;
      item.classList.toggle("here", isHere);
      if (isHere) item.setAttribute("aria-current", "true");
      else item.removeAttribute("aria-current");
    }
  };
  return { element, show };
}

function ruleAt(run, cut) {
  return run.events[cut - 1]?.rule ?? null;
}

const MOST_LISTED = 400;

/** The list of events around the cut, drawn only while it is open: `{element, show(run, cut)}`. */
export function eventList(go) {
  const list = h("ol", { class: "events" });
  const element = h(
    "details",
    { id: "events" },
    h("summary", { class: "heading" }, "All events"),
    h("div", { class: "wide events-box" }, list),
  );
  let last = null;
  const draw = () => {
    if (element.open && last) drawList(list, last.run, last.cut, go);
  };
  element.addEventListener("toggle", draw);
  return {
    element,
    show: (run, cut) => {
      last = { run, cut };
      draw();
    },
  };
}

function drawList(list, run, cut, go) {
  const first = Math.max(0, Math.min(cut - MOST_LISTED / 2, run.events.length - MOST_LISTED));
  const some = run.events.slice(first, first + MOST_LISTED);
  list.start = first + 1;
  fill(
    list,
    some.map((event, place) => {
      const count = first + place + 1;
      return h(
        "li",
        { class: count === cut ? "here" : count > cut ? "later" : null, data: { event: count } },
        h("span", { class: "soft" }, `t ${event.time} `),
        button(event.says, () => go(count), { class: "link" }),
        event.rule ? h("span", { class: "soft" }, ` by ${event.rule}`) : null,
      );
    }),
  );
  list.querySelector(".here")?.scrollIntoView({ block: "nearest" });
}
