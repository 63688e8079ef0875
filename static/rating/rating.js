// Both rating pages by keyboard: a verdict shows at once, is saved in order, and moves on.
//
// The forms work without this script. Here their clicks go through the outbox, the answers
// are put in place by htmx, and the next open question is fetched before it is needed, where
// its address is known. The answer to a verdict says which verdict is in force, and brings what moves
// with it. A blind question comes in steps: what follows the last card is in the answer to it.

import { draft, keepDraft, stored } from "../frame/drafts.js";
import { keep, kept } from "../frame/memory.js";
import { load, pending, resume, send, settled } from "../frame/outbox.js";
import { announced, byKey, focusedHit, openLook, showPin } from "./looking.js";
import { DECIDED, REPEATING, isGrade, keyOf, walking } from "./keys.js";
import { chooseByKey, closeReasons, formOf, hasReasons, inWords, isChoosing, offerReason, onReason, openReasons, reasonOf, showBeside, showReason } from "./reasons.js";

const { htmx } = window;
const one = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const words = one("#rating").dataset;
const question = () => one("#question");
const walk = () => one("#walk");
const VERDICTS = { ...DECIDED, r: "unsure" };
const top = () => Number(question().dataset.top ?? 0); // the highest grade, 0 on a binary scale
const OUTCOMES = { y: "correct_empty", t: "false_negative", x: "false_negative" };
const PLACES = ".card, #outcome, .grades";
const LATE = 1_000; // after which a click that is not saved says so
const BEYOND = "#pool-end ~ .card"; // may be judged, but need not be
const NOTES = "textarea[name=notes]";
const TYPING = "input:not([type=radio], [type=checkbox]), textarea, select, dialog[open]";
const LEARNT = 20; // uses after which the keys are known
const PAUSE = 1_000; // without a key, after which notes are saved
const ENTERING = ["enter", "j", "arrowdown"];
const KINDS = { empty_outcome: "outcome", quality: "quality", notes: "notes" };

let moving = false; // from the key that leaves a question until the next one has focus
let typed = []; // what was typed in between
let ahead = null; // {address, text: Promise} of the next open question
let isStale = false; // something was saved that the page may not show
let refreshing = false;
let lastJudged = null; // the card whose reason `w` gives
const passed = new Set(); // questions left while nothing could be sent
const unstored = new Map(); // notes that were typed and are not on their way, with their timers

// ---- clicks -----------------------------------------------------------------------------

