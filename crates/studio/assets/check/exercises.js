// The specimens as exercises: what should hold and what to look for; what is wrong stays hidden until asked for.

import { h } from "../dom.js";
import { queryOfHeading } from "../memory/script.js";
import { goalOf, hintOf, programGoal } from "./goals.js";
import { instanceOf, scriptHeading, shippedScript, systemWords } from "./instances.js";

/** Lists all specimens. */
export function exercisesView(element, catalog) {
  const wrong = (some) => some.filter(({ specimen }) => specimen);
  element.append(
    h(
      "p",
      {},
      "Each specimen is an algorithm with one mistake, most of them once printed somewhere. You are the network and the scheduler: choose who asks, which message arrives and who leaves, until the promise breaks.",
    ),
    group("Over messages", wrong(catalog.algorithms), catalog, false),
    group("Over shared memory", wrong(catalog.programs), catalog, true),
  );
}

function group(title, specimens, catalog, isProgram) {
  return h(
    "section",
    {},
    h("h2", {}, title),
    h(
      "div",
      { class: "columns exercises" },
      specimens.map((about) => card(about, catalog, isProgram)),
    ),
  );
}

function card(about, catalog, isProgram) {
  const goal = isProgram ? programGoal(about) : goalOf(about);
  const system = { ...instanceOf(about, catalog), requests: null, isProgram };
  return h(
    "article",
    { class: "panel exercise", data: { exercise: about.name } },
    h("h3", {}, about.title, " ", h("span", { class: "soft small" }, about.specimen.id)),
    h("p", {}, goal.should, " ", goal.find, " ", h("span", { class: "soft" }, `${capital(systemWords(system))}.`)),
    h("p", {}, h("i", {}, "Hint: "), hintOf(about.name)),
    wrongDetails(about),
    h(
      "div",
      { class: "buttons" },
      h("a", { class: "button primary", href: exerciseAddress(about, catalog, isProgram), data: { find: "" } }, "Find the run yourself"),
      showMe(about, catalog, isProgram),
    ),
  );
}

/** What is wrong, to be unfolded. */
export function wrongDetails(about) {
  const { wrong, verdict, of } = about.specimen;
  return h(
    "details",
    {},
    h("summary", {}, "What is wrong?"),
    h("p", { data: { wrong: "" } }, `${capital(wrong)}. What comes of it: ${verdict}. A specimen of ${of}.`),
  );
}

/** A link to the run that ships with a specimen, or to the check that finds one. */
export function showMe(about, catalog, isProgram) {
  const script = shippedScript(about.name, catalog);
  const shipped = () => `#/run?${new URLSearchParams({ script: `example:${script.name}` })}`;
  const href = isProgram
    ? findAddress(about, catalog)
    : script
      ? shipped()
      : `#/check?${new URLSearchParams({ tab: "one", algorithm: about.name })}`;
  return h("a", { class: "button", href, data: { show: "" } }, "Show me");
}

/** Where a run against a program is looked for and shown. */
function findAddress(about, catalog) {
  const { algorithm, options = {}, ...rest } = instanceOf(about, catalog);
  const query = queryOfHeading({ program: algorithm, options, ...rest });
  query.set("find", goalOf(about).property);
  query.set("exercise", about.name);
  return `#/memory?${query}`;
}

/** Where one plays it. */
export function exerciseAddress(about, catalog, isProgram) {
  if (!isProgram) return `#/check?${new URLSearchParams({ exercise: about.name })}`;
  const script = `${scriptHeading(instanceOf(about, catalog)).join("\n")}\n`;
  return `#/memory?${new URLSearchParams({ script, exercise: about.name })}`;
}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
