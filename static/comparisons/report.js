// The browser's print of a report is its PDF.
document.querySelector("[data-prints]")?.addEventListener("click", () => window.print());