/** Send `value` for `field` of the question; `places` are the lines that tell its state. */
function sendClick(form, field, value, { places = [lineOf(form, field)], onward = false, base, ...more } = {}) {
  const fields = { [field]: value };
  for (const { name, value } of all("input[type=hidden]:not([name=notes_base])", form)) fields[name] = value;
  if (base !== undefined) fields.notes_base = base;
  if (onward) fields.onward = 1;
  const was = valueAt(field, places[0]);
  const about = { ...shown(), label: labelOf(placeOf(places[0]) ?? form) };
  send({ url: form.action, ...about, field, value, was, places, fields, ...more }, heard);
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

/** Return the numbers of a card and of those that show the same thing. */
function placesOf({ dataset: { rank, position, repeats } }) {
  return [rank ?? position, ...(repeats?.split(" ") ?? [])];
}

function judge(card, value, options) {
  const places = placesOf(card);
  lastJudged = aboutReason(card);
  offerReason(card);
  if (isChoosing()) closeReasons();
  sendClick(one("form.verdict", card), "relevance", value, { places, ...options });
  const word = one(`.verdict [value="${value}"]`, card)?.getAttribute("aria-label") ?? "";
  announce([places[0], cards().length, word].reduce((text, part) => text.replace("{}", part), words.judged));
}

/** Return whose reason can be given: a card with its form, also once its question is left. */
function aboutReason(card) {
  const form = card && one(".why", card);
  return form && { card, form, places: placesOf(card), ...shown(), label: labelOf(card) };
}

/** Open the reasons of the card in focus, else of the one that was judged last, where it is not relevant. */
function why() {
  const last = lastJudged && isHere(lastJudged) ? aboutReason(placeOf(lastJudged.places[0])) : lastJudged;
  const about = [aboutReason(within(".card")), last].find((one) => one && formOf(one.card));
  if (about) announce(`${one("#reasons").ariaLabel} ${openReasons(about)}`);
}

onReason(({ form, places, query, page, label }, reason) => {
  const was = reasonOf(placeOf(places[0]) ?? form);
  const fields = { reason };
  for (const { name, value } of all("input[type=hidden]", form)) fields[name] = value;
  showReason(form, reason);
  const about = { query, page, label, field: "reason", value: reason, was, places };
  send({ url: form.action, ...about, fields }, heard);
  for (const event of pending().slice(-1)) apply(event);
  announce(words.judged.replace("{}", places[0]).replace("{}", cards().length).replace("{}", inWords(reason)));
});

async function undo() {
  if (moving) return;
  storeNotes();
  const last = pending().findLast((event) => !event.isUndone && !event.undoes && event.field !== "later");
  if (last?.shown === "unsaved" && isHere(last)) return takeBack(last);
  moving = true;
  send({ url: words.undo, places: [], fields: {} }, heard);
  await settled();
  arrive();
}

/** Put the question off: it comes again after the others, and whoever goes back to it finds it open. */
function putOff() {
  const form = one("[data-later-form]");
  if (!form) return;
  const about = { ...shown(), label: labelOf(form) };
  send({ url: form.action, ...about, field: "later", value: "1", places: ["later"], fields: {} }, heard);
  onward();
}

/** Undo here what the server has not heard of: it will hear both, in their order. */
function takeBack(event) {
  const { url, query, page, label, field, was: value = "", places } = event;
  const { onward, ...fields } = { ...event.fields, [field]: value };
  if ("notes_base" in fields) fields.notes_base = event.value;
  event.isUndone = true;
  if (event.draft) stored(event.draft, event.value);
  send({ url, query, page, label, field, value, places, fields, undoes: event.event_id }, heard);
  apply({ query, page, field, value, places, isOld: true });
  if (placeOf(places[0])) enter(placeOf(places[0]));
}

/** Show what has become of an event, and what its answer changes on the page. */
async function heard(event, state, text) {
  const here = isHere(event) && !(event.isOld && isQuestion(text ?? ""));
  const isUndo = !event.isOld && !event.places?.length;
  if (text && (here || state === "refused" || isUndo)) {
    await show(text);
    if (isQuestion(text)) visit(); // an undo shows where it happened, a last answer what is next
  } else if (text) isStale = true;
  if (here && ["relevance", "reason"].includes(event.field) && ["saved", "refused"].includes(state)) settle(event);
  if (state === "saved") showBoth(event);
  if (state === "saved" && event.draft) stored(event.draft, event.value);
  if (state === "saved" && (event.isOld || refreshing)) isStale = true; // others may have been later
  const wasLate = event.shown === "unsaved";
  event.shown = state;
  mark(event, state);
  for (const other of pending()) (apply(other), mark(other, other.shown));
  offer();
  if (state === "unsaved") announce(words.unsaved);
  if (state === "saved" && !pending().length && (wasLate || isBoth(event))) announce(isBoth(event) ? words.both : words.saved);
  if (state === "saved" && here) loadMore(event);
  if (isStale && !pending().length) refresh();
}

/** Load what a click does not bring: all figures while they are open, and the constraints of its card. */
async function loadMore({ field, places }) {
  const { address } = one("#figures[open]")?.dataset ?? {};
  const { marks } = question().dataset;
  const { card, rank } = placeOf(places[0])?.dataset ?? {};
  const parts = [address && load(address, { copies: false })];
  if (marks && ["relevance", "empty_outcome"].includes(field)) parts.push(load(`${marks}?card=${card ?? rank ?? ""}`, { copies: false }));
  for (const text of await Promise.all(parts)) if (text) await show(text);
}

/** Show the verdict in force, which may be another than the one that was sent. */
function settle({ field, places }) {
  if (field === "reason") {
    const reason = reasonOf(placeOf(places[0]));
    return places.map(placeOf).forEach((place) => place && showReason(place, reason));
  }
  const form = placeOf(places[0]) && one("form.verdict", placeOf(places[0]));
  for (const place of places.map(placeOf)) {
    if (!place || !form) continue;
    press(place, form.dataset.stands);
    one("form.verdict", place).dataset.stands = form.dataset.stands;
    if ("versions" in place.dataset) isStale = true; // its verdict is on other cards too
  }
}

/** Bring the page up to what is stored, wherever it was said; what waits here is said on top of it. */
async function refresh() {
  if (moving || refreshing) return;
  [refreshing, isStale] = [true, false];
  const { address } = question().dataset;
  const text = await load(address, { copies: false });
  refreshing = false;
  if (isStale) return refresh(); // something was saved meanwhile
  if (!text || moving || !isQuestion(text) || question().dataset.address !== address) return;
  const page = new DOMParser().parseFromString(text, "text/html");
  if (names(page) !== names(question())) return showAnew(text);
  const isIn = ({ id }) => document.getElementById(id)?.matches(":has(:focus)"); // being written in
  const parts = all("#question :is(form.verdict[id], .remark[id], .tag[id], #outcome, .grades)", page).map(partial);
  parts.push(...all("#question :is(.meets, #checked, .listed)", page).filter((part) => !isIn(part)).map(partial));
  const others = all('hx-partial:not([hx-target="#question"])', page).map((part) => part.outerHTML);
  await show([...parts, ...others].join(""));
  for (const card of cards()) press(card, one("form.verdict", card).dataset.stands);
  for (const notes of all(NOTES, page)) refreshNotes(one(`#${notes.id}`), notes.value);
  for (const event of pending()) (apply(event), mark(event, event.shown));
  offer();
}

const names = (within) => all(`${PLACES}, ${NOTES}`, within).map(({ id }) => id).join(" ");

/** Show the question with other cards or at another stage than here. */
async function showAnew(text) {
  storeNotes();
  await show(text);
  arrive({ tell: false });
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
  if (field === "notes") return event.isOld && stateOf(places[0]) && write(one(`#${places[0]}`), value);
  for (const place of places.map(placeOf)) {
    if (!place) continue; // hidden again, since a card above is open
    if (field === "reason") showReason(place, value);
    else if (field === "quality") grades(place, value);
    else press(place, value);
  }
}

function write(notes, text) {
  if (notes !== document.activeElement) notes.value = notes.defaultValue = text;
}

function grades(place, value) {
  for (const input of all("input", place)) input.checked = input.value === value;
}

/** Return the value at a place of the question before it is given anew. */
function valueAt(field, name) {
  if (field === "notes") return one(`#${name}`).defaultValue;
  const place = placeOf(name);
  return field === "quality" ? (one(":checked", place)?.value ?? "") : place?.dataset.verdict;
}

const stateOf = (name) => one(`[data-state-of="${name}"]`);
const placeOf = (name) => stateOf(name)?.closest(PLACES);

function press(place, value) {
  place.dataset.verdict = value;
  showBeside(place, value);
  for (const button of all("button[aria-pressed]", place)) {
    button.setAttribute("aria-pressed", button.value === value);
  }
}

function mark(event, state) {
  if (!isHere(event)) return;
  for (const place of event.places) {
    const line = stateOf(place);
    if (!line || unstored.has(document.getElementById(place))) continue; // typed on since
    line.textContent = state === "refused" ? words.refused : state === "saved" ? (isBoth(event) ? words.both : "") : words.unsaved;
    line.dataset.state = state;
    line.classList.remove("late");
    if (state === "saving") setTimeout(() => line.classList.toggle("late", line.dataset.state === "saving"), LATE);
  }
}

function announce(text) {
  const status = one("#status");
  status.textContent = "";
  requestAnimationFrame(() => (status.textContent = text));
}

// ---- notes ------------------------------------------------------------------------------

/** Keep what is typed at once, and save it once nothing more is typed for a while. */
function typedNotes(notes) {
  const line = stateOf(notes.id);
  keepDraft(placeOfNotes(notes), notes.value, notes.defaultValue);
  line.dataset.state = "typed";
  delete line.dataset.both;
  wait(notes);
}

function wait(notes) {
  clearTimeout(unstored.get(notes));
  const isOnItsWay = () => pending().some(({ draft }) => draft === placeOfNotes(notes));
  unstored.set(notes, setTimeout(() => (isOnItsWay() ? wait(notes) : storeNotes()), PAUSE));
}

/** Save what was typed and is not on its way yet. */
function storeNotes() {
  for (const [notes, timer] of unstored) {
    clearTimeout(timer);
    unstored.delete(notes);
    sayNotes(notes);
  }
}

function sayNotes(notes, more = {}) {
  sendClick(notes.form, "notes", notes.value, { draft: placeOfNotes(notes), base: notes.defaultValue, ...more });
  notes.defaultValue = notes.value;
}

/** Show the notes that are stored where another tab or device wrote some meanwhile: both texts. */
function showBoth(event) {
  const notes = isBoth(event) && one(`#${event.places[0]}`);
  if (!notes || unstored.has(notes)) return; // typed on since: they come with that
  notes.value = notes.defaultValue = stateOf(notes.id).dataset.both;
}

function isBoth(event) {
  return event.field === "notes" && isHere(event) && stateOf(event.places[0])?.dataset.both !== undefined;
}

/** Return the name under which the browser keeps what is typed for an answer. */
function placeOfNotes({ form }) {
  const { query, page } = shown();
  return `notes ${page} ${query} ${one("[name=answer]", form)?.value ?? ""}`;
}

/** Show and save what was typed before the page was left, as said when it was typed. */
function restoreNotes() {
  for (const notes of all(NOTES, question())) {
    const place = placeOfNotes(notes);
    const found = draft(place);
    if (!found || unstored.has(notes)) continue;
    const last = pending().findLast((event) => event.draft === place);
    const isSaid = (last?.value ?? notes.defaultValue) === found.text;
    notes.value = found.text;
    if (!isSaid) sayNotes(notes, { client_time: found.at, isOld: true, base: found.base ?? notes.defaultValue });
    else if (!last) stored(place, found.text);
  }
}

/** Show the notes that are stored, unless others are being typed here. */
function refreshNotes(notes, text) {
  if (unstored.has(notes) || draft(placeOfNotes(notes)) || text === notes.value) return;
  notes.value = notes.defaultValue = text;
  stateOf(notes.id).dataset.state = text ? "saved" : "";
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
  if (query !== left) return go(address);
  if (nextOpen()) return arrive({ tell: false }); // another stage, or refused
  const way = wayOn();
  if (way) return go(way.getAttribute("href"), { isNamed: "named" in way.dataset });
  moving = false; // the end may be on this page
  location.assign(words.finish);
}

/** Return the link to the next open question; undefined where the page knows of none. */
const wayOn = () => one("a[data-jump][data-walk]");

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
  storeNotes();
  moving = true;
  await settled();
  const head = partial(walk());
  const isNext = new URL(address, location).href === ahead?.address;
  const known = isNext && walk().dataset.address === address;
  const text = (isNext && (await ahead.text)) || (await load(address));
  if (!text && isNamed) return onwardUnsaved();
  if (!text && pending().length) return arrive({ tell: false }); // better here than nowhere
  if (!text || !isQuestion(text)) return location.assign(address);
  await show(text);
  // What the last answer said of this question is newer than what was fetched ahead of it.
  if (known) await show(head);
  visit(push);
  arrive();
}

