// What can be changed at a message or at a node, as items of a menu.

import { h } from "../dom.js";
import { isScript } from "./spec.js";
import { aboutMessage } from "./tips.js";

/** The menu of a message: `{title, items}`; `act(change)` makes a change. */
export function messageMenu({ spec, run, story }, { message, way }, act) {
  const end = way?.end ?? message.ends.find((each) => !each.isLost) ?? message.ends[0] ?? null;
  const time = end ? run.events[end.index].time : run.events.at(-1).time + 1;
  const title = h("div", {}, aboutMessage(run, story, message));
  if (spec.trace !== undefined) return { title, items: [{ note: "A recorded file cannot be changed." }] };
  const sent = run.events[message.index].time;
  const retime = (at) => act({ what: "retime", message, end, time: Math.max(sent, at) });
  const isScripted = isScript(spec);
  const isGone = end?.isLost ?? false;
  return {
    title,
    items: [
      isScripted && isGone ? { note: "It is lost already." } : {
        fields: [{ name: "time", label: isScripted ? "Deliver as action" : "Deliver at", value: time }],
        text: "Deliver",
        action: "retime",
        act: ([at]) => retime(at ?? time),
      },
      end && !isGone && time > sent + 1
        ? { text: "Deliver earlier", action: "earlier", act: () => retime(earlier(story, run, message, end, sent)) }
        : null,
      end && !isGone
        ? { text: "Deliver later", action: "later", act: () => retime(later(run, story, time, sent, isScripted)) }
        : null,
      isGone ? null : { text: "Lose it", action: "lose", act: () => act({ what: "lose", message, end }) },
      isScripted ? { text: "Send it twice", action: "twice", act: () => act({ what: "twice", message }) } : {
        fields: [{ name: "time", label: "Second copy at", value: time + Math.max(1, Math.round((time - sent) / 2)) }],
        text: "Duplicate",
        action: "twice",
        act: ([at]) => act({ what: "twice", message, time: at ?? time + 1 }),
      },
    ].filter(Boolean),
  };
}

/** Before the delivery that came just before at the same node, or half of the way. */
function earlier(story, run, message, end, sent) {
  const time = run.events[end.index].time;
  const before = run.events.slice(message.index + 1, end.index).filter((event) =>
    event.event === "deliver" && event.node === message.to
  ).at(-1);
  return before && before.time - 1 > sent ? before.time - 1 : Math.floor((sent + time) / 2);
}

/** Behind the next delivery at the same node. */
function later(run, story, time, sent, isScripted) {
  return isScripted ? time + 1 : time + Math.max(1, time - sent);
}

/** The menu of a node, at a time or else after what is shown. */
export function nodeMenu({ spec, run, story, cut }, { node, time }, act) {
  const shown = run.events[cut - 1]?.time ?? 0;
  const at = time ?? (isScript(spec) || cut === 0 ? shown : shown + 1);
  const title = h("p", { class: "tip-title" }, `node ${node}`, h("span", { class: "soft" }, ` at time ${at}`));
  if (spec.trace !== undefined) return { title, items: [{ note: "A recorded file cannot be changed." }] };
  const others = Array.from({ length: run.nodes }, (_, index) => index + 1).filter((other) => other !== node);
  const cutItem = {
    fields: [{ name: "other", label: "Cut its link to node", choices: others, value: partners(story, node)[0] }, {
      name: "until",
      least: at + 1,
      label: "until",
      placeholder: "ever",
    }],
    text: "Cut",
    action: "cut",
    act: ([other, until]) => act({ what: "cut", nodes: [node, other], from: at, until }),
  };
  const isCrashed = story.lanes[node - 1].crash;
  return {
    title,
    items: [
      isCrashed
        ? { note: `It crashes at ${run.events[isCrashed.index].time}.` }
        : { text: `Crash it at ${at}`, action: "crash", act: () => act({ what: "crash", node, time: at }) },
      isScript(spec) ? { note: "In a script a link is cut by losing its messages." } : run.nodes > 1 ? cutItem : null,
    ].filter(Boolean),
  };
}

/** The nodes that a node talks with, the most frequent first. */
function partners(story, node) {
  const counts = new Map();
  for (const { from, to } of story.messages) {
    const other = from === node ? to : to === node ? from : null;
    if (other !== null && other !== node) counts.set(other, (counts.get(other) ?? 0) + 1);
  }
  return [...counts].sort((one, other) => other[1] - one[1]).map(([other]) => other);
}
