// The keys of the queue of disputes: whatever names a key is pressed by it, a field gets the focus, and a
// reason that is chosen again is taken back.

import { keyOf } from "../rating/keys.js";

const TYPING = "input:not([type=radio]), textarea, select, [popover]:popover-open";

document.querySelector(".waiting [aria-current]")?.scrollIntoView({ block: "nearest" });

document.addEventListener("keydown", (event) => {
  const isTyping = event.target.matches(TYPING);
  const isLeaving = event.key === "Escape" || (event.key === "Enter" && !event.shiftKey && !event.isComposing);
  if (isTyping && isLeaving && event.target.matches("textarea")) {
    event.preventDefault();
    event.target.blur();
  }
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
  const target = document.querySelector(`[aria-keyshortcuts="${CSS.escape(keyOf(event))}"]`);
  if (!target) return;
  event.preventDefault();
  if (target.matches("textarea")) writeWords(target);
  else if (target.matches("[type=radio]")) choose(target);
  else target.click();
});

let chosen = document.querySelector(".reasons :checked");

function choose(reason) {
  reason.checked = reason !== chosen;
  chosen = reason.checked ? reason : null;
  if (chosen?.value === "other") writeWords(document.querySelector("#words"));
}

function writeWords(words) {
  const otherReason = document.querySelector(".reasons [value=other]");
  if (otherReason) otherReason.checked = true;
  if (otherReason) chosen = otherReason;
  words.focus();
}

document.addEventListener("click", ({ target, detail }) => {
  if (detail && target.matches(".reasons [type=radio]")) choose(target); // of a pointer, not of an arrow
});
document.addEventListener("change", () => (chosen = document.querySelector(".reasons :checked")));
