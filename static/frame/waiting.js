// What is not sent yet, said on every page: how much waits and why, what was refused and may be
// given up. Every page sends what it finds waiting for its rater, whichever page it is from.

import { discard, letGo, retry, settled, summary, watch, work } from "./outbox.js";

const bar = document.querySelector("#outbox");
const words = bar.dataset;
const part = (name) => bar.querySelector(`[data-part="${name}"]`);
const REASONS = { "signed-out": "signedOut", "kept-out": "keptOut", another: "anotherRater" };
const LATE = 1_000; // what is sent by then was never worth a word
const PATIENCE = 3_000;
const root = document.documentElement;
let latest = null;
let since = 0;
let timer = 0;
let wasStuck = false;

function filled(pattern, value) {
  return pattern.replace("{}", value);
}

function time(moment) {
  return new Date(Number(moment)).toLocaleTimeString(root.lang, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
}

function phrase(name, n) {
  return filled(n === 1 ? words[name] : words[`${name}s`], n);
}

async function show() {
  latest = await summary();
  const { waiting, refused, others, lasts, trouble } = latest;
  since = waiting ? since || Date.now() : 0;
  clearTimeout(timer);
  if (waiting && !trouble) timer = setTimeout(show, LATE);
  if (wasStuck && !waiting && !trouble) delete root.dataset.offline; // it was all answered
  wasStuck = Boolean(trouble) || (wasStuck && waiting > 0);
  const late = trouble || Date.now() - since >= LATE;
  const counts = [
    waiting && late && phrase("waiting", waiting),
    refused.length && phrase("refused", refused.length),
    !root.dataset.rater && others && phrase("other", others),
    root.dataset.rater && others && phrase("another", others),
  ].filter(Boolean);
  const reason = REASONS[trouble?.why] ?? (lasts && "unreachable"); // which says that it is kept
  const why = [
    waiting && late && reason && words[reason],
    waiting && late && !lasts && words.passing,
    !waiting && root.dataset.offline && filled(words.copy, time(root.dataset.offline)),
  ].filter(Boolean);
  update(part("count"), counts.join(" · "));
  update(part("why"), why.join(" "));
  part("sign-in").hidden = trouble?.why !== "signed-out";
  if (part("refused").dataset.shown !== ids(refused)) list(refused);
  bar.hidden = !counts.length && !why.length;
}

/** Say something only where it is news: the bar is read aloud when it changes. */
function update(place, text) {
  if (place.textContent !== text) place.textContent = text;
}

const ids = (events) => events.map(({ event_id }) => event_id).join(" ");

function list(events) {
  part("refused").dataset.shown = ids(events);
  part("details").hidden = !events.length;
  part("refused").replaceChildren(...events.map(line));
}

/** Return the line of one refused event: what it said, why it was refused, and what can be done. */
function line(event) {
  const item = part("line").content.cloneNode(true);
  const reason = new DOMParser().parseFromString(event.reason ?? "", "text/html");
  item.querySelector("b").textContent = event.label ?? Object.values(event.fields)[0];
  item.querySelector("span").textContent = reason.querySelector("p")?.textContent.trim() ?? "";
  const [again, drop] = item.querySelectorAll("button");
  again.addEventListener("click", () => retry(event).then(() => showAgain(event)));
  drop.addEventListener("click", () => discard(event).then(() => showAgain(event)));
  return item;
}

/** Show again what is stored and what waits, where the event was made. */
function showAgain({ page }) {
  if (page === location.pathname) location.reload();
}

// ---- leaving, with clicks that are not sent yet -----------------------------------------

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.matches("[data-leaves]") || !latest?.waiting) return;
  event.preventDefault();
  await Promise.race([settled(), new Promise((resolve) => setTimeout(resolve, PATIENCE))]);
  const { waiting } = await summary();
  if (waiting && !confirm(filled(words.leaving, waiting))) return;
  if (event.submitter?.name) addChoice(form, event.submitter);
  letGo();
  form.submit();
});

function addChoice(form, { name, value }) {
  const choice = Object.assign(document.createElement("input"), { type: "hidden", name, value });
  form.append(choice);
}

const here = new URLSearchParams({ next: location.pathname + location.search });
part("sign-in").href += `?${here}`;
addEventListener("online", () => (delete root.dataset.offline, show()));
watch(show);
work();
