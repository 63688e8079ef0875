// Both rating pages by keyboard: a verdict shows at once, is saved in order, and moves on.
//
// The forms work without this script. Here their clicks go through the outbox, the answers
// are put in place by htmx, and the next open question is fetched before it is wanted, where
// its address is known. The answer to a verdict says which verdict is in force, and brings what moves
// with it. A blind question comes in stages: what follows the last card is in the answer to it.

import { keep, kept } from "../frame/memory.js";
import { load, pending, resume, send, settled } from "../frame/outbox.js";
import { DECIDED, REPEATING, isGrade, walking } from "./keys.js";

const { htmx } = window;
const one = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const words = one("#rating").dataset;
const question = () => one("#question");
const walk = () => one("#walk");
const VERDICTS = { ...DECIDED, r: "unsure" };
const OUTCOMES = { y: "correct_empty", t: "false_negative" };
const PLACES = ".card, #outcome, .grades";
const TYPING = "input:not([type=radio], [type=checkbox]), textarea, select, dialog[open]";
const LEARNT = 20; // uses after which the keys are known
const KINDS = { empty_outcome: "outcome", quality: "quality", notes: "notes" };

let moving = false; // from the key that leaves a question until the next one has focus
let typed = []; // what was typed in between
let ahead = null; // {address, text: Promise} of the next open question
let isStale = false; // an answer came for a question that is no longer shown
const passed = new Set(); // questions left while nothing could be sent

// ---- saying -----------------------------------------------------------------------------

/** Say `value` for `field` of the question; `places` are the lines that tell its state. */
function say(form, field, value, { places = [lineOf(form, field)], onward = false } = {}) {
  const fields = { [field]: value };
  for (const { name, value } of all("input[type=hidden]", form)) fields[name] = value;
  if (onward) fields.onward = 1;
  const was = standingAt(field, placeOf(places[0]));
  const about = { ...shown(), label: labelOf(placeOf(places[0]) ?? form) };
  send({ url: form.action, ...about, field, value, was, places, fields }, told);
}

/** Return which question is shown: its number or task, and its page. */
function shown() {
  const { query, address } = question().dataset;
  return { query, page: new URL(address, location).pathname };
}

/** Return what is to be read of a part, without what is said to screen readers alone. */
function textOf(part) {
  const seen = part.cloneNode(true);
  for (const unseen of all(".vh, kbd", seen)) unseen.remove();
  return seen.textContent.replace(/\s+/g, " ").trim();
}

function labelOf(place) {
  const named = [one("#asked"), one("h2, legend, label", place)].filter(Boolean);
  return named.map(textOf).filter(Boolean).join(" · ");
}

/** Return the name of the line that tells what has become of `field`. */
function lineOf(form, field) {
  return KINDS[field] + (form.dataset.of ?? "");
}

function judge(card, value, options) {
  const { rank, position, repeats } = card.dataset;
  const places = [rank ?? position, ...(repeats?.split(" ") ?? [])];
  say(one("form.verdict", card), "relevance", value, { places, ...options });
}

async function undo() {
  if (moving) return;
  const last = pending().findLast((event) => !event.isUndone && !event.undoes && event.field !== "later");
  if (last?.shown === "unsaved" && isHere(last)) return takeBack(last);
  moving = true;
  send({ url: words.undo, places: [], fields: {} }, told);
  await settled();
  arrive();
}

/** Put the question off: it comes again after the others, and whoever goes back to it finds it open. */
function putOff() {
  const form = one("[data-later-form]");
  if (!form) return;
  const about = { ...shown(), label: labelOf(form) };
  send({ url: form.action, ...about, field: "later", value: "1", places: ["later"], fields: {} }, told);
  onward();
}

/** Undo here what the server has not heard of: it will hear both, in their order. */
function takeBack(event) {
  const { url, query, page, label, field, was: value = "", places } = event;
  const { onward, ...fields } = { ...event.fields, [field]: value };
  event.isUndone = true;
  send({ url, query, page, label, field, value, places, fields, undoes: event.event_id }, told);
  apply({ query, page, field, value, places, isOld: true });
  if (placeOf(places[0])) enter(placeOf(places[0]));
}

