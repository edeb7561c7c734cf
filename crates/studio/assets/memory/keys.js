// The keys of the page: 1 … 9 make a step of that process, arrows go back and on, space plays, u takes back.

/** Listens until the function that it returns is called. */
export function keys({ go, play, undo, step }) {
  const pressed = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    const done = act(event);
    if (done) event.preventDefault();
  };
  const act = (event) => {
    const { key, target } = event;
    if (/^[1-9]$/.test(key)) return (step(Number(key)), true);
    if (key === "ArrowLeft") return (go("back"), true);
    if (key === "ArrowRight") return (go("forward"), true);
    if (key === "Home") return (go(0), true);
    if (key === "End") return (go("last"), true);
    if (key === "u") return (undo(), true);
    if (key === " " && !target.closest?.("button, a, summary")) return (play(), true);
    return false;
  };
  document.addEventListener("keydown", pressed);
  return () => document.removeEventListener("keydown", pressed);
}

function isTyping(target) {
  return Boolean(target.closest?.("input, select, textarea"));
}
