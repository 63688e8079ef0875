// Both rating pages by keyboard: a verdict shows at once, is saved in order, and moves on.
//
// The forms work without this script. Here their clicks go through the outbox, the answers
// are put in place by htmx, and the next open question is fetched before it is needed, where
// its address is known. The answer to a verdict says which verdict is in force, and brings what moves
// with it. A blind question comes in steps: what follows the last card is in the answer to it.

import { find, findAll } from "../frame/elements.js";
import { recall, remember } from "../frame/memory.js";
import { pending, send } from "../frame/outbox.js";
import { sendClick } from "./clicks.js";
import { enter, enterGrades, focusFirst, showStep, step } from "./focus.js";
import { DECIDED, REPEATING, isGrade, keyOf, walking } from "./keys.js";
import { announced, byKey, focusedHit, openLook, showPin } from "./looking.js";
import { arrive, go, hear, isMoving, loadMore, onTyped, onward, refresh, type } from "./moving.js";
import { currentAct, openStep } from "./next_act.js";
import { noteTyping, storeNotes } from "./notes.js";
import { announce, belowCards, cards, focus, highestGrade, isHere, labelOf, nextOpen, placeOf, placesOf, position, question, within, words } from "./question.js";
import { chooseByKey, closeReasons, formOf, hasReasons, inWords, isChoosing, offerReason, onReason, openReasons, reasonOf, showReason } from "./reasons.js";
import { apply } from "./saving.js";
import { putOff, undo } from "./undoing.js";

const VERDICTS = { ...DECIDED, r: "unsure" };
const OUTCOMES = { y: "correct_empty", t: "false_negative", x: "false_negative" };
const TYPING = "input:not([type=radio], [type=checkbox]), textarea, select, dialog[open]";
const LEARNT = 20; // uses after which the keys are known
const ENTERING = ["enter", "j", "arrowdown"];

let lastJudged = null; // the card whose reason `w` gives

// ---- clicks -----------------------------------------------------------------------------

function judge(card, value, options) {
  const places = placesOf(card);
  lastJudged = aboutReason(card);
  offerReason(card);
  if (isChoosing()) closeReasons();
  sendClick(find("form.verdict", card), "relevance", value, { places, ...options });
  const word = find(`.verdict [value="${value}"]`, card)?.getAttribute("aria-label") ?? "";
  announce([places[0], cards().length, word].reduce((text, part) => text.replace("{}", part), words.judged));
}

/** Return whose reason can be given: a card with its form, also once its question is left. */
function aboutReason(card) {
  const form = card && find(".why", card);
  return form && { card, form, places: placesOf(card), ...position(), label: labelOf(card) };
}

/** Open the reasons of the card in focus, else of the one that was judged last, where it is not relevant. */
function why() {
  const last = lastJudged && isHere(lastJudged) ? aboutReason(placeOf(lastJudged.places[0])) : lastJudged;
  const about = [aboutReason(within(".card")), last].find((candidate) => candidate && formOf(candidate.card));
  if (about) announce(`${find("#reasons").ariaLabel} ${openReasons(about)}`);
}

onReason(({ form, places, query, page, label }, reason) => {
  const was = reasonOf(placeOf(places[0]) ?? form);
  const fields = { reason };
  for (const { name, value } of findAll("input[type=hidden]", form)) fields[name] = value;
  showReason(form, reason);
  const about = { query, page, label, field: "reason", value: reason, was, places };
  send({ url: form.action, ...about, fields }, hear);
  for (const event of pending().slice(-1)) apply(event);
  announce(words.judged.replace("{}", places[0]).replace("{}", cards().length).replace("{}", inWords(reason)));
});

// ---- keys -------------------------------------------------------------------------------

