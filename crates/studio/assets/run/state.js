// What every node knew at the cut, in the textbook's words: a table, or a list of cards where the screen is narrow.

import { fill, h } from "../dom.js";

/** The last of some changes, `[[count, value], …]`, that had happened after so many events. */
export function latest(changes, count) {
  let low = 0;
  let high = changes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (changes[middle][0] <= count) low = middle + 1;
    else high = middle;
  }
  return low > 0 ? changes[low - 1][1] : null;
}

/** What a node's permission says. */
export function permissionText(permission) {
  if (!permission) return "–";
  if (permission.token) return "has the token";
  return typeof permission.vote === "number" ? `vote given to ${permission.vote}` : "vote free";
}

/** The table of states: `{element, show(run, cut)}`. */
export function stateTable() {
  const box = h("div", {
    class: "wide states",
    tabindex: "0",
    role: "region",
    "aria-label": "State of every node at the cut",
  });
  return { element: box, show: (run, cut) => draw(box, run, cut) };
}

function draw(box, run, cut) {
  if (run.states.length === 0 || cut > run.known) {
    fill(
      box,
      h(
        "p",
        { class: "soft" },
        run.trouble ? `States are known up to event ${run.known}: ${run.trouble}` : "This run tells no states.",
      ),
    );
    return;
  }
  const columns = columnsOf(run);
  const here = run.events[cut - 1]?.node;
  const rows = run.states.map((changes, index) => row(columns, changes, index + 1, cut, index + 1 === here));
  const heading = h(
    "tr",
    {},
    h("th", { scope: "col" }, "node"),
    columns.map(({ name }) => h("th", { scope: "col" }, name)),
  );
  const scrolled = [box.scrollLeft, box.scrollTop];
  fill(box, h("table", { class: "full cards", data: { cut } }, h("thead", {}, heading), h("tbody", {}, rows)));
  [box.scrollLeft, box.scrollTop] = scrolled;
}

function columnsOf(run) {
  const some = (test) => run.states.some((changes) => changes.some(([, state]) => test(state)));
  const columns = [{ name: "phase", of: (state) => state.phase, isPhase: true }];
  if (some((state) => state.waits.length > 0)) {
    columns.push({
      name: "waits for",
      of: (state) => state.waits.join(" ") || "–",
    });
  }
  if (some((state) => state.permission)) {
    columns.push({
      name: "permission",
      of: (state) => permissionText(state.permission),
    });
  }
  run.fields.forEach((name, place) => columns.push({ name, of: (state) => state.fields[place] ?? "" }));
  return columns;
}

function row(columns, changes, node, cut, isHere) {
  const now = latest(changes, cut);
  const before = cut > 0 ? latest(changes, cut - 1) : now;
  if (!now) return h("tr", {}, h("th", { scope: "row" }, node));
  const cells = columns.map(({ name, of, isPhase }) => {
    const [value, old] = [of(now), before ? of(before) : null];
    const content = isPhase ? h("span", { class: `phase ${value}` }, value) : value;
    return h("td", {
      class: value === old ? null : "new",
      data: { field: name },
      title: value === old ? null : `was ${old === "" || old === null ? "empty" : old}`,
    }, content);
  });
  return h(
    "tr",
    { class: isHere ? "here" : null, data: { node } },
    h("th", { scope: "row" }, h("span", { class: "node-word" }, "node "), node),
    cells,
  );
}