const isQuestion = (text) => text.includes('id="question"');

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

/** Begin with a question: focus, what is next, and what was typed too early. */
function arrive({ tell = true } = {}) {
  moving = false;
  if (tell) scrollTo(0, 0);
  focusFirst();
  if (tell) announce(one("#walk .at .vh").textContent);
  const next = one("a[data-ahead]")?.href;
  ahead = next ? { address: next, text: load(next) } : null;
  resume(heard, overlay).then(restoreNotes);
  for (const event of pending()) (apply(event), mark(event, event.shown));
  document.dispatchEvent(new CustomEvent("question", { detail: { ...shown(), ahead: next } }));
  offer();
  while (typed.length && !moving) perform(...typed.shift());
}

// ---- focus ------------------------------------------------------------------------------

const cards = () => all(".card", question());
const places = () => all(PLACES, question());
const within = (selector) => focused()?.closest?.(selector);
const isGrades = (place) => place.matches(".grades");
const isOpen = (place) => (isGrades(place) ? !one(":checked", place) : !place.dataset.verdict);

const focused = () => document.activeElement;

function focus(element) {
  element.focus({ preventScroll: true });
  element.scrollIntoView({ block: "nearest" });
}

/** Put focus on a place: a card, the outcome of an empty list, or the grades of an answer. */
function enter(place) {
  openStep(letterOf(place) ?? (place.matches(".card") ? "cards" : "empty"));
  if (!isGrades(place)) return focus(place);
  // A digit too many never grades an answer: from a card its grades are entered on purpose.
  if (top() && !within(".grades, #outcome")) return focus(place);
  enterGrades(place);
}

