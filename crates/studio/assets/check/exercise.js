// One exercise: the reader is the network and chooses every request, delivery and release. The run so far is a script, which the
// server plays; it answers with the states and with what could be done next.

import { work } from "../api.js";
import { button, fill, h, panel } from "../dom.js";
import { sample } from "../kinds.js";
import { diagram } from "../run/diagram.js";
import { stateTable } from "../run/state.js";
import { tell } from "../run/story.js";
import { scriptAddress } from "./counterexample.js";
import { showMe, wrongDetails } from "./exercises.js";
import { goalOf, hintOf } from "./goals.js";
import { instanceOf, scriptHeading, systemWords } from "./instances.js";
import { wentWrong } from "./solved.js";
import { counted } from "./words.js";

/** Opens the exercise of a specimen. */
export function exerciseView(page, name, query, catalog, app, signal) {
  const about = catalog.algorithms.find((algorithm) => algorithm.name === name && algorithm.specimen);
  if (!about)
    return fill(
      page,
      h("p", { class: "note error" }, `There is no exercise “${name}”. `, h("a", { href: "#/check?tab=exercises" }, "To the list.")),
    );
  const instance = instanceOf(about, catalog);
  const lines = (query.get("play") ?? "")
    .split(";")
    .map((line) => line.trim())
    .filter(Boolean);
  const state = { about, instance, lines, app, signal, run: null, turn: 0 };
  Object.assign(state, parts());
  fill(page, frame(state, catalog));
  signal.addEventListener("abort", () => state.picture.close(), { once: true });
  play(state);
}

function parts() {
  return {
    choices: h("div", { id: "choices", class: "stack" }),
    verdict: h("div", { id: "verdict", "aria-live": "polite" }),
    story: h("ol", { class: "steps", id: "happened" }),
    picture: diagram({ label: "The run so far" }),
    table: stateTable(),
    tools: h("div", { class: "buttons" }),
  };
}

function frame(state, catalog) {
  const { about, instance, choices, verdict, story, picture, table, tools } = state;
  const goal = goalOf(about);
  return h(
    "div",
    { class: "stack", data: { exercise: about.name } },
    panel(
      null,
      { class: "task" },
      h("p", { class: "small" }, h("a", { href: "#/check?tab=exercises" }, "← all exercises")),
      h("h1", {}, about.title, " ", h("span", { class: "soft small" }, about.specimen.id)),
      h(
        "p",
        {},
        h("span", { class: "strong" }, goal.should),
        " ",
        goal.find,
        h("span", { class: "soft" }, ` ${systemWords({ ...instance, requests: null })}.`),
      ),
      h("p", {}, h("i", {}, "Hint: "), hintOf(about.name)),
      wrongDetails(about),
      showMe(about, catalog, false),
      verdict,
    ),
    h(
      "div",
      { class: "playing" },
      panel("What happens next?", {}, tools, choices),
      h("div", { class: "stack seen" }, panel("The run so far", {}, picture.element), panel("What every node knows", {}, table.element)),
      panel("What happened", { class: "told" }, story),
    ),
  );
}

/** Has the server play the lines, and shows what comes of them. */
async function play(state) {
  const turn = (state.turn += 1);
  const script = `${[...scriptHeading(state.instance), "", ...state.lines].join("\n")}\n`;
  remember(state);
  try {
    const run = await work("runs", { script }, { signal: state.signal, wait: 5000 });
    if (turn !== state.turn) return;
    Object.assign(state, { run, script });
    show(state);
  } catch (error) {
    if (error.name === "AbortError" || turn !== state.turn) return;
    state.app.say(error.message, "error");
    tools(state);
  }
}

function remember({ app, about, lines }) {
  const query = new URLSearchParams({ exercise: about.name });
  if (lines.length > 0) query.set("play", lines.join(";"));
  app.replace(`#/check?${query}`);
}

function show(state) {
  const { run, picture, table, story, lines } = state;
  picture.show(run, tell(run));
  picture.setCut(run.events.length);
  picture.reveal();
  table.show(run, run.events.length);
  fill(
    story,
    run.events
      .filter(({ event }) => event !== "start")
      .map((event) => h("li", { class: event.event === "violation" ? "alarm" : null }, event.says)),
  );
  story.lastElementChild?.scrollIntoView({ block: "nearest" });
  tools(state);
  verdictView(state);
  choiceView(state);
  if (run.trouble && lines.length > 0) state.app.say(run.trouble, "error");
}

function tools(state) {
  const isEmpty = state.lines.length === 0;
  const back = (count) => () => {
    state.lines.splice(count);
    play(state);
  };
  fill(
    state.tools,
    button("Undo", back(-1), { disabled: isEmpty, id: "undo" }),
    button("Restart", back(0), { disabled: isEmpty, id: "restart" }),
    isEmpty || !state.script ? null : h("a", { class: "button", href: scriptAddress(state.script, false) }, "Open in Run"),
  );
}

function verdictView(state) {
  const wrong = wentWrong(state.run, goalOf(state.about));
  state.verdict.dataset.solved = String(Boolean(wrong));
  fill(
    state.verdict,
    wrong
      ? h(
          "p",
          { class: "note good solved" },
          h("span", { class: "strong" }, "You did it: "),
          `${wrong}, after ${counted(state.lines.length, "step")}.`,
        )
      : null,
  );
}

const GROUPS = [
  ["request", "Somebody asks"],
  ["deliver", "A message arrives"],
  ["release", "Somebody leaves"],
  ["", "Something else"],
];

function choiceView(state) {
  const rest = [...state.run.choices];
  const groups = GROUPS.map(([word, title]) => {
    const isMeant = ({ line }) => line.startsWith(word);
    const some = rest.filter(isMeant);
    for (const choice of some) rest.splice(rest.indexOf(choice), 1);
    return some.length > 0
      ? h(
          "div",
          {},
          h("h3", {}, title),
          h(
            "div",
            { class: "options" },
            some.map((choice) => choiceButton(state, choice)),
          ),
        )
      : null;
  });
  const none = h("p", { class: "soft" }, "Nothing can happen any more. Undo a step, or restart.");
  const hadFocus = state.choices.contains(document.activeElement);
  fill(state.choices, state.run.choices.length > 0 ? groups : none);
  if (hadFocus) (state.choices.querySelector("button") ?? state.tools.querySelector("button")).focus({ preventScroll: true });
}

function choiceButton(state, { line, says, kind }) {
  const choose = () => {
    state.lines.push(line);
    play(state);
  };
  return button([kind ? sample(kind) : null, says], choose, { class: "choice", data: { choice: line } });
}
