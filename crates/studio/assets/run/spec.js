// A run as words: the same ones in the form, in the address, on the command line and in what the server is asked.
//
// A spec is `{algorithm, nodes, …, options: {quorum, …}, crash: […], partition: […], message: […]}`, or `{script, files?}`, or `{trace}`.

import { CHOICES, RUN, isList, valueOf } from "../settings.js";

const SINGLE = RUN.filter((setting) => !isList(setting));
const LISTS = RUN.filter(isList).map(({ name }) => name);

/** The run that is shown first. */
export const FIRST = {
  algorithm: "maekawa",
  nodes: 7,
  entries: 5,
  load: "active:3",
  latency: "uniform:5:15",
  options: { quorum: "plane" },
  seed: "7",
};

/** Reads `#/run?…`: `{spec, at}`; `at` is null if the address does not say. */
export function fromQuery(query) {
  const at = query.has("at") ? Math.max(0, Number(query.get("at")) || 0) : null;
  if (query.has("script")) return { spec: scriptFrom(query), at };
  if (!query.has("algorithm")) return { spec: structuredClone(FIRST), at };
  const spec = { algorithm: query.get("algorithm") };
  for (const setting of SINGLE) {
    if (query.has(setting.name)) spec[setting.name] = valueOf(setting, query.get(setting.name));
  }
  for (const name of LISTS) if (query.has(name)) spec[name] = query.getAll(name);
  const options = {};
  for (const name of CHOICES) if (query.has(name)) options[name] = query.get(name);
  for (const [name, value] of query) if (name.startsWith("set.")) options[name.slice(4)] = value;
  if (Object.keys(options).length > 0) spec.options = options;
  return { spec, at };
}

function scriptFrom(query) {
  const files = {};
  for (const [name, text] of query) if (name.startsWith("file.")) files[name.slice(5)] = text;
  return { script: query.get("script"), ...(Object.keys(files).length > 0 ? { files } : {}) };
}

/** Writes `#/run?…`. A recorded file is too long for an address, which then names nothing. */
export function toHash(spec, at, extra = {}) {
  const query = new URLSearchParams();
  if (spec.script !== undefined) {
    query.set("script", spec.script);
    for (const [name, text] of Object.entries(spec.files ?? {})) query.set(`file.${name}`, text);
  } else if (spec.trace === undefined) {
    for (const name of ["algorithm", ...SINGLE.map((setting) => setting.name)]) {
      if (isSaid(spec[name])) query.set(name, spec[name]);
    }
    for (const [name, value] of Object.entries(spec.options ?? {})) {
      if (isSaid(value)) query.set(CHOICES.includes(name) ? name : `set.${name}`, value);
    }
    for (const name of LISTS) for (const word of spec[name] ?? []) query.append(name, word);
  } else {
    query.set("file", "");
  }
  if (at !== null && at !== undefined) query.set("at", at);
  for (const [name, value] of Object.entries(extra)) if (isSaid(value)) query.set(name, value);
  return `#/run?${readable(query)}`;
}

function isSaid(value) {
  return value !== null && value !== undefined && value !== "" && value !== false;
}

/** Leaves signs as they are that need not be escaped behind a `#`, so that people can read the address. */
function readable(query) {
  return query.toString().replace(/%3A/g, ":").replace(/%40/g, "@").replace(/%2C/g, ",").replace(/%7C/g, "|").replace(
    /%2F/g,
    "/",
  );
}

/** Are they the same run? */
export function isSame(one, other) {
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

function sorted(value) {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
  const said = Object.entries(value).filter(([, content]) =>
    isSaid(content) && !(Array.isArray(content) && content.length === 0)
  );
  return Object.fromEntries(
    said.sort(([one], [other]) => (one < other ? -1 : 1)).map(([name, content]) => [name, sorted(content)]),
  );
}

/** Is it played by a script? */
export function isScript(spec) {
  return spec.script !== undefined;
}
