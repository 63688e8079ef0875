// Looking things up from a rating page, by key: the search field, its results, what is pinned.

import { find, findAll } from "../frame/elements.js";

const hits = () => findAll("#found .hit");
const field = () => find("#look-words");

let isWanted = false; // the field, which is on its way

export const focusedHit = () => document.activeElement?.closest?.("#found .hit");

/** Put focus in the search field, unfolding it where it is folded; `openStep` opens the step that has it. */
export function openLook(openStep) {
  const fold = find("#missing");
  if (!fold && !find("#look")) return;
  openStep(fold ? "cards" : "empty");
  if (fold) fold.open = true;
  isWanted = !field();
  if (isWanted) find("#look")?.scrollIntoView({ block: "nearest" });
  else enter();
}

function enter() {
  isWanted = false;
  field().focus({ preventScroll: true });
  field().select();
  field().scrollIntoView({ block: find("#missing") ? "center" : "nearest" });
}

/** Act on the result in focus: j and k go through them, y pins. Return whether the key was one of these. */
export function byKey(key) {
  const hit = focusedHit();
  if (["j", "arrowdown"].includes(key)) step(hit, 1);
  else if (["k", "arrowup"].includes(key)) step(hit, -1);
  else if (["y", "v"].includes(key)) find(".pin", hit)?.click();
  else return false;
  return true;
}

function step(hit, by) {
  const listed = hits();
  const next = listed[listed.indexOf(hit) + by];
  if (next) focus(next);
  else if (by < 0) enter();
  else find("#more-hits button")?.focus();
}

function focus(hit) {
  hit.focus({ preventScroll: true });
  hit.scrollIntoView({ block: "nearest" });
}

/** Show at once what a pin came to, before the server says so. */
export function showPin(form, value) {
  const { value: listing } = find("[name=listing]", form) ?? {};
  const button = listing && find(`#pin-${listing} .pin`);
  if (!button) return;
  button.ariaPressed = String(value === "1");
  button.value = value ? "" : "1";
}

/** Return what is said of a pin. */
export const announced = (value) => find("#look").dataset[value ? "pinned" : "released"];

document.addEventListener("keydown", (event) => {
  if (event.target.id !== "look-words" || event.isComposing) return;
  if (event.key === "ArrowDown" && hits().length) focus(hits()[0]);
  else if (event.key === "Escape" && !field().value) focus(hits()[0] ?? find("#question"));
  else return;
  event.preventDefault();
});

document.addEventListener("htmx:after:swap", () => {
  if (isWanted && field()) enter();
});

// A filter that was chosen or dropped goes from where it was: focus goes to the field.
document.addEventListener("change", ({ target }) => {
  if (target.form?.id === "look-form" && target !== field()) isWanted = true;
});
