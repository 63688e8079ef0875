// The keys of the queue of disputes: whatever names a key is pressed by it, a field gets the focus.

import { keyOf } from "../rating/keys.js";

const TYPING = "input, textarea, select, [popover]:popover-open";

document.querySelector(".waiting [aria-current]")?.scrollIntoView({ block: "nearest" });

document.addEventListener("keydown", (event) => {
  const isTyping = event.target.matches(TYPING);
  if (isTyping && event.key === "Escape") event.target.blur();
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
  const target = document.querySelector(`[aria-keyshortcuts="${CSS.escape(keyOf(event))}"]`);
  if (!target) return;
  event.preventDefault();
  if (target.matches("textarea")) target.focus();
  else target.click();
});
