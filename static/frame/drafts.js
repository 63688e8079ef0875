// What somebody types is kept by this browser until it is stored, so that no reload, no closed tab
// and no lost network loses it. On a shared device nobody sees what another typed.

import { forget, recall, remember } from "./memory.js";

const { rater = "" } = document.documentElement.dataset;
const nameOf = (place) => `draft ${rater} ${place}`;

/** Return what was typed at a place and is not stored yet, {text, at, base}; undefined without any. */
export function draft(place) {
  const text = recall(nameOf(place));
  return text && JSON.parse(text);
}

/** Keep what is typed at a place, with the text that the edit began from where others may change it. */
export function keepDraft(place, text, base) {
  remember(nameOf(place), JSON.stringify({ text, at: Date.now(), base }));
}

/** Forget what was typed at a place once that is stored; what was typed since stays. */
export function forgetDraft(place, text) {
  if (draft(place)?.text.trim() === text.trim()) forget(nameOf(place));
}
