// Talks to the server. Everything that takes work is a job: what is done soon comes with the answer, for the rest one listens
// to its progress, and leaving (an AbortSignal) cancels it.

const ROOT = "api/v1";

/** What the server would not do, with its sentence as the message and the HTTP status. */
export class Refused extends Error {
  constructor(sentence, status) {
    super(sentence);
    this.name = "Refused";
    this.status = status;
  }
}

/** Reads a resource: `get("catalog")`. */
export async function get(path, signal) {
  return answered(await reached(`${ROOT}/${path}`, { signal }));
}

/**
 * Has work done: `work("runs", spec, {signal, progress})` is a promise of its result.
 *
 * `progress` is called with `{done, total, text}` while it runs. When `signal` is aborted the job is cancelled, and the promise is
 * rejected with an `AbortError`.
 */
export async function work(path, body, { signal, progress, wait = 800 } = {}) {
  const joined = path.includes("?") ? "&" : "?";
  const response = await reached(`${ROOT}/${path}${joined}wait=${wait}`, posted(body, signal));
  const answer = await answered(response);
  if (answer.state === "done") return answer.result;
  return followed(answer.job, signal, progress ?? (() => {}));
}

/**
 * Has pictures laid out: `layouts("failures", show, refuse)` is a function that takes what is to be drawn. While the server lays one out,
 * only the latest request waits, so that a slider cannot flood it. `show(answer, asked)` gets the answer to the latest request.
 */
export function layouts(path, show, refuse) {
  let isAsking = false;
  let next = null;
  const ask = async (body) => {
    if (isAsking) {
      next = body;
      return;
    }
    isAsking = true;
    try {
      const answer = await answered(await reached(`${ROOT}/layouts/${path}`, posted(body)));
      if (next === null) show(answer, body);
    } catch (error) {
      refuse(error);
    } finally {
      isAsking = false;
      const waiting = next;
      next = null;
      if (waiting !== null) ask(waiting);
    }
  };
  return ask;
}

/** Has a file made: `file("exports?format=svg", spec)` is a promise of a Blob. */
export async function file(path, body, signal) {
  const response = await reached(`${ROOT}/${path}`, posted(body, signal));
  if (!response.ok) await answered(response);
  return response.blob();
}

/** Gives a file to the reader under a name. */
export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function posted(body, signal) {
  return { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body), signal };
}

async function reached(address, options) {
  try {
    return await fetch(address, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused("The studio does not answer: is `doorway studio` still running?", 0);
  }
}

async function answered(response) {
  const answer = await response.json().catch(() => null);
  if (response.ok && answer) return answer;
  throw new Refused(answer?.error ?? `The studio answered ${response.status}.`, response.status);
}

/** Listens to a job until it ends. */
function followed(job, signal, progress) {
  return new Promise((resolve, reject) => {
    const events = new EventSource(`${ROOT}/jobs/${job}/progress`);
    const cancel = () => {
      events.close();
      fetch(`${ROOT}/jobs/${job}`, { method: "DELETE" }).catch(() => {});
      reject(new DOMException("The job was cancelled.", "AbortError"));
    };
    const end = async () => {
      events.close();
      signal?.removeEventListener("abort", cancel);
      try {
        resolve(outcome(await get(`jobs/${job}`)));
      } catch (error) {
        reject(error);
      }
    };
    if (signal?.aborted) return cancel();
    signal?.addEventListener("abort", cancel, { once: true });
    events.addEventListener("progress", (event) => progress(JSON.parse(event.data)));
    for (const state of ["done", "failed", "cancelled", "error"]) events.addEventListener(state, end);
  });
}

function outcome(job) {
  if (job.state === "done") return job.result;
  if (job.state === "cancelled") throw new DOMException("The job was cancelled.", "AbortError");
  throw new Refused(job.error ?? "The job has not been finished.", 500);
}
