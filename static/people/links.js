// A link that is shown can be copied and, where the device can, shared. Without this script its
// text is selected by a click.

for (const handing of document.querySelectorAll("[data-handing]")) {
  const address = handing.previousElementSibling.querySelector(".address");
  const [copy, share] = handing.querySelectorAll("button");
  const said = handing.querySelector("[role=status]");
  copy.addEventListener("click", async () => {
    said.textContent = (await copied(address)) ? handing.dataset.copied : "";
  });
  share.addEventListener("click", () => navigator.share({ url: address.textContent }).catch(() => {}));
  share.hidden = !navigator.share;
  handing.hidden = false;
}

/** Copy a text; over plain http, where there is no clipboard to write to, by selecting it. */
async function copied(element) {
  try {
    await navigator.clipboard.writeText(element.textContent);
    return true;
  } catch {
    getSelection().selectAllChildren(element);
    return document.execCommand("copy");
  }
}
