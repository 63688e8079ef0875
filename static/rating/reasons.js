// Why a card is not relevant: chips on it, by key and by pointer. They take one key, and no card waits for them.

import { find, findAll } from "../frame/elements.js";

const OWN = "other: ";

let reasons = null; // the chips, also while a card that had them is on no page any more
let opened = null; // whose reason is chosen: {form, ...} as it was opened with
let lastFocus = null; // what had focus until a rater's own words were asked for
let give = () => {};

/** Have `take` called with what was opened and its reason, once one is chosen. */
export function onReason(take) {
  give = take;
}

const chips = () => (reasons ??= find("#reasons"));
const words = () => find("input", chips());

export const hasReasons = () => Boolean(chips());
export const isChoosing = () => Boolean(opened);
export const reasonOf = (place) => (place && find(".tag", place)?.dataset.reason) ?? "";

/** Show a reason on a card, without asking anybody. */
export function showReason(place, reason) {
  const tag = find(".tag", place);
  if (!tag) return;
  const word = inWords(reason);
  tag.dataset.reason = reason;
  tag.firstElementChild.textContent = word || chips().dataset.why;
  tag.ariaLabel = `${chips().ariaLabel} ${word}`.trim();
}

/** Show the reason of a card beside a verdict that is not relevant alone. */
export function showBeside(place, verdict) {
  const form = find(".why", place);
  if (form) form.hidden = !isRejected(form, verdict);
}

/** Return the form of a card that is judged not relevant. */
export function formOf(place) {
  const form = place && find(".why", place);
  return form && isRejected(form, place.dataset.verdict) ? form : null;
}

/** Offer the reason of this card alone where there is room for one offer; a tap gives no focus in every browser. */
export function offerReason(card) {
  for (const lastCard of findAll(".card.last")) lastCard.classList.remove("last");
  card.classList.add("last");
}

document.addEventListener("focusin", ({ target }) => {
  const card = target.closest(".card");
  if (formOf(card)) offerReason(card);
});

const isRejected = (form, verdict) => form.dataset.rejected.split(" ").includes(verdict);

/** Return a reason in the words of its chip; a rater's own, and those no longer offered, as they are. */
export function inWords(reason) {
  const chip = findAll("button", chips()).find(({ value }) => value === reason);
  if (chip) return find("span", chip).textContent;
  return reason.startsWith(OWN) ? reason.slice(OWN.length) : reason;
}

/** Open the chips of a card, or below all of them where it is on no page any more; return their words. */
export function openReasons(about) {
  closeReasons();
  opened = about;
  const { form } = about;
  if (form.isConnected) form.after(chips());
  else find("#rating").append(chips());
  const reason = reasonOf(form);
  for (const chip of findAll("button", chips())) {
    const isChosen = chip.value === reason || (chip.value === "other" && reason.startsWith(OWN));
    chip.setAttribute("aria-pressed", isChosen);
  }
  words().value = reason.startsWith(OWN) ? reason.slice(OWN.length) : "";
  words().hidden = true;
  chips().hidden = false;
  find(".tag", form).setAttribute("aria-expanded", true);
  chips().scrollIntoView({ block: "nearest" }); // out from under what sticks at the bottom
  return findAll("button", chips()).map(({ textContent }) => textContent.trim()).join(", ");
}

export function closeReasons() {
  if (!opened) return;
  const hadFocus = chips().contains(document.activeElement);
  const tag = find(".tag", opened.form);
  tag.setAttribute("aria-expanded", false);
  chips().hidden = true;
  find("#rating").append(chips());
  opened = null;
  if (hadFocus) (lastFocus?.isConnected ? lastFocus : tag).focus({ preventScroll: true });
  lastFocus = null;
}

/** Take the key of a chip; return whether it was one. Any other closes them, and goes on as usual. */
export function chooseByKey(key) {
  const chip = opened && find(`[aria-keyshortcuts="${CSS.escape(key)}"]`, chips());
  if (!chip) closeReasons();
  else choose(chip.value);
  return Boolean(chip);
}

/** Choose a reason; the one that is in force is taken back, and another asks for words. */
function choose(value) {
  const reason = reasonOf(opened.form);
  if (value === "other" && !reason.startsWith("other")) return askWords();
  finish(reason === value || (value === "other" && reason.startsWith(OWN)) ? "" : value);
}

function askWords() {
  lastFocus = document.activeElement;
  words().hidden = false;
  words().focus();
}

function finish(reason) {
  const about = opened;
  closeReasons();
  give(about, reason);
}

document.addEventListener("click", ({ target }) => {
  const chip = target.closest("#reasons button");
  if (chip) choose(chip.value);
});
document.addEventListener("keydown", (event) => {
  if (!opened || event.target !== words()) return;
  if (event.key === "Escape") closeReasons();
  if (event.key !== "Enter" || event.isComposing) return;
  event.preventDefault();
  const text = words().value.replace(/\s+/g, " ").trim();
  finish(text ? OWN + text : "other");
});