/** Show what has become of an event, and what its answer changes on the page. */
async function told(event, state, text) {
  const here = isHere(event) && !(event.isOld && isQuestion(text ?? ""));
  const isUndo = !event.isOld && !event.places?.length;
  if (text && (here || state === "refused" || isUndo)) {
    await show(text);
    if (isQuestion(text)) visit(); // an undo shows where it happened, a last answer what is next
    if (state === "saved" && event.field === "relevance") settle(event);
  } else if (text) isStale = true;
  event.shown = state;
  mark(event, state);
  for (const other of pending()) (apply(other), mark(other, other.shown));
  if (state === "unsaved") announce(words.unsaved);
  if (state === "saved" && !pending().length) announce(words.saved);
  if (isStale && !pending().length) catchUp();
}

/** Show the verdict in force, which may be another than the one that was sent. */
function settle({ places }) {
  const stands = placeOf(places[0]) && one(".stands", placeOf(places[0]));
  for (const place of places.map(placeOf)) if (place && stands) press(place, stands.dataset.stands);
}

/** Bring walk and figures up to what was answered for questions that are no longer shown. */
async function catchUp() {
  isStale = false;
  const text = await load(question().dataset.address);
  const page = new DOMParser().parseFromString(text ?? "", "text/html");
  const parts = all('hx-partial:not([hx-target="#question"])', page).map((part) => part.outerHTML);
  if (!pending().length) await show(parts.join(""));
}

/** Show on the question what an earlier page said of it and what became of that. */
function overlay(event, state) {
  Object.assign(event, { shown: state, isOld: true });
  if (state !== "refused") apply(event);
  mark(event, state);
}

const isHere = ({ query, page }) => query === shown().query && page === shown().page;

/** Make the page say what an event says, before the server does. */
function apply(event) {
  const { field, value, places } = event;
  if (!isHere(event)) return;
  if (field === "notes") return event.isOld && stateOf(places[0]) && write(places[0], value);
  for (const place of places.map(placeOf)) {
    if (!place) continue; // hidden again, since a card above is open
    if (field === "quality") grades(place, value);
    else press(place, value);
  }
}

function write(name, text) {
  const notes = one(`#${name}`);
  if (notes !== document.activeElement) notes.value = text;
}

function grades(place, value) {
  for (const input of all("input", place)) input.checked = input.value === value;
}

/** Return the value at a place of the question before it is given anew. */
function standingAt(field, place) {
  if (field === "notes") return undefined;
  return field === "quality" ? (one(":checked", place)?.value ?? "") : place?.dataset.verdict;
}

const stateOf = (name) => one(`[data-state-of="${name}"]`);
const placeOf = (name) => stateOf(name)?.closest(PLACES);

function press(place, value) {
  place.dataset.verdict = value;
  for (const button of all("button[aria-pressed]", place)) {
    button.setAttribute("aria-pressed", button.value === value);
  }
}

function mark(event, state) {
  if (!isHere(event)) return;
  for (const place of event.places) {
    const line = stateOf(place);
    if (!line) continue;
    line.textContent = words[state];
    line.classList.toggle("unsaved", state === "unsaved" || state === "refused");
  }
}

function announce(text) {
  const status = one("#status");
  status.textContent = "";
  requestAnimationFrame(() => (status.textContent = text));
}

// ---- moving -----------------------------------------------------------------------------

/** Go on once everything is saved: to what the answer brought, else to what it called next. */
async function onward() {
  moving = true;
  const left = question().dataset.query;
  if (!(await settled())) return onwardUnsaved();
  const { finished, query, address } = walk().dataset;
  if (finished) return location.assign(words.finish);
  if (question().dataset.query !== left) return arrive();
  if (query === left) return arrive({ tell: false }); // another stage, or refused
  await go(address);
}

/** Go on while nothing can be sent: to the next question that this browser has. */
async function onwardUnsaved() {
  passed.add(shown().page);
  const kept = (words.ahead ?? "").split(" ").find((address) => address && !passed.has(address));
  const address = one("a[data-ahead]")?.getAttribute("href") ?? kept;
  if (address) await go(address);
  else arrive({ tell: false });
}

/**
 * Show the question at `address` in place of this one; as a whole page if need be. Where the
 * server is to say which question that is, the next one that is kept stands in while it is away.
 */
