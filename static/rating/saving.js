// What has become of a click, as the page shows it.

import { find } from "../frame/elements.js";
import { isBeingTyped, isBoth } from "./notes.js";
import { checkGrade, isHere, placeOf, press, stateOf, words } from "./question.js";
import { reasonOf, showReason } from "./reasons.js";

const LATE = 1_000; // after which a click that is not saved says so

/**
 * Show the verdict or reason in force, which may be another than the one that was sent. Return whether
 * more cards than these may show it.
 */
export function settle({ field, places }) {
  if (field === "reason") {
    const reason = reasonOf(placeOf(places[0]));
    places.map(placeOf).forEach((place) => place && showReason(place, reason));
    return false;
  }
  let isOnOthers = false;
  const form = placeOf(places[0]) && find("form.verdict", placeOf(places[0]));
  for (const place of places.map(placeOf)) {
    if (!place || !form) continue;
    press(place, form.dataset.stands);
    find("form.verdict", place).dataset.stands = form.dataset.stands;
    isOnOthers ||= "versions" in place.dataset;
  }
  return isOnOthers;
}

/** Show on the question what an earlier page said of it and what became of that. */
export function overlay(event, state) {
  Object.assign(event, { shown: state, isOld: true });
  if (state !== "refused") apply(event);
  mark(event, state);
}

/** Make the page say what an event says, before the server does. */
export function apply(event) {
  const { field, value, places } = event;
  if (!isHere(event)) return;
  if (field === "notes") return event.isOld && stateOf(places[0]) && write(find(`#${places[0]}`), value);
  for (const place of places.map(placeOf)) {
    if (!place) continue; // hidden again, since a card above is open
    if (field === "reason") showReason(place, value);
    else if (field === "quality") checkGrade(place, value);
    else press(place, value);
  }
}

/** Write what an earlier page said into notes, unless they are being written. */
function write(notes, text) {
  if (notes !== document.activeElement) notes.value = notes.defaultValue = text;
}

/** Tell at its places what has become of an event. */
export function mark(event, state) {
  if (!isHere(event)) return;
  for (const place of event.places) {
    const line = stateOf(place);
    if (!line || isBeingTyped(document.getElementById(place))) continue; // typed on since
    line.textContent = state === "refused" ? words.refused : state === "saved" ? (isBoth(event) ? words.both : "") : words.unsaved;
    line.dataset.state = state;
    line.classList.remove("late");
    if (state === "saving") setTimeout(() => line.classList.toggle("late", line.dataset.state === "saving"), LATE);
  }
}