function enterGrades(place) {
  const first = top() ? one("input", place) : place; // digits are dead on the place itself
  const grade = one(":checked", place) ?? one(".suggested input", place) ?? first;
  grade.focus({ preventScroll: true });
  one(`#answer-${letterOf(place)}`)?.scrollIntoView({ block: "start" }); // what is graded, under the head
}

const letterOf = (place) => place.closest(".dock")?.dataset.letter;

/** Show one step of a blind question: its cards, its empty lists, or the answer of a letter. */
function openStep(step) {
  if (!one(`#steps [data-step="${step}"]`)) return;
  question().dataset.step = step;
  keepStep();
}

/** Show of the parts that a click brought what belongs to this step, although another comes next. */
function keepStep() {
  const { step } = question().dataset;
  for (const answer of all(".answer")) answer.classList.toggle("now", answer.dataset.letter === step);
  for (const dock of all(".dock[data-letter]")) dock.hidden = dock.dataset.letter !== step;
  for (const link of all("#steps a")) link.ariaCurrent = link.dataset.step === step ? "step" : null;
}

function focusFirst() {
  const marked = location.hash && one(`.card${location.hash}`);
  const first = marked || nextOpen();
  if (first) enter(first);
  else question().focus({ preventScroll: true });
}

/** Return the next place after `place` that is open, from the last round to the first: cards first. */
function nextOpen(place) {
  const isWanted = (other) => other !== place && isOpen(other) && (place?.matches(BEYOND) || !other.matches(BEYOND));
  const next = (order) => {
    const at = order.indexOf(place) + 1;
    return [...order.slice(at), ...order.slice(0, at)].find(isWanted);
  };
  return next(cards()) ?? next(belowCards());
}

