// The numbers of a run against the formula of the book, and how the run ended.

import { fill, h } from "../dom.js";
import { kindName, look } from "../kinds.js";
import { underWay } from "./story.js";

/** The panel's content: `{element, show(run, story)}`. */
export function metrics() {
  const element = h("div", { id: "metrics" });
  return { element, show: (run, story) => fill(element, bars(run, story), table(run, story)) };
}

/** How it ended, as a sentence. */
export function ended(run) {
  const isLoop = run.events.some((event) => event.event === "loop");
  const tone = isLoop
    ? ""
    : { done: "good", stalled: "error", violated: "error", refused: "error" }[run.end?.state] ?? "";
  const sign = isLoop ? "↻" : { done: "✓", stalled: "✗", violated: "✗", cut: "…", refused: "✗" }[run.end?.state] ?? "";
  return run.end
    ? h(
      "p",
      { class: `note ${tone} ending`, id: "ending", data: { end: run.end.state } },
      `${sign} ${run.end.sentence}`,
    )
    : null;
}

function bars(run, story) {
  const counts = new Map();
  for (const { kind } of story.messages) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  if (counts.size === 0) return null;
  const most = Math.max(...counts.values());
  return h(
    "div",
    { class: "bars", role: "list", "aria-label": "Messages by kind" },
    [...counts].map(([kind, count]) => {
      const bar = h("span", { class: `bar hue${look(kind).hue}-text`, style: { width: `${(count / most) * 100}%` } });
      return h(
        "div",
        { role: "listitem", data: { kind, count } },
        kindName(kind),
        h("span", { class: "bar-room" }, bar),
        h("span", { class: "bar-count" }, count),
      );
    }),
  );
}

function table(run, story) {
  const { formula } = run;
  const report = run.report ?? {};
  const order = story.entries.map((index) => run.events[index].node);
  const rows = [
    [
      "messages per entry",
      perEntry(report, story),
      formula ? messagesFormula(formula) : "",
      isOver(story) ? verdict(report, formula) : null,
    ],
    ["synchronisation delay", times(report.sync_delay), formula?.delay ?? ""],
    ["response time", times(report.response_time), ""],
    ["waiting time", times(report.waiting_time), ""],
    [
      "entries",
      `${report.entries ?? story.entries.length}${report.time === undefined ? "" : ` in ${report.time} ticks`}`,
      "",
    ],
    [
      "order of entries",
      order.length > 0 ? order.slice(0, 24).join(", ") + (order.length > 24 ? ", …" : "") : "none",
      "",
    ],
    report.fairness
      ? ["fairness", `Jain's index ${number(report.fairness.jain)}, most bypassed ${report.fairness.max_bypass}`, ""]
      : null,
    report.lost > 0 || report.duplicated > 0
      ? ["faults", `${report.lost} lost, ${report.duplicated} doubled`, ""]
      : null,
  ].filter(Boolean);
  const cells = ([name, here, book, mark]) =>
    h(
      "tr",
      { data: { metric: name } },
      h("th", { scope: "row" }, name),
      h("td", {}, here, mark ? ` ${mark}` : ""),
      h("td", { class: "soft" }, book),
    );
  return h(
    "div",
    { class: "wide" },
    h(
      "table",
      { class: "full" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", { scope: "col" }, "metric"),
          h("th", { scope: "col" }, "this run"),
          h("th", { scope: "col" }, "formula"),
        ),
      ),
      h("tbody", {}, rows.map(cells)),
    ),
  );
}

function perEntry(report, story) {
  const total = report.messages ?? story.messages.length;
  return report.messages_per_entry === null || report.messages_per_entry === undefined
    ? `${total} in all`
    : `${number(report.messages_per_entry)} (${total} in all)`;
}

function messagesFormula({ messages, least, most }) {
  const range = least === null || least === undefined
    ? ""
    : least === most
    ? ` = ${number(least)}`
    : ` = ${number(least)} … ${most === null || most === undefined ? "∞" : number(most)}`;
  return `${messages}${range}`;
}

/** Whether a run came to rest, so that its numbers can be judged: in the middle of it, messages of some entries are still to come. */
function isOver(story) {
  const isAtRest = ({ stays, crash }) => crash || (stays.at(-1)?.phase ?? "outside") === "outside";
  return story.lanes.every(isAtRest) && underWay(story, story.events.length).length === 0;
}

function verdict(report, formula) {
  const here = report.messages_per_entry;
  if (here === null || here === undefined || formula?.least === null || formula?.least === undefined) return null;
  if (here < formula.least - 1e-9) return "(below)";
  return formula.most !== null && formula.most !== undefined && here > formula.most + 1e-9 ? "(above)" : "(within)";
}

function times(summary) {
  if (!summary || summary.mean === null || summary.mean === undefined || summary.count === 0) return "–";
  return `${number(summary.mean)} on average, at most ${number(summary.max)}`;
}

function number(value) {
  return typeof value === "number" ? String(Math.round(value * 1000) / 1000) : String(value ?? "–");
}
