// What a participant types is kept in this browser until it has been asked. The way on waits
// until every judgment has been saved.

import { keep, kept } from "../frame/memory.js";
import { drained, pending } from "../frame/outbox.js";

const draft = document.querySelector("[data-draft]");
const asked = document.querySelector("[data-asked]")?.dataset.asked;
const LAST = "draft-of"; // whose draft there is: on a shared device nobody sees another's

if (draft) {
  if (draft.value.trim()) remember(); // typed before this script was here, or sent back
  else if (kept(LAST) === draft.dataset.draft) draft.value = kept("draft") ?? "";
  draft.addEventListener("input", remember);
}
if (asked !== undefined && (kept("draft") ?? "").trim() === asked.trim()) keep("draft", "");

function remember() {
  keep(LAST, draft.dataset.draft);
  keep("draft", draft.value);
}

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.matches("[data-after-saving]") || !pending().length) return;
  event.preventDefault();
  await drained();
  form.submit();
});
