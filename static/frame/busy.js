// A form that was sent shows at once that it is busy, until its answer is there, and cannot be sent
// a second time by accident. Forms that a script sends (verdicts, htmx) know themselves what is
// on its way: of those only htmx's are marked, and none is held back.

const LATE = 1_000; // an answer that is there by then needs no words
const status = document.querySelector("#status");
const submitted = new WeakSet();
let timer = 0;

function begin(form, button) {
  form.ariaBusy = "true";
  button?.classList.add("at-work");
  clearTimeout(timer);
  timer = setTimeout(() => (status.textContent = status.dataset.busy), LATE);
}

function end(form) {
  submitted.delete(form);
  form.ariaBusy = null;
  for (const button of form.querySelectorAll(".at-work")) button.classList.remove("at-work");
  clearTimeout(timer);
  if (status.textContent === status.dataset.busy) status.textContent = "";
}

function endAll() {
  for (const form of document.querySelectorAll("form[aria-busy]")) end(form);
}

addEventListener(
  "submit",
  (event) => {
    if (!submitted.has(event.target)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  },
  true,
);

/** Whether sending a form loads no page: it closes a dialog, or leads to where the page is. */
function stays(form, submitter) {
  const method = submitter?.formMethod || form.method;
  if (method === "dialog") return true;
  if (method !== "get") return false;
  const target = new URL(submitter?.getAttribute("formaction") ?? form.getAttribute("action"), location);
  target.search = new URLSearchParams(new FormData(form, submitter));
  return target.hash !== "" && target.pathname + target.search === location.pathname + location.search;
}

// After every other listener, each of which may send the form itself or hold it back.
addEventListener("submit", ({ target, submitter, defaultPrevented }) => {
  if (defaultPrevented || stays(target, submitter)) return;
  submitted.add(target);
  begin(target, submitter ?? target.querySelector(".file .btn, button"));
});

function formOf({ detail }) {
  return detail.ctx.sourceElement.closest?.("form[hx-post]");
}

document.addEventListener("htmx:before:request", (event) => {
  const form = formOf(event);
  if (form) begin(form, document.activeElement.closest("button"));
});
document.addEventListener("htmx:finally:request", (event) => {
  const form = formOf(event);
  if (form) end(form);
});

addEventListener("pageshow", endAll); // the page as it was, after going back
addEventListener("keydown", ({ key }) => key === "Escape" && endAll()); // which stops a request
