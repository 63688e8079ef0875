// The rating page by keyboard: a verdict shows at once, is saved in order, and moves on.
//
// The forms work without this script. Here their clicks go through the outbox, the answers
// are put in place by htmx, and the next open question is fetched before it is wanted.

import { keep, kept } from "./memory.js";
import { drained, load, pending, send } from "./outbox.js";

const { htmx } = window;
const one = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const words = one("#rating").dataset;
const question = () => one("#question");
const walk = () => one("#walk");
const VERDICTS = { y: "1", v: "1", t: "0", x: "0", r: "unsure" };
const OUTCOMES = { y: "correct_empty", t: "false_negative" };
const TYPING = "input:not([type=radio], [type=checkbox]), textarea, select, dialog[open]";
const KINDS = { relevance: "card", empty_outcome: "outcome", quality: "quality", notes: "notes" };

let moving = false; // from the key that leaves a question until the next one has focus
let typed = []; // what was typed in between
let ahead = null; // {address, text: Promise} of the next open question

// ---- saying -----------------------------------------------------------------------------

/** Say `value` for `field` of the question; `places` are the ranks a verdict counts at. */
function say(form, field, value, { places = [KINDS[field]], onward = false } = {}) {
  const fields = onward ? { [field]: value, onward: 1 } : { [field]: value };
  send({ url: form.action, query: question().dataset.query, field, value, places, fields }, told);
}

function judge(card, value) {
  const repeats = card.dataset.repeats?.split(" ") ?? [];
  say(one("form.verdict", card), "relevance", value, { places: [card.dataset.rank, ...repeats] });
}

async function undo() {
  if (moving) return;
  moving = true;
  send({ url: words.undo, places: [], fields: {} }, told);
  await drained();
  arrive();
}

/** Show what has become of an event, and what its answer changes on the page. */
async function told(event, state, text, address) {
  if (text) {
    await show(text);
    if (text.includes('id="question"')) visit(address); // an undo shows where it happened
  }
  event.state = state;
  mark(event, state);
  for (const other of pending()) (apply(other), mark(other, other.state));
  if (state === "unsaved") announce(words.unsaved);
  if (state === "saved" && !pending().length) announce(words.saved);
}

/** Make the page say what an event says, before the server does. */
function apply({ query, field, value, places }) {
  if (query !== question().dataset.query) return;
  if (field === "relevance") places.forEach((rank) => press(one(`#rank-${rank}`), value));
  if (field === "empty_outcome") press(one("#outcome"), value);
  if (field === "quality") one(`#quality-${value}`).checked = true;
}

function press(place, value) {
  place.dataset.verdict = value;
  for (const button of all("button[aria-pressed]", place)) {
    button.setAttribute("aria-pressed", button.value === value);
  }
}