/** Return the outcome of an empty list and the grades. */
const belowCards = () => all("#outcome, .grades", question());

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
  o: () => unfold(),
  m: () => one("#figures summary")?.click(),
  "/": () => openLook(openStep),
  backspace: () => within(".card") && judge(within(".card"), ""),
  enter: () => keepEarlier(),
  h: help,
  "?": help,
};
if (hasReasons()) KEYS.w = why;
if (words.give) KEYS.s = putOff; // only who is given questions can put one off

function perform(key) {
  if (isChoosing() && (chooseByKey(key) || key === "escape")) return;
  if (focusedHit() && byKey(key)) return;
  const isAtGrades = document.activeElement?.matches?.(".grades");
  if (top() && isAtGrades && ENTERING.includes(key)) return enterGrades(document.activeElement);
  if (top() && isGrade(key) && (isAtGrades || !within(".card, .grades"))) return;
  if (within(".own[open]") && VERDICTS[key]) return one(`.own[open] [value="${VERDICTS[key]}"]`)?.click();
  if (OUTCOMES[key] && (within("#outcome") || (one("#outcome") && !cards().length))) {
    classify(OUTCOMES[key]);
  } else if (top() && within(".card") && isGrade(key)) {
    if (key <= top()) verdict(key);
  } else if (VERDICTS[key] && cards().length && !(top() && key in DECIDED)) {
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
  const next = nextOpen(card) ?? belowCards().at(-1);
  judge(card, value, { onward: !next });
  moveOn(next);
}

/** Give the same verdict as before the facts of the card in focus changed, and move on. */
function keepEarlier() {
  const earlier = one(".confirm", within(".card") ?? question());
  if (earlier && within(".card")) verdict(earlier.value);
}

/** Say whether the empty list is right and move on: to the quality, which comes with it or next. */
function classify(value) {
  const next = nextOpen(one("#outcome")) ?? all(".grades", question()).at(-1);
  sendClick(one("#outcome"), "empty_outcome", value, { onward: !next });
  moveOn(next);
}

/** Rate the answer in focus, or the only one where nothing is listed, and move on to what is open. */
function grade(key) {
  const answers = all(".grades", question());
  const dock = within(".dock");
  const grades = within(".grades") ?? (dock ? one(".grades", dock) : null) ?? (cards().length || answers.length > 1 ? null : answers[0]);
  if (!grades) return;
  const next = nextOpen(grades);
  sendClick(grades.closest("form"), "quality", key, { onward: !next });
  moveOn(next);
}

function moveOn(next) {
  if (next) enter(next);
  else onward();
}

// ---- the one next act, which keys do by themselves --------------------------------------

let act = {}; // as the button says it: what comes next, and the place that is entered for it

/** Let the button say what comes next: open cards, an answer, another question. */
function offer() {
  const button = one("#act");
  keepStep();
  const left = openCards().length;
  for (const grades of all(".grades")) {
    grades.closest(".dock")?.classList.toggle("due", !left && isOpen(grades));
  }
  showSteps(left);
  if (!button || document.activeElement === button) return;
  act = nextAct();
  button.hidden = false;
  button.firstElementChild.textContent = act.label;
  button.dataset.to = act.place?.matches(".card") ? "card" : "on";
  button.classList.toggle("go", !act.isEarly);
  button.setAttribute("aria-disabled", Boolean(act.isEarly) && button.dataset.to === "on");
}

const openCards = () => cards().filter((card) => isOpen(card) && !card.matches(BEYOND));

/** Count in the steps of a blind question what was clicked since they came. */
function showSteps(left) {
  const count = one("#steps .count");
  if (!count) return;
  const of = cards().length;
  count.textContent = left ? `${of - left}/${of}` : of;
  for (const link of all("#steps a")) {
    const grades = one(`#grades-${link.dataset.step}`);
    const grade = grades && one(":checked", grades)?.value;
    const isDone = grades ? grade !== undefined : link.dataset.step === "cards" ? !left : Boolean(one("#outcome")?.dataset.verdict);
    link.classList.toggle("done", isDone);
    if (grades) one(".grade", link).textContent = grade === undefined ? "" : ` · ${grade}`;
  }
}

/** Return what comes next; early is what it says while something of this place is still open. */
function nextAct() {
  const left = openCards();
  const here = within(".card, #outcome, .dock, .grades") ?? one(".dock:not([hidden])");
  const place = here?.matches(".dock") ? one(".grades", here) : here;
  const next = nextOpen(place);
  if (left.length) {
    const label = left.length === 1 ? words.cardLeft : words.cardsLeft;
    return { label: label.replace("{}", left.length), place: left.includes(next) ? next : left[0], isEarly: true };
  }
  const isHere = place && !place.matches(".card") && isOpen(place);
  const due = isHere ? place : next && !letterOf(next) && next.checkVisibility() && next;
  if (due) return { label: labelOn(nextOpen(due)), place: due, isEarly: true };
  return { label: labelOn(next), place: next };
}

function labelOn(place) {
  const letter = place ? letterOf(place) : one("#below[data-grades]:not([data-stage=answers])") && "A"; // on its way
  if (place || letter) return letter ? words.answerNext.replace("{}", letter) : words.emptyNext;
  return wayOn() || (words.give && !walk().dataset.finished) ? words.next : words.end;
}

document.addEventListener("focusin", offer);

document.addEventListener("click", ({ target }) => {
  if (!target.closest("#act") || moving) return;
  const { place } = act;
  if (!place) return onward();
  enter(place);
  if (place.matches(".card")) place.scrollIntoView({ block: "center" });
});

function writeNotes() {
  const notes = one(".dock:not([hidden]) textarea", question());
  if (notes) focus(notes);
}

/** Unfold, or fold again, what else is known of the card in focus. */
function unfold() {
  const more = within(".card") && one(".more, .name > .fold", within(".card"));
  if (more) more.open = !more.open;
}

function follow(selector) {
  one(`.walk a${selector}`)?.click();
}

function isKnown(key) {
  const isEntering = document.activeElement?.matches?.(".grades, .card"); // elsewhere it is a button's own
  if (isChoosing() && (key === "escape" || /^[1-6]$/.test(key))) return true;
  return key === "enter" ? isEntering : key in KEYS || key in VERDICTS || isGrade(key);
}

function pressed(event) {
  const key = keyOf(event);
  if (key === "escape" && event.target.name === "notes") return leaveNotes(event.target);
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || !isKnown(key)) return;
  if (event.shiftKey && key !== "?" && !isGrade(key)) return;
  if (event.target.closest(TYPING) || one("dialog[open]") || !keysAreOn()) return;
  if (["arrowleft", "arrowright"].includes(key) && event.target.type === "radio") return;
  event.preventDefault();
  countUses(uses() + 1);
  if (event.repeat && !REPEATING.includes(key)) return;
  if (moving) typed.push([key]);
  else perform(key);
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
  if (form.matches(".verdict, .remark")) judgeByPointer(form, event.submitter);
  else if (form.matches(".pins")) pin(form);
  else if (form.matches("#outcome")) sendClick(form, "empty_outcome", value);
  else if (form.matches("[data-undo-form]")) undo();
  else if (form.matches("[data-later-form]")) moving || putOff();
  else if (!form.matches(".dock, .rate")) return;
  event.preventDefault();
});

