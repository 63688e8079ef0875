// The way of the page: an answer is put in its place, the page follows what others stored, and the next
// question comes in place of this one, fetched before it is needed.

import { forgetDraft } from "../frame/drafts.js";
import { find, findAll } from "../frame/elements.js";
import { load, pending, resume, send, settled } from "../frame/outbox.js";
import { onAnswer } from "./clicks.js";
import { focusFirst } from "./focus.js";
import { offer, wayOn } from "./next_act.js";
import { isBoth, refreshNotes, restoreNotes, showBoth, storeNotes } from "./notes.js";
import { announce, cards, isHere, nextOpen, NOTES, placeOf, PLACES, press, position, question, walk, words } from "./question.js";
import { apply, mark, overlay, settle } from "./saving.js";

const { htmx } = window;

let moving = false; // from the key that leaves a question until the next one has focus
let typed = []; // keys that were pressed in between
let perform = () => {}; // what one of them does
let prefetched = null; // {address, text: Promise} of the next open question
let isStale = false; // something was saved that the page may not show
let isRefreshing = false;
const passed = new Set(); // questions left while nothing could be sent

onAnswer(hear);

export const isMoving = () => moving;

/** Have `take` called with each key that was pressed before its question was there. */
export function onTyped(take) {
  perform = take;
}

/** Perform a key; while the page moves, once the next question is there. */
export function type(key) {
  if (moving) typed.push(key);
  else perform(key);
}

/** Send an event whose answer may show another question, and begin with that. */
export async function sendAndArrive(event) {
  moving = true;
  send(event, hear);
  await settled();
  arrive();
}

// ---- what an answer changes -------------------------------------------------------------

/** Show what has become of an event, and what its answer changes on the page. */
export async function hear(event, state, text) {
  const here = isHere(event) && !(event.isOld && isQuestion(text ?? ""));
  const isUndo = !event.isOld && !event.places?.length;
  if (text && (here || state === "refused" || isUndo)) {
    await show(text);
    if (isQuestion(text)) visit(); // an undo shows where it happened, a last answer what is next
  } else if (text) isStale = true;
  if (here && ["relevance", "reason"].includes(event.field) && ["saved", "refused"].includes(state) && settle(event)) isStale = true;
  if (state === "saved") showBoth(event);
  if (state === "saved" && event.draft) forgetDraft(event.draft, event.value);
  if (state === "saved" && (event.isOld || isRefreshing)) isStale = true; // others may have been later
  const wasLate = event.shown === "unsaved";
  event.shown = state;
  mark(event, state);
  for (const event of pending()) (apply(event), mark(event, event.shown));
  offer();
  if (state === "unsaved") announce(words.unsaved);
  if (state === "saved" && !pending().length && (wasLate || isBoth(event))) announce(isBoth(event) ? words.both : words.saved);
  if (state === "saved" && here) loadMore(event);
  if (isStale && !pending().length) refresh();
}

/** Load what a click does not bring: all figures while they are open, and the constraints of its card. */
export async function loadMore({ field, places }) {
  const { address } = find("#figures[open]")?.dataset ?? {};
  const { marks } = question().dataset;
  const { card, rank } = placeOf(places[0])?.dataset ?? {};
  const parts = [address && load(address, { copies: false })];
  if (marks && ["relevance", "empty_outcome"].includes(field)) parts.push(load(`${marks}?card=${card ?? rank ?? ""}`, { copies: false }));
  for (const text of await Promise.all(parts)) if (text) await show(text);
}

/** Bring the page up to what is stored, wherever it was judged; what waits here is shown on top of it. */
export async function refresh() {
  if (moving || isRefreshing) return;
  [isRefreshing, isStale] = [true, false];
  const { address } = question().dataset;
  const text = await load(address, { copies: false });
  isRefreshing = false;
  if (isStale) return refresh(); // something was saved meanwhile
  if (!text || moving || !isQuestion(text) || question().dataset.address !== address) return;
  const page = new DOMParser().parseFromString(text, "text/html");
  if (names(page) !== names(question())) return showAnew(text);
  const isIn = ({ id }) => document.getElementById(id)?.matches(":has(:focus)"); // being written in
  const parts = findAll("#question :is(form.verdict[id], .remark[id], .tag[id], #outcome, .grades)", page).map(partial);
  parts.push(...findAll("#question :is(.meets, #checked, .listed)", page).filter((part) => !isIn(part)).map(partial));
  const others = findAll('hx-partial:not([hx-target="#question"])', page).map((part) => part.outerHTML);
  await show([...parts, ...others].join(""));
  for (const card of cards()) press(card, find("form.verdict", card).dataset.stands);
  for (const notes of findAll(NOTES, page)) refreshNotes(find(`#${notes.id}`), notes.value);
  for (const event of pending()) (apply(event), mark(event, event.shown));
  offer();
}