async function go(address, { push = true, isNamed = false } = {}) {
  moving = true;
  await settled();
  const standing = [walk(), one("#figures")].filter(Boolean).map((part) => part.outerHTML);
  const isNext = new URL(address, location).href === ahead?.address;
  const known = isNext && walk().dataset.address === address;
  const text = (isNext && (await ahead.text)) || (await load(address));
  if (!text && isNamed) return onwardUnsaved();
  if (!text && pending().length) return arrive({ tell: false }); // better here than nowhere
  if (!text || !isQuestion(text)) return location.assign(address);
  await show(text);
  // What the last answer said of this question is newer than what was fetched ahead of it.
  if (known) await show(standing.map(partial).join(""));
  visit(push);
  arrive();
}

const isQuestion = (text) => text.includes('id="question"');

function partial(html) {
  return `<hx-partial hx-target="#${html.match(/id="(\w+)"/)[1]}" hx-swap="outerMorph">${html}</hx-partial>`;
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

/** Begin with a question: focus, what is next, and what was typed too early. */
function arrive({ tell = true } = {}) {
  moving = false;
  if (tell) scrollTo(0, 0);
  foldAside();
  focusFirst();
  if (tell) announce(one("#walk strong").textContent);
  const next = one("a[data-ahead]")?.href;
  ahead = next ? { address: next, text: load(next) } : null;
  resume(told, overlay);
  for (const event of pending()) (apply(event), mark(event, event.shown));
  document.dispatchEvent(new CustomEvent("question", { detail: { ...shown(), ahead: next } }));
  while (typed.length && !moving) act(...typed.shift());
}

function foldAside() {
  if (!matchMedia("(max-width: 75rem)").matches) return;
  for (const details of all("aside details")) details.open = false;
}

// ---- focus ------------------------------------------------------------------------------

const cards = () => all(".card", question());
const places = () => all(PLACES, question());
const within = (selector) => focused()?.closest?.(selector);
const isGrades = (place) => place.matches(".grades");
const isOpen = (place) => (isGrades(place) ? !one(":checked", place) : !place.dataset.verdict);

/** Return what has focus; what stands below a card is the card itself to every key. */
function focused() {
  const element = document.activeElement;
  let below = element?.closest?.(".known, .checks");
  while (below && !below.matches(".card")) below = below.previousElementSibling;
  return below ?? element;
}

function focus(element) {
  element.focus({ preventScroll: true });
  element.scrollIntoView({ block: "nearest" });
}

/** Put focus on a place: a card, the outcome of an empty list, or the grades of an answer. */
function enter(place) {
  if (!isGrades(place)) return focus(place);
  const grade = one(":checked", place) ?? one(".suggested input", place) ?? one("input", place);
  grade.focus({ preventScroll: true });
  (place.closest(".whole") ?? grade).scrollIntoView({ block: "nearest" }); // what is graded
}

function focusFirst() {
  const marked = location.hash && one(`.card${location.hash}`);
  const first = marked || places().find(isOpen);
  if (first) enter(first);
  else question().focus({ preventScroll: true });
}

/** Return the next place of `order` after `place` that is open, from the last round to the first. */
function nextOpen(order, place) {
  const at = order.indexOf(place) + 1;
  return [...order.slice(at), ...order.slice(0, at)].find((other) => other !== place && isOpen(other));
}

function step(by) {
  const order = places();
  const at = order.indexOf(within(PLACES));
  const target = order[Math.max(0, at + by)];
  if (target) enter(target);
}

// ---- keys -------------------------------------------------------------------------------

const KEYS = {
  ...walking({ step, follow, undo }),
  n: () => writeNotes(),
  d: () => unfold(),
  h: help,
  "?": help,
};
if (words.give) KEYS.s = putOff; // only who is given questions can put one off

function act(key) {
  if (OUTCOMES[key] && (within("#outcome") || (one("#outcome") && !cards().length))) {
    classify(OUTCOMES[key]);
  } else if (VERDICTS[key] && cards().length) {
    verdict(VERDICTS[key]);
  } else if (isGrade(key)) {
    grade(key);
  } else {
    KEYS[key]?.();
  }
}

/** Judge the card in focus and move on: to the next open one, then to whatever follows the cards. */
function verdict(value) {
  const card = within(".card");
  if (!card) return focusFirst();
  const after = places().slice(cards().length);
  const next = nextOpen(cards(), card) ?? after.find(isOpen) ?? after.at(-1);
  judge(card, value, { onward: !next });
  moveOn(next);
}

/** Say whether the empty list is right and move on: to the quality, which comes with it or next. */
function classify(value) {
  const answers = all(".grades", question());
  const next = answers.find(isOpen) ?? answers.at(-1);
  say(one("#outcome"), "empty_outcome", value, { onward: !next });
  moveOn(next);
}

/** Rate the answer in focus, or the only one where nothing is listed, and move on to what is open. */
function grade(key) {
  const answers = all(".grades", question());
  const grades = within(".grades") ?? (cards().length || answers.length > 1 ? null : answers[0]);
  if (!grades) return;
  const next = nextOpen(all("#outcome, .grades", question()), grades);
  say(grades.form, "quality", key, { onward: !next });
  moveOn(next);
}

function moveOn(next) {
  if (next) enter(next);
  else onward();
}

function writeNotes() {
  const notes = within(".rate") ?? one("form.rate", question());
  if (notes) focus(one("textarea", notes));
}

/** Unfold, or fold again, what else is known of the card in focus. */
function unfold() {
  const below = within(".card")?.nextElementSibling;
  const more = below?.matches(".known") && one("details", below);
  if (more) more.open = !more.open;
}

function follow(selector) {
  one(`#walk a${selector}`)?.click();
}

function isKnown(key) {
  return key in KEYS || key in VERDICTS || isGrade(key);
}

function pressed(event) {
  const key = event.key.toLowerCase();
  if (key === "escape" && event.target.name === "notes") return leaveNotes(event.target);
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || !isKnown(key)) return;
  if (event.shiftKey && key !== "?") return;
  if (event.target.closest(TYPING) || one("dialog[open]") || !keysAreOn()) return;
  if (["arrowleft", "arrowright"].includes(key) && event.target.type === "radio") return;
  event.preventDefault();
  countUses(uses() + 1);
  if (event.repeat && !REPEATING.includes(key)) return;
  if (moving) typed.push([key]);
  else act(key);
}

