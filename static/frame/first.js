// What is in force before anything is painted: the reader's choice of light or dark, and, where
// keys judge, those pressed before the module of the page listens.
try {
  const chosen = localStorage.getItem("theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
} catch {
  // a browser that keeps nothing follows the system
}

if (document.currentScript.dataset.keys) {
  const keys = [];
  const note = (event) => keys.push(event);
  addEventListener("keydown", note);
  window.takeEarlyKeys = () => {
    removeEventListener("keydown", note);
    return keys.splice(0);
  };
}