/** Return the places of a question, to tell whether it has the same elsewhere. */
const names = (within) => findAll(`${PLACES}, ${NOTES}`, within).map(({ id }) => id).join(" ");

/** Show the question with other cards or at another stage than here. */
async function showAnew(text) {
  storeNotes();
  await show(text);
  arrive({ tell: false });
}

// ---- the next question ------------------------------------------------------------------

/** Go on once everything is saved: to what the answer brought, else to what it called next. */
export async function onward() {
  moving = true;
  const before = question().dataset.query;
  if (!(await settled())) return onwardUnsaved();
  const { finished, query, address } = walk().dataset;
  if (finished) return location.assign(words.finish);
  if (question().dataset.query !== before) return arrive();
  if (query !== before) return go(address);
  if (nextOpen()) return arrive({ tell: false }); // another stage, or refused
  const way = wayOn();
  if (way) return go(way.getAttribute("href"), { isNamed: "named" in way.dataset });
  moving = false; // the end may be on this page
  location.assign(words.finish);
}

/** Go on while nothing can be sent: to the next question that this browser has. */
async function onwardUnsaved() {
  passed.add(position().page);
  const copied = (words.ahead ?? "").split(" ").find((address) => address && !passed.has(address));
  const address = find("a[data-ahead]")?.getAttribute("href") ?? copied;
  if (address) await go(address);
  else arrive({ tell: false });
}

/**
 * Show the question at `address` in place of this one; as a whole page if need be. Where the
 * server is to say which question that is, the next one that is kept stands in while it is away.
 */
export async function go(address, { push = true, isNamed = false } = {}) {
  storeNotes();
  moving = true;
  await settled();
  const head = partial(walk());
  const isNext = new URL(address, location).href === prefetched?.address;
  const isInAnswer = isNext && walk().dataset.address === address;
  const text = (isNext && (await prefetched.text)) || (await load(address));
  if (!text && isNamed) return onwardUnsaved();
  if (!text && pending().length) return arrive({ tell: false }); // better here than nowhere
  if (!text || !isQuestion(text)) return location.assign(address);
  await show(text);
  // What the last answer said of this question is newer than what was fetched ahead of it.
  if (isInAnswer) await show(head);
  visit(push);
  arrive();
}

/** Return whether an answer brings a whole question. */
const isQuestion = (text) => text.includes('id="question"');

/** Return a part of the page as an answer that puts it in its place. */
function partial({ id, outerHTML }) {
  return `<hx-partial hx-target="#${id}" hx-swap="outerMorph">${outerHTML}</hx-partial>`;
}

/** Make the address and the title those of the question that is shown. */
function visit(push = true) {
  const { pathname, search } = new URL(question().dataset.address, location);
  if (push && pathname + search !== location.pathname + location.search) {
    history.pushState({ htmx: true }, "", pathname + search);
  }
  document.title = question().dataset.title;
}

/** Put parts in their places. */
async function show(text) {
  const body = document.body;
  await htmx.swap({ text, swap: "none", target: body, sourceElement: body, request: {} });
}

/** Begin with a question: focus, what is next, and the keys that were pressed too early. */
export function arrive({ tell = true } = {}) {
  moving = false;
  if (tell) scrollTo(0, 0);
  focusFirst();
  if (tell) announce(find("#walk .at .vh").textContent);
  const next = find("a[data-ahead]")?.href;
  prefetched = next ? { address: next, text: load(next) } : null;
  resume(hear, overlay).then(restoreNotes);
  for (const event of pending()) (apply(event), mark(event, event.shown));
  document.dispatchEvent(new CustomEvent("question", { detail: { ...position(), ahead: next } }));
  offer();
  while (typed.length && !moving) perform(typed.shift());
}