const KEYS = {
  ...walking({ step, follow, undo }),
  n: () => writeNotes(),
  o: () => unfold(),
  m: () => find("#figures summary")?.click(),
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
  if (highestGrade() && isAtGrades && ENTERING.includes(key)) return enterGrades(document.activeElement);
  if (highestGrade() && isGrade(key) && (isAtGrades || !within(".card, .grades"))) return;
  if (within(".own[open]") && VERDICTS[key]) return find(`.own[open] [value="${VERDICTS[key]}"]`)?.click();
  if (OUTCOMES[key] && (within("#outcome") || (find("#outcome") && !cards().length))) {
    classify(OUTCOMES[key]);
  } else if (highestGrade() && within(".card") && isGrade(key)) {
    if (key <= highestGrade()) verdict(key);
  } else if (VERDICTS[key] && cards().length && !(highestGrade() && key in DECIDED)) {
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
  const earlier = find(".confirm", within(".card") ?? question());
  if (earlier && within(".card")) verdict(earlier.value);
}

/** Say whether the empty list is right and move on: to the quality, which comes with it or next. */
function classify(value) {
  const next = nextOpen(find("#outcome")) ?? findAll(".grades", question()).at(-1);
  sendClick(find("#outcome"), "empty_outcome", value, { onward: !next });
  moveOn(next);
}

/** Rate the answer in focus, or the only one where nothing is listed, and move on to what is open. */
function grade(key) {
  const answers = findAll(".grades", question());
  const dock = within(".dock");
  const grades = within(".grades") ?? (dock ? find(".grades", dock) : null) ?? (cards().length || answers.length > 1 ? null : answers[0]);
  if (!grades) return;
  const next = nextOpen(grades);
  sendClick(grades.closest("form"), "quality", key, { onward: !next });
  moveOn(next);
}

function moveOn(next) {
  if (next) enter(next);
  else onward();
}

document.addEventListener("click", ({ target }) => {
  if (!target.closest("#act") || isMoving()) return;
  const { place } = currentAct();
  if (!place) return onward();
  enter(place);
  if (place.matches(".card")) place.scrollIntoView({ block: "center" });
});

function writeNotes() {
  const notes = find(".dock:not([hidden]) textarea", question());
  if (notes) focus(notes);
}

/** Unfold, or fold again, what else is known of the card in focus. */
function unfold() {
  const more = within(".card") && find(".more, .name > .fold", within(".card"));
  if (more) more.open = !more.open;
}

function follow(selector) {
  find(`.walk a${selector}`)?.click();
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
  if (event.target.closest(TYPING) || find("dialog[open]") || !keysAreOn()) return;
  if (["arrowleft", "arrowright"].includes(key) && event.target.type === "radio") return;
  event.preventDefault();
  countUses(uses() + 1);
  if (event.repeat && !REPEATING.includes(key)) return;
  type(key);
}

onTyped(perform);
document.addEventListener("keydown", pressed);

const uses = () => Number(recall("key uses") ?? 0);

/** Show the keys in their buttons while they are on and were used too seldom to be known. */
function showKeys() {
  document.documentElement.dataset.keys = keysAreOn() && uses() < LEARNT ? "shown" : "known";
}

function countUses(times) {
  remember("key uses", times);
  showKeys();
}

function help() {
  countUses(0);
  find("#keys").showModal();
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
  else if (form.matches("[data-later-form]")) putOff();
  else if (!form.matches(".dock, .rate")) return;
  event.preventDefault();
});

/** Pin what was looked up, or take it back. */
function pin(form) {
  const value = find("[name=evidence]", form).value;
  sendClick(form, "evidence", value, { places: ["look"], was: value ? "" : "1" });
  showPin(form, value);
  announce(announced(value));
}

/** Judge where a button was pressed; the one that is in force already takes the verdict back. */
function judgeByPointer(form, button) {
  const { card: key } = form.closest("[data-card]")?.dataset ?? {};
  const line = form.closest(".own");
  const card = form.closest(".card") ?? find(`.card[data-card="${key}"]`);
  judge(card, button.getAttribute("aria-pressed") === "true" ? "" : button.value);
  if (form.matches(".remark")) focus(card); // that button goes away
  if (!line) return;
  line.open = false;
  find("summary", line).focus();
}

document.addEventListener("change", ({ target }) => {
  if (target.name === "quality") sendClick(target.form, "quality", target.value);
  if (target.name === "notes") storeNotes();
  if (target.form?.matches(".filter")) target.form.requestSubmit();
});

document.addEventListener("input", ({ target }) => {
  if (target.name === "notes") noteTyping(target);
});

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-walk]");
  const isPlain = !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.button);
  if (link && isPlain) {
    event.preventDefault();
    if (!isMoving()) go(link.getAttribute("href"), { isNamed: "named" in link.dataset });
  }
  const tag = event.target.closest(".tag");
  if (tag) event.preventDefault(); // a script shows chips; without one the form is sent
  if (tag?.ariaExpanded === "true") closeReasons();
  else if (tag) openReasons(aboutReason(tag.closest(".card")));
  const toStep = event.target.closest("a[data-step]");
  if (toStep && isPlain) {
    event.preventDefault();
    showStep(toStep.dataset.step);
  }
  if (event.target.closest("#more")) openMenu();
  else if (!event.target.closest(".live")) foldFigures();
});

/** Open the menu at the ways on, past the places of the app. */
function openMenu() {
  setTimeout(() => { // a click elsewhere than on a menu folds it
    find("#menu").open = true;
    find("#ways a, #ways button").focus();
  });
}

function foldFigures() {
  const figures = find(".live[open]");
  if (figures) figures.open = false;
  return figures;
}

document.addEventListener("keydown", ({ key }) => key === "Escape" && foldFigures()?.firstElementChild.focus());

document.addEventListener("toggle", ({ target, newState }) => {
  if (target.id === "figures" && newState === "open") loadMore({ places: [] });
}, true);

// ---- the page ---------------------------------------------------------------------------

function keysAreOn() {
  return find("#keys-on").checked;
}

find("#keys-on").checked = recall("keys") !== "off";
find("#keys-on").addEventListener("change", ({ target }) => {
  remember("keys", target.checked ? "on" : "off");
  showKeys();
});
if (find("#show-keys")) {
  find("#show-keys").hidden = false;
  find("#show-keys").addEventListener("click", help);
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
  const { top: hidden } = getComputedStyle(find(".walk"));
  document.documentElement.style.setProperty("--stick", `${find(".walk").offsetHeight + (parseFloat(hidden) || 0)}px`);
}).observe(find(".walk"));

showKeys();
document.documentElement.classList.add("scripted");
arrive({ tell: false });
for (const event of window.takeEarlyKeys?.() ?? []) pressed(event);
