// What a participant types is kept in this browser until it has been asked, and whoever goes
// on waits until every judgment has been saved.

import { keep, kept } from "./memory.js";
import { drained, pending } from "./outbox.js";

const draft = document.querySelector("[data-draft]");
const asked = document.querySelector("[data-asked]")?.dataset.asked;
const LAST = "draft-of"; // whose draft there is: on a shared device nobody sees another's

if (draft) {
  const mine = kept(LAST) === draft.dataset.draft;
  if (mine && !draft.value.trim()) draft.value = kept("draft") ?? "";
  draft.addEventListener("input", () => {
    keep(LAST, draft.dataset.draft);
    keep("draft", draft.value);
  });
}
if (asked !== undefined && (kept("draft") ?? "").trim() === asked.trim()) keep("draft", "");

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.matches("[data-after-saving]") || !pending().length) return;
  event.preventDefault();
  await drained();
  form.submit();
});
