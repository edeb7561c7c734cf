// Which page is open: the part of the address behind `#/` says it, and the rest is the page's own.
//
// A page is a module with `open(page, query, app)`, which fills an element and returns `{update(query)?, close()?}`. `update` is called
// when only the query changes; without it the page is opened anew. Styles of its own are in `export const styles = ["run/page.css"]`.

import { get } from "./api.js";
import { fill, h } from "./dom.js";

const PAGES = {
  run: "Run",
  compare: "Compare",
  check: "Check",
  quorums: "Quorums",
  memory: "Shared memory",
  tours: "Tours",
};

const element = document.getElementById("page");
const said = document.getElementById("say");
let shown = { name: null, hash: null, page: {} };
let catalog = null;
let quiet = null;

/** What pages may ask of the shell. */
const app = {
  /** Goes to an address, `#/run?…`, as a new step of the browser's history. */
  go(hash) {
    if (location.hash === hash) arrive();
    else location.hash = hash;
  },
  /** Says where one is, without a new step of the history and without an update of the page. */
  replace(hash) {
    if (isLeaving()) return;
    history.replaceState(null, "", hash);
    shown.hash = here();
  },
  /** Says where one is as a new step of the history, without an update of the page. */
  push(hash) {
    if (isLeaving() || location.hash === hash) return;
    history.pushState(null, "", hash);
    shown.hash = here();
  },
  /** The catalog of algorithms, programs, scripts and quorum systems; asked for once. */
  catalog() {
    catalog ??= get("catalog").catch((error) => {
      catalog = null;
      throw error;
    });
    return catalog;
  },
  /** Says a sentence, for a while; errors until the next one. */
  say(sentence, tone = "info") {
    clearTimeout(quiet);
    fill(
      said,
      sentence
        ? h(
          "p",
          { class: `note ${tone}` },
          sentence,
          h("button", {
            type: "button",
            class: "quiet",
            "aria-label": "Close",
            on: { click: () => fill(said) },
          }, "×"),
        )
        : null,
    );
    if (sentence && tone !== "error") quiet = setTimeout(() => fill(said), 5000);
  },
};

/** The address behind the page's own. */
function here() {
  return location.hash || "#/run";
}

/** Whether one has gone elsewhere and the page that is shown has not been told yet: then where it is does not matter any more. */
function isLeaving() {
  return here() !== shown.hash;
}

async function arrive() {
  const hash = here();
  if (!hash.startsWith("#/")) return;
  const [name, ...rest] = hash.slice(2).split("?");
  const query = new URLSearchParams(rest.join("?"));
  if (!Object.hasOwn(PAGES, name)) return lost(name);
  app.say(null);
  guide(name, query);
  const isSame = shown.name === name;
  shown.hash = hash;
  if (isSame && shown.page.update) return shown.page.update(query);
  shown.page.close?.();
  mark(name);
  shown = { name, hash, page: {} };
  await opened(name, query);
}

/** Shows the guide of a tour where the address asks for it, and hides it when one goes elsewhere. */
async function guide(name, query) {
  if (!query.has("tour") && document.getElementById("tour").hidden) return;
  const panel = await import("./tours/panel.js");
  if (query.has("tour")) panel.show(query.get("tour"), Number(query.get("step") ?? 1), app);
  else if (panel.pageOf() !== name) panel.hide();
}

async function opened(name, query) {
  try {
    const module = await import(`./${name}/page.js`);
    await Promise.all((module.styles ?? []).map(styled));
    if (shown.name !== name) return;
    dress(module.styles ?? []);
    element.className = `page-${name}`;
    window.scrollTo(0, 0);
    shown.page = module.open(fill(element), query, app) ?? {};
  } catch (error) {
    fill(element, h("p", { class: "note error" }, `The page ${PAGES[name]} cannot be opened: ${error.message}`));
    throw error;
  }
}

/** Loads a sheet of styles, once. */
function styled(address) {
  if (document.head.querySelector(`link[href="${address}"]`)) return Promise.resolve();
  return new Promise((resolve) => {
    const on = { load: resolve, error: resolve };
    document.head.append(h("link", { rel: "stylesheet", href: address, media: "not all", data: { sheet: "" }, on }));
  });
}

/** Lets only these sheets count, so that no page looks otherwise after a visit to another one. */
function dress(styles) {
  for (const link of document.head.querySelectorAll("link[data-sheet]")) {
    link.media = styles.includes(link.getAttribute("href")) ? "all" : "not all";
  }
}

function lost(name) {
  shown.page.close?.();
  shown = { name: null, hash: null, page: {} };
  mark(null);
  fill(
    element,
    h("p", { class: "note" }, `There is no page “${name}”. `, h("a", { href: "#/run" }, "To the page Run.")),
  );
}

function mark(name) {
  for (const link of document.querySelectorAll("#navigation a")) {
    if (link.dataset.page === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = name ? `${PAGES[name]} · Doorway studio` : "Doorway studio";
}

/** The switch of colours: as the machine prefers, light, dark. */
function themes() {
  const root = document.documentElement;
  const control = document.getElementById("theme");
  const show = () => {
    control.textContent = { light: "Light", dark: "Dark" }[root.dataset.theme] ?? "Auto";
  };
  control.addEventListener("click", () => {
    const next = { undefined: "light", light: "dark" }[root.dataset.theme];
    if (next) root.dataset.theme = next;
    else delete root.dataset.theme;
    try {
      localStorage.setItem("theme", next ?? "auto");
    } catch {
      // Then it lasts until the page is closed.
    }
    show();
  });
  show();
}

document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  element.focus();
});
window.addEventListener("hashchange", () => {
  if (isLeaving()) arrive();
});
themes();
arrive();
