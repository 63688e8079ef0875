// Taking back what was said last, also while the server has not heard of it, and putting a question off.

import { forgetDraft } from "../frame/drafts.js";
import { find } from "../frame/elements.js";
import { pending, send } from "../frame/outbox.js";
import { enter } from "./focus.js";
import { hear, isMoving, onward, sendAndArrive } from "./moving.js";
import { storeNotes } from "./notes.js";
import { isHere, labelOf, placeOf, position, words } from "./question.js";
import { apply } from "./saving.js";

/** Take back what was said last; the answer shows where that was. */
export function undo() {
  if (isMoving()) return;
  storeNotes();
  const last = pending().findLast((event) => !event.isUndone && !event.undoes && event.field !== "later");
  if (last?.shown === "unsaved" && isHere(last)) return undoUnsent(last);
  sendAndArrive({ url: words.undo, places: [], fields: {} });
}

/** Undo here what the server has not heard of: it will hear both, in their order. */
function undoUnsent(event) {
  const { url, query, page, label, field, was: value = "", places } = event;
  const { onward, ...fields } = { ...event.fields, [field]: value };
  if ("notes_base" in fields) fields.notes_base = event.value;
  event.isUndone = true;
  if (event.draft) forgetDraft(event.draft, event.value);
  send({ url, query, page, label, field, value, places, fields, undoes: event.event_id }, hear);
  apply({ query, page, field, value, places, isOld: true });
  if (placeOf(places[0])) enter(placeOf(places[0]));
}

/** Put the question off: it comes again after the others, and whoever goes back to it finds it open. */
export function putOff() {
  const form = find("[data-later-form]");
  if (!form || isMoving()) return;
  const about = { ...position(), label: labelOf(form) };
  send({ url: form.action, ...about, field: "later", value: "1", places: ["later"], fields: {} }, hear);
  onward();
}
