// The list of runs: the button says how many are chosen.

const form = document.querySelector("#compare");
const button = form?.querySelector("button[data-none]");

function count() {
  const chosen = form.querySelectorAll("[name=runs]:checked").length;
  button.disabled = chosen < 2;
  button.textContent = chosen < 2 ? button.dataset.none : button.dataset.some.replace("{}", chosen);
}

if (button) {
  form.addEventListener("change", count);
  count();
}
