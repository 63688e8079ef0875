// Where focus goes on a rating page: to the card, the outcome of an empty list or the grades that are next.

import { find } from "../frame/elements.js";
import { openStep } from "./next_act.js";
import { cards, focus, highestGrade, isGrades, letterOf, nextOpen, openCards, places, PLACES, question, within } from "./question.js";

/** Put focus on a place: a card, the outcome of an empty list, or the grades of an answer. */
export function enter(place) {
  openStep(letterOf(place) ?? (place.matches(".card") ? "cards" : "empty"));
  if (!isGrades(place)) return focus(place);
  // A digit too many never grades an answer: from a card its grades are entered on purpose.
  if (highestGrade() && !within(".grades, #outcome")) return focus(place);
  enterGrades(place);
}

/** Put focus in grades: on the one in force, the suggested one, or the place itself. */
export function enterGrades(place) {
  const first = highestGrade() ? find("input", place) : place; // digits are dead on the place itself
  const grade = find(":checked", place) ?? find(".suggested input", place) ?? first;
  grade.focus({ preventScroll: true });
  find(`#answer-${letterOf(place)}`)?.scrollIntoView({ block: "start" }); // what is graded, under the head
}

/** Put focus on the card that the address names, else on what is open first. */
export function focusFirst() {
  const marked = location.hash && find(`.card${location.hash}`);
  const place = marked || nextOpen();
  if (place) enter(place);
  else question().focus({ preventScroll: true });
}

/** Put focus on the place that is `by` places on. */
export function step(by) {
  const order = places();
  const at = order.indexOf(within(PLACES));
  const target = order[Math.max(0, at + by)];
  if (target) enter(target);
}

/** Show a step of a blind question, and put focus on what is open there. */
export function showStep(step) {
  openStep(step);
  const place = step === "cards" ? (openCards()[0] ?? cards()[0]) : step === "empty" ? find("#outcome") : find(`#grades-${step}`);
  if (place) enter(place); // else it comes with the answer to the last verdict
}