/** Pin what was looked up, or take it back. */
function pin(form) {
  const value = one("[name=evidence]", form).value;
  sendClick(form, "evidence", value, { places: ["look"], was: value ? "" : "1" });
  showPin(form, value);
  announce(announced(value));
}

/** Judge where a button was pressed; the one that is in force already takes the verdict back. */
function judgeByPointer(form, button) {
  const { card: key } = form.closest("[data-card]")?.dataset ?? {};
  const line = form.closest(".own");
  const card = form.closest(".card") ?? one(`.card[data-card="${key}"]`);
  judge(card, button.getAttribute("aria-pressed") === "true" ? "" : button.value);
  if (form.matches(".remark")) focus(card); // that button goes away
  if (!line) return;
  line.open = false;
  one("summary", line).focus();
}

document.addEventListener("change", ({ target }) => {
  if (target.name === "quality") sendClick(target.form, "quality", target.value);
  if (target.name === "notes") storeNotes();
  if (target.form?.matches(".filter")) target.form.requestSubmit();
});

document.addEventListener("input", ({ target }) => {
  if (target.name === "notes") typedNotes(target);
});

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-walk]");
  const plain = !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.button);
  if (link && plain) {
    event.preventDefault();
    if (!moving) go(link.getAttribute("href"), { isNamed: "named" in link.dataset });
  }
  const tag = event.target.closest(".tag");
  if (tag) event.preventDefault(); // a script shows chips; without one the form is sent
  if (tag?.ariaExpanded === "true") closeReasons();
  else if (tag) openReasons(aboutReason(tag.closest(".card")));
  const toStep = event.target.closest("a[data-step]");
  if (toStep && plain) {
    event.preventDefault();
    showStep(toStep.dataset.step);
  }
  if (event.target.closest("#more")) openMenu();
  else if (!event.target.closest(".live")) foldFigures();
});

