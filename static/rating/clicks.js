// Clicks on their way to the server: what each holds, and which lines tell what becomes of it.

import { findAll } from "../frame/elements.js";
import { send } from "../frame/outbox.js";
import { labelOf, placeOf, position, valueAt } from "./question.js";

const LINES = { empty_outcome: "outcome", quality: "quality", notes: "notes" };

let hear = () => {};

/** Have `take` called with each event that was sent, its state and the answer. */
export function onAnswer(take) {
  hear = take;
}

/** Send `value` for `field` of the question; `places` are the lines that tell its state. */
export function sendClick(form, field, value, { places = [lineOf(form, field)], onward = false, base, ...more } = {}) {
  const fields = { [field]: value };
  for (const { name, value } of findAll("input[type=hidden]:not([name=notes_base])", form)) fields[name] = value;
  if (base !== undefined) fields.notes_base = base;
  if (onward) fields.onward = 1;
  const was = valueAt(field, places[0]);
  const about = { ...position(), label: labelOf(placeOf(places[0]) ?? form) };
  send({ url: form.action, ...about, field, value, was, places, fields, ...more }, (...answer) => hear(...answer));
}

/** Return the name of the line that tells what has become of `field`. */
function lineOf(form, field) {
  return LINES[field] + (form.dataset.of ?? "");
}
