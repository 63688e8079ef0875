// What a participant types is kept in this browser until it has been asked. The way on waits
// until every judgment has been saved.

import { draft, forgetDraft, keepDraft } from "../frame/drafts.js";
import { drained, pending } from "../frame/outbox.js";

const question = document.querySelector("textarea[name=question]");
const askedQuestion = document.querySelector("[data-asked]")?.dataset.asked;
const PLACE = "question";

if (askedQuestion !== undefined) forgetDraft(PLACE, askedQuestion);
if (question) {
  if (question.value.trim()) remember(); // typed before this script was here, or sent back
  else question.value = draft(PLACE)?.text ?? "";
  question.addEventListener("input", remember);
}

function remember() {
  keepDraft(PLACE, question.value);
}

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.matches("[data-after-saving]") || !pending().length) return;
  event.preventDefault();
  await drained();
  form.submit();
});