document.addEventListener("keydown", pressed);

const uses = () => Number(kept("key uses") ?? 0);

/** Show the keys in their buttons while they are on and were used too seldom to be known. */
function showKeys() {
  document.documentElement.dataset.keys = keysAreOn() && uses() < LEARNT ? "shown" : "known";
}

function countUses(times) {
  keep("key uses", times);
  showKeys();
}

function help() {
  countUses(0);
  one("#keys").showModal();
}

function leaveNotes(notes) {
  notes.blur(); // which stores what was written
  focusFirst();
}

// ---- the pointer ------------------------------------------------------------------------

document.addEventListener("submit", (event) => {
  const form = event.target;
  const value = event.submitter?.value;
  if (form.matches(".verdict")) {
    const card = form.closest(".card");
    judge(card, value);
    if (!event.submitter.matches("[aria-pressed]")) focus(card); // that button goes away
  } else if (form.matches("#outcome")) say(form, "empty_outcome", value);
  else if (form.matches("[data-undo-form]")) undo();
  else if (form.matches("[data-later-form]")) moving || putOff();
  else if (!form.matches(".rate")) return;
  event.preventDefault();
});

document.addEventListener("change", ({ target }) => {
  if (target.name === "quality") say(target.form, "quality", target.value);
  if (target.name === "notes") say(target.form, "notes", target.value);
});

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-walk]");
  const plain = !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.button);
  if (link && plain) {
    event.preventDefault();
    if (!moving) go(link.getAttribute("href"), { isNamed: "named" in link.dataset });
  }
});

// ---- the page ---------------------------------------------------------------------------

function keysAreOn() {
  return one("#keys-on").checked;
}

one("#keys-on").checked = kept("keys") !== "off";
one("#keys-on").addEventListener("change", ({ target }) => {
  keep("keys", target.checked ? "on" : "off");
  showKeys();
});
one("#show-keys").hidden = false;
one("#show-keys").addEventListener("click", help);

document.addEventListener("htmx:before:history:restore", (event) => {
  event.preventDefault();
  go(event.detail.path, { push: false });
});

showKeys();
document.documentElement.classList.add("scripted");
arrive({ tell: false });
for (const event of window.takeEarlyKeys?.() ?? []) pressed(event);