function showStep(step) {
  openStep(step);
  const place = step === "cards" ? (openCards()[0] ?? cards()[0]) : step === "empty" ? one("#outcome") : one(`#grades-${step}`);
  if (place) enter(place); // else it comes with the answer to the last verdict
}

/** Open the menu at the ways on, past the places of the app. */
function openMenu() {
  setTimeout(() => { // a click elsewhere than on a menu folds it
    one("#menu").open = true;
    one("#ways a, #ways button").focus();
  });
}

function foldFigures() {
  const figures = one(".live[open]");
  if (figures) figures.open = false;
  return figures;
}

document.addEventListener("keydown", ({ key }) => key === "Escape" && foldFigures()?.firstElementChild.focus());

document.addEventListener("toggle", ({ target, newState }) => {
  if (target.id === "figures" && newState === "open") loadMore({ places: [] });
}, true);

// ---- the page ---------------------------------------------------------------------------

function keysAreOn() {
  return one("#keys-on").checked;
}

one("#keys-on").checked = kept("keys") !== "off";
one("#keys-on").addEventListener("change", ({ target }) => {
  keep("keys", target.checked ? "on" : "off");
  showKeys();
});
if (one("#show-keys")) {
  one("#show-keys").hidden = false;
  one("#show-keys").addEventListener("click", help);
}

document.addEventListener("htmx:before:history:restore", (event) => {
  event.preventDefault();
  go(event.detail.path, { push: false });
});

// Another tab or device may have said more while this page was out of sight.
document.addEventListener("visibilitychange", () => (document.hidden ? storeNotes() : refresh()));
addEventListener("pagehide", storeNotes);
addEventListener("focus", refresh);
addEventListener("pageshow", ({ persisted }) => persisted && refresh());

// What is scrolled to stays below what sticks, which is as high as its question needs.
new ResizeObserver(() => {
  const { top: hidden } = getComputedStyle(one(".walk"));
  document.documentElement.style.setProperty("--stick", `${one(".walk").offsetHeight + (parseFloat(hidden) || 0)}px`);
}).observe(one(".walk"));

showKeys();
document.documentElement.classList.add("scripted");
arrive({ tell: false });
for (const event of window.takeEarlyKeys?.() ?? []) pressed(event);
