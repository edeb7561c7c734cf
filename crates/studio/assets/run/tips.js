// What is told about a message or an event: the rule that made it, with its text, and what it came of.

import { h } from "../dom.js";
import { kindName } from "../kinds.js";

/** A sentence about a message, for those who cannot see the arrow. */
export function sentence(run, message) {
  const ends = message.ends.map((end) =>
    `${end.isLost ? "lost" : "delivered"} at ${run.events[end.index].time}${end.why ? `: ${end.why}` : ""}`
  );
  const fate = ends.length > 0 ? ends.join(", ") : "still under way";
  return `${message.kind} from ${message.from} to ${message.to}, sent at ${run.events[message.index].time}, ${fate}`;
}

/** All about a message. */
export function aboutMessage(run, story, message) {
  const event = run.events[message.index];
  return [
    h(
      "p",
      { class: "tip-title" },
      kindName(message.kind),
      ` ${message.from} → ${message.to} `,
      h("span", { class: "soft" }, `message ${message.number}`),
    ),
    h("p", {}, `sent at ${event.time}, `, fates(run, message)),
    ruleText(run, event),
    causeText(run, story, event),
    event.message === undefined ? null : h("p", { class: "mono soft" }, brief(event.message)),
  ];
}

function fates(run, message) {
  if (message.ends.length === 0) return "still under way at the end";
  return message.ends.map((end) =>
    `${end.isLost ? "lost" : "delivered"} at ${run.events[end.index].time}${end.why ? ` (${end.why})` : ""}`
  ).join(", ");
}

/** Which rule made an event, with its text. */
export function ruleText(run, event) {
  if (event.rule) {
    const text = run.rules.find(([name]) => name === event.rule)?.[1];
    return h("p", { class: "rule" }, "rule ", h("b", {}, event.rule), text ? `: ${text}` : "");
  }
  const line = event.line ? run.lines?.[event.line - 1] : null;
  return line ? h("p", { class: "rule mono" }, `line ${event.line}: ${line}`) : null;
}

function causeText(run, story, event) {
  const cause = run.events[story.placeOf.get(event.cause)];
  return cause ? h("p", { class: "soft" }, `because ${uncapitalised(cause.says)} (at ${cause.time})`) : null;
}

/** The content of a message in short. */
export function brief(message) {
  const text = typeof message === "string" ? message : JSON.stringify(message);
  return text.length > 160 ? `${text.slice(0, 159)}…` : text;
}

/** A sentence as a part of another. */
export function uncapitalised(text) {
  const plain = String(text ?? "").replace(/\.$/, "");
  return /^[A-Z][a-z]/.test(plain) ? plain[0].toLowerCase() + plain.slice(1) : plain;
}
