// The reader's choice of light or dark, in force before anything is painted.
const chosen = localStorage.getItem("theme");
if (chosen) document.documentElement.dataset.theme = chosen;
