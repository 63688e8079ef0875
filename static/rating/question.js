// The question on a rating page: its places (cards, the outcome of an empty list, the grades of an
// answer), what is said at each, and which are open.

import { find, findAll } from "../frame/elements.js";
import { showBeside } from "./reasons.js";

export const PLACES = ".card, #outcome, .grades";
export const NOTES = "textarea[name=notes]";
const BEYOND = "#pool-end ~ .card"; // may be judged, but need not be

export const words = find("#rating").dataset; // what the scripts of the page say
export const question = () => find("#question");
export const walk = () => find("#walk"); // what of the head changes with the question
export const highestGrade = () => Number(question().dataset.top ?? 0); // 0 on a binary scale

/** Return which question is shown: its number or task, and its page. */
export function position() {
  const { query, address } = question().dataset;
  return { query, page: new URL(address, location).pathname };
}

/** Return whether an event is of the question that is shown. */
export const isHere = ({ query, page }) => query === position().query && page === position().page;

// ---- places and their names -------------------------------------------------------------

export const cards = () => findAll(".card", question());
export const places = () => findAll(PLACES, question());

/** Return the outcome of an empty list and the grades. */
export const belowCards = () => findAll("#outcome, .grades", question());

/** Return the line that tells what has become of a click, by its name. */
export const stateOf = (name) => find(`[data-state-of="${name}"]`);
export const placeOf = (name) => stateOf(name)?.closest(PLACES);

/** Return the letter of the answer whose grades a place holds; undefined elsewhere. */
export const letterOf = (place) => place.closest(".dock")?.dataset.letter;

/** Return the numbers of a card and of those that show the same item. */
export function placesOf({ dataset: { rank, position, repeats } }) {
  return [rank ?? position, ...(repeats?.split(" ") ?? [])];
}

/** Return the text of a part, without what is said to screen readers alone. */
function textOf(part) {
  const copy = part.cloneNode(true);
  for (const unseen of findAll(".vh, kbd", copy)) unseen.remove();
  return copy.textContent.replace(/\s+/g, " ").trim();
}

/** Return how a click is called where it waits: by its question and its place. */
export function labelOf(place) {
  const places = [find("#asked"), find("h2, legend, label", place)].filter(Boolean);
  return places.map(textOf).filter(Boolean).join(" · ");
}

// ---- what is said there ----------------------------------------------------------------

/** Show a verdict, or the outcome of an empty list, at its place. */
export function press(place, value) {
  place.dataset.verdict = value;
  showBeside(place, value);
  for (const button of findAll("button[aria-pressed]", place)) {
    button.setAttribute("aria-pressed", button.value === value);
  }
}

export function checkGrade(place, value) {
  for (const input of findAll("input", place)) input.checked = input.value === value;
}

/** Return the value that the page shows at a place. */
export function valueAt(field, name) {
  if (field === "notes") return find(`#${name}`).defaultValue;
  const place = placeOf(name);
  return field === "quality" ? (find(":checked", place)?.value ?? "") : place?.dataset.verdict;
}

// ---- what is open ------------------------------------------------------------------------

export const isGrades = (place) => place.matches(".grades");
export const isOpen = (place) => (isGrades(place) ? !find(":checked", place) : !place.dataset.verdict);

export const openCards = () => cards().filter((card) => isOpen(card) && !card.matches(BEYOND));

/** Return the next place after `place` that is open, from the last round to the first: cards first. */
export function nextOpen(place) {
  const isWanted = (candidate) => candidate !== place && isOpen(candidate) && (place?.matches(BEYOND) || !candidate.matches(BEYOND));
  const next = (order) => {
    const at = order.indexOf(place) + 1;
    return [...order.slice(at), ...order.slice(0, at)].find(isWanted);
  };
  return next(cards()) ?? next(belowCards());
}

// ---- focus, and what is announced --------------------------------------------------------

/** Return the nearest place around what has focus; undefined without any. */
export const within = (selector) => document.activeElement?.closest?.(selector);

export function focus(element) {
  element.focus({ preventScroll: true });
  element.scrollIntoView({ block: "nearest" });
}

export function announce(text) {
  const status = find("#status");
  status.textContent = "";
  requestAnimationFrame(() => (status.textContent = text));
}
