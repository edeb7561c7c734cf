// A piece of work with its progress: a bar with a cancel button while it runs, and one at a time in its place.

import { work } from "../api.js";
import { fill, progressBar } from "../dom.js";

/**
 * Has work done and shows its progress in `place`. Returns `{result}`, `{refusal}` (a sentence) or `{cancelled: true}`.
 */
export async function watched(place, path, body, signal) {
  const stop = new AbortController();
  const bar = progressBar(() => stop.abort());
  const started = performance.now();
  const leave = () => stop.abort();
  signal?.addEventListener("abort", leave, { once: true });
  bar.show({ done: 0, total: null, text: "begins" });
  fill(place, bar.element);
  try {
    const progress = (step) => bar.show({ ...step, text: `${step.text ?? step.done} · ${seconds(started)}` });
    return { result: await work(path, body, { signal: stop.signal, progress }) };
  } catch (error) {
    if (error.name === "AbortError") return { cancelled: true };
    if (error.name !== "Refused") throw error;
    return { refusal: sentence(error.message) };
  } finally {
    signal?.removeEventListener("abort", leave);
    fill(place);
  }
}

/** What the server says, as it stands alone. */
function sentence(text) {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith(".") ? "" : "."}`;
}

function seconds(started) {
  return `${Math.round((performance.now() - started) / 1000)} s`;
}
