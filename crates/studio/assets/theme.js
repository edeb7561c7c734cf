// Sets the colours before anything is painted: those that the reader chose here before, or else those of the machine.
{
  let chosen = null;
  try {
    chosen = localStorage.getItem("theme");
  } catch {
    // Storage may be forbidden; then the machine's preference counts.
  }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
}
