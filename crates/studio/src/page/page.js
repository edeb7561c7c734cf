"use strict";
// Steps through a run. What comes from the trace is only ever inserted as text.
(() => {
  const run = JSON.parse(document.getElementById("data").textContent);
  const find = (id) => document.getElementById(id);
  const total = run.events.length;
  const placeOf = new Map(run.events.map((event, index) => [event.id, index + 1]));
  const rules = new Map(run.rules);
  const box = find("diagram");
  let step = 0;
  let timer = null;

  const element = (name, text, kind) => {
    const made = document.createElement(name);
    if (text !== undefined && text !== null) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };

  // The last of some changes that had happened after so many events.
  const latest = (changes, events) => {
    let low = 0;
    let high = changes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (changes[middle][0] <= events) low = middle + 1;
      else high = middle;
    }
    return low > 0 ? changes[low - 1][1] : null;
  };

  const hasPermissions = run.states.some((changes) => changes.some(([, state]) => state.permission));
  const hasWaits = run.states.some((changes) => changes.some(([, state]) => state.waits.length > 0));

  const permissionOf = ({ permission }) => {
    if (!permission) return "–";
    if (permission.token) return "token";
    return permission.vote === "free" ? "vote free" : "vote given to " + permission.vote;
  };

  const cells = (state) => {
    const all = [state.phase];
    if (hasWaits) all.push(state.waits.length > 0 ? state.waits.join(" ") : "–");
    if (hasPermissions) all.push(permissionOf(state));
    return all.concat(state.fields.map((value) => (value === null ? "" : value)));
  };

  const showNodes = () => {
    const isKnown = step <= run.known && run.states.length > 0;
    find("nodes").hidden = !isKnown;
    if (!isKnown) return;
    const heading = element("tr");
    const names = ["node", "phase"];
    if (hasWaits) names.push("waits for");
    if (hasPermissions) names.push("permission");
    for (const name of names.concat(run.fields)) {
      const cell = element("th", name);
      cell.scope = "col";
      heading.append(cell);
    }
    const head = element("thead");
    head.append(heading);
    const body = element("tbody");
    const here = step > 0 ? run.events[step - 1].node : 0;
    run.states.forEach((changes, index) => {
      const row = element("tr", null, index + 1 === here ? "here" : "");
      const name = element("th", String(index + 1));
      name.scope = "row";
      row.append(name);
      const now = cells(latest(changes, step));
      const before = step > 0 ? cells(latest(changes, step - 1)) : now;
      now.forEach((value, place) => {
        const cell = element("td", null, value === before[place] ? "" : "new");
        cell.append(place === 0 ? element("span", value, "phase " + value) : value);
        row.append(cell);
      });
      body.append(row);
    });
    find("states").replaceChildren(head, body);
  };

  const showRegisters = () => {
    const values = step <= run.known ? latest(run.values, step) : null;
    find("registers").hidden = values === null;
    if (values === null) return;
    const before = step > 0 ? latest(run.values, step - 1) : values;
    const head = element("thead");
    const names = element("tr");
    run.registers.forEach((name) => names.append(element("th", name)));
    head.append(names);
    const body = element("tbody");
    const row = element("tr");
    values.forEach((value, place) => {
      row.append(element("td", String(value), value === before[place] ? "" : "new"));
    });
    body.append(row);
    find("values").replaceChildren(head, body);
  };

  const ruleOf = (event) => {
    if (event.rule) {
      const text = rules.get(event.rule);
      return "rule “" + event.rule + "”" + (text ? ": " + text : "");
    }
    const line = event.line ? run.lines[event.line - 1] : undefined;
    return line ? "line " + event.line + ": " + line : "";
  };

  // The logical time of an event, or of a step, by the chosen clock.
  const timeOf = (lamport, vector) => {
    const clock = find("clock").value;
    const parts = [clock === "lamport" || clock === "both" ? lamport : null, clock === "vector" || clock === "both" ? vector : null];
    return parts.filter((part) => part !== null && part !== undefined).join(" ");
  };

  // Writes the times of steps into the diagram. Where two would overlap, the later one is left out.
  const showTimes = () => {
    const svg = box.querySelector("svg");
    svg.querySelector("#times")?.remove();
    const { lamport_steps: scalars, vector_steps: vectors } = run.clocks;
    const group = document.createElementNS(svg.namespaceURI, "g");
    group.id = "times";
    const free = new Map();
    (scalars.length > 0 ? scalars : vectors).forEach(({ first, text }, place) => {
      const label = timeOf(text, vectors[place]?.text);
      const { x, y, id } = run.events[first];
      if (!label || x + 5 < (free.get(y) ?? 0)) return;
      const written = document.createElementNS(svg.namespaceURI, "text");
      written.setAttribute("x", x + 5);
      written.setAttribute("y", y - 11);
      written.dataset.event = id;
      written.textContent = label;
      group.append(written);
      free.set(y, x + 5 + label.length * 6.2 + 6);
    });
    svg.insertBefore(group, find("cursor"));
  };

  const showClock = () => {
    const event = step - 1;
    const time = event < 0 ? "" : timeOf(
      run.clocks.lamport[event] === null ? null : "Lamport time " + run.clocks.lamport[event],
      run.clocks.vector[event] ? "vector time " + run.clocks.vector[event] : null,
    );
    find("time").textContent = time.replace(" vector", " · vector");
    find("time").hidden = time === "";
  };

  const showEvent = () => {
    const event = step > 0 ? run.events[step - 1] : null;
    find("count").textContent = "step " + step + " of " + total + (event ? " · time " + event.time : "");
    find("says").textContent = event ? event.says : "Before anything happens.";
    find("says").className = event && event.event === "violation" ? "alarm" : "";
    find("rule").textContent = event ? ruleOf(event) : "";
    showClock();
    find("message").textContent = event && event.message !== undefined ? JSON.stringify(event.message) : "";
    const cause = find("cause");
    cause.replaceChildren();
    const place = event && event.cause ? placeOf.get(event.cause) : undefined;
    if (place) {
      const link = element("button", run.events[place - 1].says, "link");
      link.type = "button";
      link.addEventListener("click", () => go(place));
      cause.append("because ", link);
    }
  };

  const showCursor = () => {
    const event = step > 0 ? run.events[step - 1] : null;
    const { y: top, width } = box.querySelector("svg").viewBox.baseVal;
    const x = event ? event.x : 0;
    find("veil").setAttribute("x", x);
    find("veil").setAttribute("width", Math.max(0, width - x));
    find("now").setAttribute("x1", x);
    find("now").setAttribute("x2", x);
    const spot = find("spot");
    spot.style.display = event ? "" : "none";
    if (!event) {
      box.scrollLeft = 0;
      return;
    }
    spot.setAttribute("cx", x);
    spot.setAttribute("cy", event.y);
    const margin = Math.min(80, box.clientWidth / 4);
    if (x < box.scrollLeft + margin || x > box.scrollLeft + box.clientWidth - margin) {
      box.scrollLeft = x - box.clientWidth / 2;
    }
    const y = event.y - top;
    if (y < box.scrollTop + 20 || y > box.scrollTop + box.clientHeight - 20) {
      box.scrollTop = y - box.clientHeight / 2;
    }
  };

  const nextEntry = () => run.events.findIndex((event, index) => index >= step && event.event === "enter") + 1;

  const go = (wanted) => {
    step = Math.max(0, Math.min(total, wanted));
    const scrubber = find("scrubber");
    scrubber.value = String(step);
    scrubber.setAttribute("aria-valuetext", step > 0 ? run.events[step - 1].says : "before anything happens");
    find("first").disabled = find("back").disabled = step === 0;
    find("last").disabled = find("forward").disabled = step === total;
    find("entry").disabled = nextEntry() === 0;
    showEvent();
    showRegisters();
    showNodes();
    showCursor();
    if (step === total) pause();
    history.replaceState(null, "", step > 0 ? "#" + step : location.pathname + location.search);
  };

  const pause = () => {
    clearInterval(timer);
    timer = null;
    find("play").setAttribute("aria-pressed", "false");
  };

  const play = () => {
    if (timer !== null) return pause();
    if (step === total) go(0);
    timer = setInterval(() => go(step + 1), 700);
    find("play").setAttribute("aria-pressed", "true");
  };

  const moves = {
    first: () => go(0),
    back: () => go(step - 1),
    play,
    forward: () => go(step + 1),
    last: () => go(total),
    entry: () => go(nextEntry() || step),
  };
  Object.entries(moves).forEach(([id, move]) => find(id).addEventListener("click", move));
  find("scrubber").max = String(total);
  find("scrubber").addEventListener("input", (event) => go(Number(event.target.value)));

  const keys = { ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last", n: "entry", " ": "play" };
  document.addEventListener("keydown", (event) => {
    const move = keys[event.key];
    const isNative = event.target instanceof HTMLSelectElement || (event.target === find("scrubber") && event.key !== "n" && event.key !== " ");
    const isPressed = event.target instanceof HTMLButtonElement && event.key === " ";
    if (!move || isNative || isPressed || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    moves[move]();
  });

  box.addEventListener("click", (event) => {
    const shown = event.target.closest("[data-event]");
    const place = shown ? placeOf.get(Number(shown.dataset.event)) : undefined;
    if (place) go(place);
  });

  const clock = find("clock");
  for (const option of clock.options) {
    option.disabled = (option.value === "vector" || option.value === "both") && run.clocks.vector.length === 0;
  }
  find("clock-choice").hidden = run.clocks.lamport.length === 0;
  clock.value = run.clock ?? "";
  clock.addEventListener("change", () => {
    showTimes();
    showClock();
  });
  showTimes();

  if (run.trouble) {
    const known = run.known > 0 ? " States are shown up to step " + run.known + "." : " The run is shown without states.";
    find("trouble").textContent = run.trouble + "." + known;
    find("trouble").hidden = false;
  }
  // A link to a step has its number behind the name of the page.
  go(Number(location.hash.slice(1)) || 0);
  addEventListener("hashchange", () => go(Number(location.hash.slice(1)) || 0));
})();
