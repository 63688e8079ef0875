// The closing questionnaire: each answer is saved as it is given, in order, through the outbox.
//
// The form works without this script: then it is sent as a whole at the end.

import { drained, pending, send } from "../frame/outbox.js";

const form = document.querySelector("#closing");
const words = form.dataset;

form.addEventListener("change", ({ target }) => {
  send({ url: words.answer, fields: { item: target.name, said: target.value } }, showState);
});

function showState(event, state) {
  const line = document.querySelector(`[data-state-of="${event.fields.item}"]`);
  line.textContent = words[state];
  line.classList.toggle("unsaved", state === "unsaved" || state === "refused");
}

form.addEventListener("submit", async (event) => {
  if (!pending().length) return;
  event.preventDefault();
  await drained();
  form.requestSubmit(event.submitter);
});
