// Draws the lanes of nodes: a thin line outside, hatched while waiting, solid inside, and below it the ribbon of the vote or token.

import { svg } from "../dom.js";

/** Draws all lanes between two places of the picture into a group. */
export function drawLanes(group, story, places, lane, window) {
  const { top, bottom } = window;
  for (let node = lane.nodeAt(top); node <= lane.nodeAt(bottom); node += 1) {
    const band = svg("g", { class: "lane", data: { node } });
    band.append(...stays(story, places, lane, node, window), ...ribbon(story, places, lane, node, window));
    const { crash, restarted } = story.lanes[node - 1];
    if (crash) band.append(svg("path", { d: `M${places.x(crash.moment)} ${lane.y(node)}H${places.end}`, class: "crashed-lane" }));
    for (const one of crash ? [...restarted, crash] : restarted) band.append(...crashed(places, lane, node, one));
    group.append(band);
  }
}

function stays(story, places, lane, node, { left, right }) {
  const y = lane.y(node);
  const { stays: all, crash } = story.lanes[node - 1];
  const end = crash ? places.x(crash.moment) : Math.min(places.end, right);
  const shapes = [svg("path", { d: `M${Math.max(0, left)} ${y}H${Math.max(0, end)}`, class: "lane-line" })];
  for (const stay of all) {
    const [from, until] = [places.x(stay.from), places.x(stay.until)];
    if (stay.phase === "outside" || until < left || from > right) continue;
    shapes.push(...block(stay, Math.max(from, left - 20), Math.min(until, right + 20), y, lane));
  }
  return shapes;
}

function block(stay, from, until, y, lane) {
  const isInside = stay.phase === "inside";
  const wide = Math.max(isInside ? 3 : 0, until - from);
  const rectangle = svg("rect", {
    x: from,
    y: y - lane.bar / 2,
    width: wide,
    height: lane.bar,
    rx: isInside ? 2 : 0,
    class: `band ${stay.phase}`,
    data: { event: stay.index + 1, phase: stay.phase },
  });
  const text = isInside && lane.bar >= 11 ? (wide >= 44 ? "inside" : wide >= 18 ? "in" : null) : null;
  return text ? [rectangle, svg("text", { x: from + wide / 2, y: y + 3.6, class: "on-band" }, text)] : [rectangle];
}

function ribbon(story, places, lane, node, { left, right }) {
  const { down, height } = lane.ribbon;
  const y = lane.y(node) + down;
  const shapes = [];
  for (const piece of story.lanes[node - 1].ribbon) {
    const [from, until] = [places.x(piece.from), Math.max(places.x(piece.from) + 2, places.x(piece.until))];
    if (until < left || from > right) continue;
    const isToken = piece.holder === "token";
    const look = isToken ? "token" : `vote hue${(piece.holder - 1) % 8}`;
    shapes.push(
      svg("rect", { x: from, y, width: until - from, height, class: `ribbon ${look}`, data: { holder: piece.holder } }),
    );
    const room = Math.min(until, right) - Math.max(from, left);
    const text = isToken ? "token" : `${piece.holder}`;
    if (lane.pitch >= 48 && room > (isToken ? 34 : 14)) {
      shapes.push(svg("text", { x: Math.max(from, left) + 3, y: y + height + 9, class: "ribbon-name" }, text));
    }
  }
  return shapes;
}

function crashed(places, lane, node, crash) {
  const [x, y] = [places.x(crash.moment), lane.y(node)];
  return [
    svg("circle", { cx: x, cy: y, r: 7, class: "crash" }),
    svg("path", {
      d: `M${x - 4} ${y - 4}l8 8M${x - 4} ${y + 4}l8-8`,
      class: "crash",
      data: { event: crash.index + 1 },
    }),
  ];
}

/** Marks what must never happen, and shades what repeats itself for ever. */
export function drawMarks(group, story, places, lane) {
  if (story.loop) {
    const x = places.x(story.loop.moment) - 5;
    group.append(
      svg("rect", {
        x,
        y: 0,
        width: Math.max(4, places.end - x + 8),
        height: lane.height,
        class: "loop",
        data: { loop: "" },
      }),
    );
    group.append(svg("text", { x: x + 4, y: lane.height - 4, class: "small-text" }, "repeats for ever"));
  }
  for (const { moment, index } of story.violations) {
    const x = places.x(moment);
    const y = lane.y(story.events[index].node) - lane.bar / 2 - 3;
    group.append(svg("path", { d: `M${x} 0V${lane.height}`, class: "violation-line" }));
    group.append(svg("path", { d: `M${x} ${y}l-6-11h12Z`, class: "violation", data: { event: index + 1 } }));
  }
}
