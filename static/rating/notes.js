// Notes: kept by this browser while they are typed, and sent once nothing more is typed for a while.

import { draft, forgetDraft, keepDraft } from "../frame/drafts.js";
import { find, findAll } from "../frame/elements.js";
import { pending } from "../frame/outbox.js";
import { sendClick } from "./clicks.js";
import { isHere, NOTES, position, question, stateOf } from "./question.js";

const PAUSE = 1_000; // without a key, after which notes are saved

const unstored = new Map(); // notes that were typed and are not on their way, with their timers

export const isBeingTyped = (notes) => unstored.has(notes);

/** Keep what is typed at once, and save it once nothing more is typed for a while. */
export function noteTyping(notes) {
  const line = stateOf(notes.id);
  keepDraft(draftOf(notes), notes.value, notes.defaultValue);
  line.dataset.state = "typed";
  delete line.dataset.both;
  wait(notes);
}

function wait(notes) {
  clearTimeout(unstored.get(notes));
  const isOnItsWay = () => pending().some(({ draft }) => draft === draftOf(notes));
  unstored.set(notes, setTimeout(() => (isOnItsWay() ? wait(notes) : storeNotes()), PAUSE));
}

/** Save what was typed and is not on its way yet. */
export function storeNotes() {
  for (const [notes, timer] of unstored) {
    clearTimeout(timer);
    unstored.delete(notes);
    sendNotes(notes);
  }
}

function sendNotes(notes, more = {}) {
  sendClick(notes.form, "notes", notes.value, { draft: draftOf(notes), base: notes.defaultValue, ...more });
  notes.defaultValue = notes.value;
}

/** Show the notes that are stored where another tab or device wrote some meanwhile: both texts. */
export function showBoth(event) {
  const notes = isBoth(event) && find(`#${event.places[0]}`);
  if (!notes || isBeingTyped(notes)) return; // typed on since: they come with that
  notes.value = notes.defaultValue = stateOf(notes.id).dataset.both;
}

/** Return whether notes of another tab or device are stored beside those of an event. */
export function isBoth(event) {
  return event.field === "notes" && isHere(event) && stateOf(event.places[0])?.dataset.both !== undefined;
}

/** Return the name under which the browser keeps what is typed for an answer. */
function draftOf({ form }) {
  const { query, page } = position();
  return `notes ${page} ${query} ${find("[name=answer]", form)?.value ?? ""}`;
}

/** Show and save what was typed before the page was left, as said when it was typed. */
export function restoreNotes() {
  for (const notes of findAll(NOTES, question())) {
    const name = draftOf(notes);
    const typed = draft(name);
    if (!typed || isBeingTyped(notes)) continue;
    const last = pending().findLast((event) => event.draft === name);
    const isSent = (last?.value ?? notes.defaultValue) === typed.text;
    notes.value = typed.text;
    if (!isSent) sendNotes(notes, { client_time: typed.at, isOld: true, base: typed.base ?? notes.defaultValue });
    else if (!last) forgetDraft(name, typed.text);
  }
}

/** Show the notes that are stored, unless others are being typed here. */
export function refreshNotes(notes, text) {
  if (isBeingTyped(notes) || draft(draftOf(notes)) || text === notes.value) return;
  notes.value = notes.defaultValue = text;
  stateOf(notes.id).dataset.state = text ? "saved" : "";
}
