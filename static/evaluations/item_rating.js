// Items of evaluations by keyboard: a word shows at once, is saved in order, and moves on.
//
// The forms work without this script. Here their clicks go through the outbox, and the item
// as the server has it is put in place of the one that is shown.

import { keep, kept } from "../frame/memory.js";
import { drained, pending, resume, send } from "../frame/outbox.js";
import { DECIDED, REPEATING, isGrade, walking } from "../rating/keys.js";

const { htmx } = window;
const one = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const words = one("#judging").dataset;
const item = () => one("#item");
const PLACES = ".part.asked, #grade";
const TYPING = "input:not([type=checkbox]), textarea, select, dialog[open]";

let moving = false; // from the key that leaves an item until the next one is there

// ---- saying -----------------------------------------------------------------------------

/** Say what `button` says; what is pressed already is taken back. */
function say(button) {
  const { action } = button.form;
  const isPressed = button.getAttribute("aria-pressed") === "true";
  const fields = { part: one("[name=part]", button.form).value };
  fields.value = isPressed ? "" : button.dataset.value;
  const { address } = item().dataset;
  send({ url: action, address, place: button.closest(PLACES).id, fields }, told);
}

/** Hear what has become of an event; those of other pages are sent, but not shown here. */
async function told(event, state, text) {
  if (!new URL(event.url, location).pathname.startsWith("/items/")) return;
  if (text) await show(text);
  event.state = state;
  mark(event);
  pending().forEach(mark);
  if (state === "unsaved") announce(words.unsaved);
  if (state === "saved" && !pending().length) announce(words.saved);
}

/** Make the page say what an event says, before the server does. */
function mark({ address, place, fields, state }) {
  if (address !== item().dataset.address) return;
  const found = place && document.getElementById(place);
  if (!found) return;
  const line = one(".state", found);
  if (state !== "saved") line.textContent = words[state];
  line.classList.toggle("unsaved", state === "unsaved" || state === "refused");
  if (state === "saved" || state === "refused") return;
  found.dataset.verdict = fields.value;
  for (const button of all("[aria-pressed]", found)) {
    button.setAttribute("aria-pressed", button.dataset.value === fields.value);
  }
}

async function show(text) {
  const held = document.activeElement?.id;
  const body = document.body;
  await htmx.swap({ text, swap: "none", target: body, sourceElement: body, request: {} });
  if (held && document.activeElement?.id !== held) {
    document.getElementById(held)?.focus({ preventScroll: true });
  }
}

async function undo() {
  send({ url: words.undo, fields: {} }, told);
  await drained();
  const { address, title } = item().dataset;
  if (address !== location.pathname) history.replaceState(null, "", address);
  document.title = title;
}

function announce(text) {
  const status = one("#status");
  status.textContent = "";
  requestAnimationFrame(() => (status.textContent = text));
}

// ---- moving -----------------------------------------------------------------------------

const places = () => all(PLACES);
const isOpen = (place) => !place.dataset.verdict;

function enter(place) {
  const target = place.id === "grade" ? (one("[aria-pressed=true]", place) ?? one("button", place)) : place;
  target.focus({ preventScroll: true });
  place.scrollIntoView({ block: "nearest" });
}

function step(by) {
  const order = places();
  const at = order.indexOf(document.activeElement?.closest(PLACES));
  const target = order[Math.max(0, at + by)];
  if (target) enter(target);
}

async function follow(selector) {
  const link = one(selector);
  if (!link) return;
  moving = true;
  await drained();
  location.assign(link.href);
}

function verdict(value) {
  const place = document.activeElement?.closest(".part.asked");
  if (!place) return places().length && enter(places().find(isOpen) ?? places()[0]);
  const order = places();
  const at = order.indexOf(place);
  const next = [...order.slice(at + 1), ...order.slice(0, at)].find(isOpen) ?? one("#grade");
  const button = one(`[data-value="${value}"]`, place);
  if (button.getAttribute("aria-pressed") !== "true") say(button);
  enter(next);
}

async function grade(value) {
  const button = one(`#grade-${value}`);
  if (button.getAttribute("aria-pressed") !== "true") say(button);
  const open = places().find((place) => place.id !== "grade" && isOpen(place));
  if (open) enter(open);
  else follow("[data-jump]");
}

const KEYS = walking({ step, follow, undo });

function pressed(event) {
  const key = event.key.toLowerCase();
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.isComposing) return;
  if (!(key in KEYS || key in DECIDED || isGrade(key))) return;
  if (event.target.closest(TYPING) || !one("#keys-on").checked) return;
  event.preventDefault();
  if (moving || (event.repeat && !REPEATING.includes(key))) return;
  if (key in DECIDED) verdict(DECIDED[key]);
  else if (isGrade(key)) grade(key);
  else KEYS[key]();
}

document.addEventListener("keydown", pressed);

// ---- the pointer, and the page ----------------------------------------------------------

document.addEventListener("submit", (event) => {
  if (event.target.matches("[data-undo-form]")) undo();
  else if (event.target.matches(".say")) say(event.submitter);
  else return;
  event.preventDefault();
});

one("#keys-on").checked = kept("keys") !== "off";
one("#keys-on").addEventListener("change", ({ target }) => keep("keys", target.checked ? "on" : "off"));

resume(told, (event, state) => mark({ ...event, state }));
document.documentElement.classList.add("scripted");
if (!location.hash) places().find(isOpen)?.matches(".part") && enter(places().find(isOpen));
for (const event of window.takeEarlyKeys?.() ?? []) pressed(event);
