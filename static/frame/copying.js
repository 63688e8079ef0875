// Buttons that copy a text of the page, and those that share it where the device can.

document.addEventListener("click", async ({ target }) => {
  const button = target.closest("[data-copies]");
  if (!button) return;
  const isCopied = await copy(document.getElementById(button.dataset.copies));
  button.parentElement.querySelector("[role=status]").textContent = isCopied ? button.dataset.copied : "";
});

/** Copy a text; over plain http, where there is no clipboard to write to, by selecting it. */
async function copy(element) {
  try {
    await navigator.clipboard.writeText(element.textContent);
    return true;
  } catch {
    getSelection().selectAllChildren(element);
    return document.execCommand("copy");
  }
}

for (const button of document.querySelectorAll("[data-shares]")) {
  const url = document.getElementById(button.dataset.shares).textContent;
  button.hidden = !navigator.share;
  button.addEventListener("click", () => navigator.share({ url }).catch(() => {}));
}