function mark({ query, places }, state) {
  if (query !== question().dataset.query) return;
  for (const place of places) {
    const line = one(`[data-state-of="${place}"]`);
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

/** Go on to the next open question once everything is saved; to the summary after the last. */
async function onward() {
  moving = true;
  await drained();
  const { finished, query, address } = walk().dataset;
  if (finished) return location.assign(words.finish);
  if (query === question().dataset.query) return arrive(); // refused, or nothing else is open here
  await go(address);
}

/** Show the question at `address` in place of this one; as a whole page if need be. */
async function go(address, { push = true } = {}) {
  moving = true;
  await drained();
  const standing = [walk(), one("#figures")].map((part) => part.outerHTML);
  const isNext = new URL(address, location).href === ahead?.address;
  const known = isNext && walk().dataset.address === address;
  const text = (isNext && (await ahead.text)) || (await load(address));
  if (!text) return location.assign(address);
  await show(text);
  // What the last answer said of this question is newer than what was fetched ahead of it.
  if (known) await show(standing.map(partial).join(""));
  visit(address, push);
  arrive();
}

function partial(html) {
  return `<hx-partial hx-target="#${html.match(/id="(\w+)"/)[1]}" hx-swap="outerMorph">${html}</hx-partial>`;
}

function visit(address, push = true) {
  const { pathname, search } = new URL(address, location);
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
  foldFigures();
  focusFirst();
  if (tell) announce(one("#walk strong").textContent);
  const next = one("a[data-jump][data-walk]")?.href;
  ahead = next ? { address: next, text: load(next) } : null;
  while (typed.length && !moving) act(...typed.shift());
}

function foldFigures() {
  if (matchMedia("(max-width: 75rem)").matches) one("#figures details").open = false;
}

// ---- focus ------------------------------------------------------------------------------

const cards = () => all(".card", question());
const here = () => document.activeElement?.closest?.(".card");
const isOpen = (card) => !card.dataset.verdict;

function focus(element) {
  element.focus({ preventScroll: true });
  element.scrollIntoView({ block: "nearest" });
}

function focusFirst() {
  const marked = location.hash && one(`.card${location.hash}`);
  const outcome = one("#outcome");
  const first = marked || cards().find(isOpen) || (outcome && isOpen(outcome) && outcome);
  if (first) focus(first);
  else if (cards().length && !one("#grades :checked")) focusGrades();
  else question().focus({ preventScroll: true });
}

function focusGrades() {
  const grades = one("#grades");
  focus(one(":checked", grades) ?? one(".suggested input", grades) ?? one("input", grades));
}

/** Move on after a verdict: to the next open card, from the last one round to the first. */
function focusNext(card) {
  const order = cards();
  const place = order.indexOf(card) + 1;
  const next = [...order.slice(place), ...order.slice(0, place)].find(isOpen);
  if (next) focus(next);
  else focusGrades();
}

function step(by) {
  const order = cards();
  if (!order.length) return;
  const card = here();
  const inGrades = one("#rate").contains(document.activeElement);
  const at = card ? order.indexOf(card) : inGrades ? order.length : -1;
  const target = Math.max(0, at + by);
  if (target >= order.length) focusGrades();
  else focus(order[target]);
}

// ---- keys -------------------------------------------------------------------------------

const KEYS = {
  j: () => step(1),
  k: () => step(-1),
  arrowdown: () => step(1),
  arrowup: () => step(-1),
  arrowright: () => follow('[rel="next"]'),
  arrowleft: () => follow('[rel="prev"]'),
  l: () => follow('[rel="next"]'),
  p: () => follow('[rel="prev"]'),
  g: () => follow("[data-jump]"),
  u: undo,
  n: () => focus(one("#notes")),
  h: () => one("#keys").showModal(),
  "?": () => one("#keys").showModal(),
};
const REPEATING = ["j", "k", "arrowdown", "arrowup"];

function act(key) {
  const outcome = one("#outcome");
  if (outcome && OUTCOMES[key]) {
    say(outcome, "empty_outcome", OUTCOMES[key], { onward: true });
    onward();
  } else if (VERDICTS[key] && cards().length) {
    verdict(VERDICTS[key]);
  } else if (/^[0-5]$/.test(key)) {
    grade(key);
  } else {
    KEYS[key]?.();
  }
}

function verdict(value) {
  const card = here();
  if (card) {
    judge(card, value);
    focusNext(card);
  } else {
    focusFirst();
  }
}

function grade(key) {
  if (!one("#grades").contains(document.activeElement)) return;
  say(one("#rate"), "quality", key, { onward: true });
  onward();
}

function follow(selector) {
  one(`#walk a${selector}`)?.click();
}

function isKnown(key) {
  return key in KEYS || key in VERDICTS || /^[0-5]$/.test(key);
}

document.addEventListener("keydown", (event) => {
  const key = event.key.toLowerCase();
  if (key === "escape" && event.target.id === "notes") return leaveNotes();
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || !isKnown(key)) return;
  if (event.shiftKey && key !== "?") return;
  if (event.target.closest(TYPING) || one("dialog[open]") || !keysAreOn()) return;
  if (["arrowleft", "arrowright"].includes(key) && event.target.type === "radio") return;
  event.preventDefault();
  if (event.repeat && !REPEATING.includes(key)) return;
  if (moving) typed.push([key]);
  else act(key);
});

function leaveNotes() {
  one("#notes").blur(); // which stores what was written
  focusFirst();
}

// ---- the pointer ------------------------------------------------------------------------

document.addEventListener("submit", (event) => {
  const form = event.target;
  const value = event.submitter?.value;
  if (form.matches(".verdict")) {
    judge(form.closest(".card"), value);
    if (!value) focus(form.closest(".card")); // the button that clears goes away
  } else if (form.matches("#outcome")) say(form, "empty_outcome", value);
  else if (form.matches("[data-undo-form]")) undo();
  else if (!form.matches("#rate")) return;
  event.preventDefault();
});

document.addEventListener("change", ({ target }) => {
  if (target.name === "quality") say(target.form, "quality", target.value);
  if (target.id === "notes") say(target.form, "notes", target.value);
});

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-walk]");
  const plain = !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.button);
  if (link && plain) {
    event.preventDefault();
    if (!moving) go(link.getAttribute("href"));
  }
});

// ---- the page ---------------------------------------------------------------------------

function keysAreOn() {
  return one("#keys-on").checked;
}

one("#keys-on").checked = kept("keys") !== "off";
one("#keys-on").addEventListener("change", ({ target }) => {
  keep("keys", target.checked ? "on" : "off");
});
one("#show-keys").hidden = false;
one("#show-keys").addEventListener("click", () => one("#keys").showModal());

addEventListener("beforeunload", (event) => {
  if (pending().length) event.preventDefault();
});

document.addEventListener("htmx:before:history:restore", (event) => {
  event.preventDefault();
  go(event.detail.path, { push: false });
});

document.documentElement.classList.add("scripted");
arrive({ tell: false });
