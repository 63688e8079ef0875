// Decisions below the cards: what was stored folds away, what was not says so and keeps its words.

const words = document.querySelector("#rating").dataset;
const formOf = ({ target, detail }) => (detail.ctx?.sourceElement ?? target).closest?.("form[data-decides]");

function tell(form, text) {
  form.querySelector(".unsent").textContent = text;
}

document.addEventListener("htmx:before:request", (event) => {
  const form = formOf(event);
  if (form) tell(form, "");
});

document.addEventListener("htmx:error", (event) => {
  const form = formOf(event);
  if (form) tell(form, words.refused);
});

document.addEventListener("htmx:after:request", (event) => {
  const form = formOf(event);
  if (!form?.matches(".override") || event.detail.ctx.response.status !== 200) return;
  const panel = form.closest("details");
  form.reset();
  panel.open = false;
  panel.querySelector("summary").focus();
});
