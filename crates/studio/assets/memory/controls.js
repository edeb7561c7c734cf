// What is run: the program, how many processes, over which registers and memory; and examples to begin with.

import { button, field, fill, h, select } from "../dom.js";
import { systemOf } from "../check/instances.js";
import { headingOf, queryOfHeading } from "./script.js";

/** Draws the controls of a heading into an element. Every choice goes to its own address. */
export function controlsView(element, heading, catalog, app) {
  const about = catalog.programs.find(({ name }) => name === heading.program);
  const go = (changes) => app.go(`#/memory?${queryOfHeading({ ...heading, ...changes })}`);
  const most = about?.most_nodes ?? 8;
  const to = (name) => (event) => go({ [name]: event.target.value || undefined });
  fill(
    element,
    h(
      "div",
      { class: "row end" },
      field(
        "Program",
        programs(heading, catalog, (name) => go(fitting(name, heading, catalog))),
      ),
      field(
        "Processes",
        h("input", {
          type: "number",
          name: "nodes",
          min: 1,
          max: most,
          value: heading.nodes,
          on: { change: (event) => go({ nodes: Number(event.target.value) || 2 }) },
        }),
      ),
      field(
        "Registers",
        select([["", "atomic"], "regular", ["safe", "safe, last write wins"], ["safe-any", "safe, any value left"]], heading.registers ?? "", {
          name: "registers",
          on: { change: to("registers") },
        }),
        "What a read returns that overlaps a write, and what writes leave that overlap each other",
      ),
      field(
        "Memory",
        select(
          [
            ["", "sequential"],
            ["tso", "total store order"],
            ["pso", "partial store order"],
          ],
          heading.memory ?? "",
          { name: "memory", on: { change: to("memory") } },
        ),
        "When a write is seen by others: at once, later in order, or later in any order",
      ),
      field(
        "Barriers",
        h("input", { name: "barrier", size: 5, value: heading.barrier ?? "", placeholder: "on", on: { change: to("barrier") } }),
        "on, off, or the numbers of those that stay: 1,2",
      ),
      isTicketed(about)
        ? field(
            "Largest ticket",
            h("input", {
              type: "number",
              name: "tickets",
              min: 2,
              value: heading.tickets ?? "",
              placeholder: "4",
              on: { change: to("tickets") },
            }),
          )
        : null,
      (about?.parameters ?? []).map((parameter) =>
        field(
          parameter.name,
          h("input", {
            name: parameter.name,
            size: 8,
            value: heading.options[parameter.name] ?? "",
            placeholder: parameter.default,
            on: { change: (event) => go({ options: { ...heading.options, [parameter.name]: event.target.value } }) },
          }),
          parameter.help,
        ),
      ),
    ),
    h("div", { class: "row end" }, examples(catalog, app), lassoButton(app)),
  );
}

/** Bakeries have tickets, and a limit up to which they are followed. */
function isTicketed(about) {
  return /bakery|black-white/.test(about?.name ?? "");
}

/** The heading for another program: what does not fit it is left out. */
function fitting(name, heading, catalog) {
  const about = catalog.programs.find((program) => program.name === name);
  const nodes = Math.min(heading.nodes, about?.most_nodes ?? 8);
  return { program: name, nodes, options: {}, tickets: undefined, ...systemOf(name) };
}

function programs(heading, catalog, choose) {
  const option = ({ name }) => h("option", { value: name, selected: name === heading.program }, name);
  const [right, wrong] = [catalog.programs.filter(({ specimen }) => !specimen), catalog.programs.filter(({ specimen }) => specimen)];
  return h(
    "select",
    { name: "program", on: { change: (event) => choose(event.target.value) } },
    h("optgroup", { label: "Programs" }, right.map(option)),
    h("optgroup", { label: "Specimens, wrong on purpose" }, wrong.map(option)),
  );
}

function examples(catalog, app) {
  const some = catalog.scripts.filter(({ memory }) => memory);
  const choices = [["", "choose one …"], ...some.map(({ name, text }) => [name, `${headingOf(text).program}: ${titleOf(name)}`])];
  const change = (event) => {
    if (event.target.value) app.go(`#/memory?${new URLSearchParams({ script: `example:${event.target.value}` })}`);
  };
  return field("Examples", select(choices, "", { name: "example", on: { change } }));
}

function titleOf(name) {
  return name.replace(/^memory\//, "").replaceAll("-", " ");
}

/** Has starvation of Lamport's fast algorithm checked, and opens the run that is found. */
function lassoButton(app) {
  const address = `#/memory?${new URLSearchParams({ program: "lamport-fast", nodes: 2, find: "starvation-freedom" })}`;
  return button("The lasso of Lamport's fast algorithm", () => app.go(address), { id: "lasso" });
}
