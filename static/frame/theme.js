// The reader's choice of light or dark, in force before anything is painted.
try {
  const chosen = localStorage.getItem("theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
} catch {
  // a browser that keeps nothing follows the system
}
