// Clicks on their way to the server: one at a time, in order, each until it is answered.
//
// An event is {url, fields, ...}; it keeps its id through every attempt, so that the same click
// twice changes nothing. It is kept by the browser before it is sent, with the rater it belongs
// to: only that rater's pages send it. Of several tabs one sends the events of all, and informs
// the others. Further keys of an event are for the page that shows its state.

import { fresh, openQueue, Passing } from "./queue.js";

const FIRST_WAIT = 500;
const LONGEST_WAIT = 15_000;
const LONGEST_ANSWER = 30_000;
const LONGEST_FAULT = 600_000; // an event that breaks the server holds up the others no longer
const PARTIAL = { "HX-Request": "true", "HX-Request-Type": "partial" };
const BUSY = [408, 425, 429, 502, 503, 504, 507]; // the whole server's trouble, no event's
const KEPT_OUT = { 401: "signed-out", 403: "kept-out", 412: "another" };

const rater = document.documentElement.dataset.rater;
const listeners = new Set(); // functions to call when something about the queue has changed
const waiting = []; // this page's events, and what it found waiting, oldest first
const idle = [];
const faulty = new Map();
const channel = globalThis.BroadcastChannel && new BroadcastChannel("relevansi outbox");
let opening = openQueue();
let lasts = false; // whether the queue in force outlives the page
let trouble = null; // why nothing can be sent for now: {why, wait, text}
let calls = 0;
let answered = 0;
let working = false;
let isLeft = false;
let wake = () => {};

addEventListener("online", () => wake());
addEventListener("focus", () => wake());
addEventListener("pageshow", () => wake());
document.addEventListener("visibilitychange", () => document.hidden || wake());

/** Put an event in line; `hear` is told "saving", "unsaved", "refused" or "saved" with the answer. */
export function send(event, hear) {
  Object.assign(event, { rater, hear, event_id: fresh(), client_time: event.client_time ?? Date.now(), isOfThisPage: true });
  waiting.push(event);
  hear(event, "saving");
  store(event).then(() => {
    if (trouble) hear(event, "unsaved"); // kept by now: the page may be left
    work();
  });
}

/** Let `hear` have what waits from earlier pages; `overlay` is told all that the page cannot know. */
export async function resume(hear, overlay) {
  const isNew = (event) => !waiting.some(isSame(event));
  const late = (await remembered("waiting")).filter(isNew);
  waiting.unshift(...late.map((event) => Object.assign(event, { hear })));
  // A page that came from the server shows what was saved, and perhaps something newer.
  const isCopy = "offline" in document.documentElement.dataset;
  const saved = isCopy ? await remembered("saved") : [];
  const here = [...saved, ...(await remembered("refused"))];
  for (const event of here) overlay(event, event.state);
  for (const event of late) overlay(event, "unsaved");
  if (late.length) work();
}

/** Return the events of this page that the server has not answered yet, oldest first. */
export function pending() {
  return [...waiting];
}

/** Resolve once nothing is on its way: true when all is answered, false when it cannot be sent. */
export function settled() {
  if (!waiting.length || trouble) return Promise.resolve(!waiting.length);
  return new Promise((resolve) => idle.push(resolve));
}

/** Resolve once everything is answered, however long that takes. */
export async function drained() {
  while (!(await settled())) await new Promise((resolve) => setTimeout(resolve, FIRST_WAIT));
}

/** Return the part of a page at `address`, from a kept copy if need be and allowed; else null. */
export async function load(address, { copies = true } = {}) {
  const signal = AbortSignal.timeout?.(LONGEST_ANSWER);
  try {
    const response = await fetch(address, { headers: PARTIAL, signal });
    const text = await response.text();
    return response.ok && isPart(text) ? text : null;
  } catch {
    return copies ? copied(address).catch(() => null) : null;
  }
}

/** Return the parts of the whole page that this browser kept of `address`. */
async function copied(address) {
  const page = new DOMParser().parseFromString(await (await fetch(address)).text(), "text/html");
  if (!page.querySelector("#question")) return null;
  document.documentElement.dataset.offline = page.documentElement.dataset.offline ?? "";
  const parts = ["question", "walk", "ways"].map((id) => page.getElementById(id)).filter(Boolean);
  return parts.map(partial).join("");
}

const partial = ({ id, outerHTML }) =>
  `<hx-partial hx-target="#${id}" hx-swap="outerHTML">${outerHTML}</hx-partial>`;

// ---- what waits, for the page that shows it ---------------------------------------------

/** Call `hear` whenever something about the queue has changed. */
export function watch(hear) {
  listeners.add(hear);
  hear();
}

/** Return how many events wait, which were refused, how many are another rater's, and why. */
export async function summary() {
  const waiting = (await remembered("waiting")).length;
  return {
    waiting,
    refused: await remembered("refused"),
    others: (await ask((queue) => queue.count("waiting"))) - waiting,
    lasts: (await opening).lasts,
    trouble,
  };
}

/** Send a refused event once more, with the same id. */
export async function retry(event) {
  await ask((queue) => queue.put({ ...event, state: "waiting", reason: "" }));
  work();
}

/** Forget an event: its rater gave it up, or the page that is kept shows what it said. */
export async function discard(event) {
  await ask((queue) => queue.remove(event));
  changed();
}

/** Return the rater's events that this browser still has in one state. */
export function remembered(state) {
  return ask((queue) => queue.all(rater ?? "", state));
}

/** Ask the queue; once this browser's memory was closed, cleared or is full, one in the page. */
async function ask(question) {
  const opened = opening;
  const queue = await opened;
  try {
    const answer = await question(queue);
    if (opening === opened) return answer;
  } catch (error) {
    if (!queue.lasts) throw error;
    if (opening === opened) opening = Promise.resolve(new Passing(waiting.filter(isNumbered)));
    lasts = false;
  }
  return ask(question); // the queue in force was exchanged meanwhile
}

function changed() {
  for (const hear of listeners) hear();
}

// ---- sending ----------------------------------------------------------------------------

/** Keep an event, which gets its number by that. */
async function store(event) {
  const { hear, isOfThisPage, ...record } = event;
  const { pathname, search } = new URL(event.url, location);
  Object.assign(record, { url: pathname + search, state: "waiting" });
  await ask(async (queue) => {
    const { device, sequence } = await queue.add(record);
    // Nothing else of the record: the page may have marked the event while it was being kept.
    Object.assign(event, { url: record.url, state: record.state, device, sequence });
    lasts = queue.lasts;
  });
}

/** Send what waits, however often that is asked for at once. */
export async function work() {
  calls += 1;
  if (working || !rater) return changed();
  working = true;
  for (let wait = FIRST_WAIT, nCalls = 0; nCalls !== calls; ) {
    nCalls = calls;
    const before = answered;
    trouble = await alone(sendAll).catch(() => ({ why: "unreachable" }));
    if (!trouble) {
      await reconcile();
      wait = FIRST_WAIT;
      continue;
    }
    say();
    if (answered !== before) wait = FIRST_WAIT; // it comes and goes: no reason to wait for long
    await pause(trouble.wait ?? wait);
    wait = Math.min(wait * 2, LONGEST_WAIT);
    calls += 1;
  }
  working = false;
  announceIdle();
}

/** Send the events of the rater until none is left; return why one could not be sent. */
async function sendAll() {
  for (let event; (event = await ask((queue) => queue.oldest(rater))); ) {
    const answer = await attempt(event);
    if (answer.why) return answer;
    trouble = null;
    answered += 1;
    const { state, text } = answer;
    const record = { ...event, state, saved_at: Date.now(), reason: state === "refused" ? text : "" };
    const isDone = state === "saved" && !outlasts(event);
    const settling = ask((queue) => (isDone ? queue.remove(event) : queue.put(record)));
    channel?.postMessage({ event_id: event.event_id, state, text });
    await Promise.all([settling, finish(event.event_id, state, text)]);
    changed();
  }
  return null;
}

/** Return the server's answer, or why there is none yet and it is worth another try. */
async function attempt(event) {
  const { url, fields, event_id, client_time, device, sequence } = event;
  const body = new URLSearchParams({ ...fields, event_id, client_time, device, sequence });
  const headers = { ...PARTIAL, "Relevansi-Rater": event.rater };
  const signal = AbortSignal.timeout?.(LONGEST_ANSWER);
  try {
    const response = await fetch(url, { method: "POST", body, headers, signal });
    const text = await response.text();
    const { status } = response;
    if (!isPart(text)) return { why: "unreachable" }; // somebody's page in front of the server
    if (KEPT_OUT[status]) return { why: KEPT_OUT[status], wait: LONGEST_WAIT, text };
    if (BUSY.includes(status) || (status >= 500 && !isFaulty(event))) return { why: "unreachable" };
    return { state: response.ok ? "saved" : "refused", text };
  } catch {
    return { why: "unreachable" };
  }
}

/** Whether a page may be kept for offline that does not show yet what was saved. */
function outlasts({ page }) {
  return page && "serviceWorker" in navigator;
}

function isFaulty({ event_id }) {
  if (!faulty.has(event_id)) faulty.set(event_id, Date.now());
  return Date.now() - faulty.get(event_id) > LONGEST_FAULT;
}

/** Call the function that an event was made with, with the state of the event. */
async function finish(event_id, state, text) {
  const at = waiting.findIndex((event) => event.event_id === event_id);
  if (at < 0) return;
  const [event] = waiting.splice(at, 1);
  await event.hear(event, state, text);
  if (!waiting.length) announceIdle();
}

/** Count as answered what another tab sent without living to tell. */
async function reconcile() {
  for (const event of waiting.filter(isNumbered)) {
    const record = await ask((queue) => queue.get(event));
    if (record?.state !== "waiting") await finish(event.event_id, record?.state ?? "saved");
  }
}

/** Say of everything that waits that it is not saved yet, and why. */
function say() {
  if (trouble.why === "unreachable") askToSync();
  for (const event of waiting) event.hear(event, "unsaved");
  idle.splice(0).forEach((resolve) => resolve(!waiting.length));
  changed();
}

/** Have the worker send what waits once there is a network, should no page be open by then. */
async function askToSync() {
  const worker = await navigator.serviceWorker?.getRegistration();
  await worker?.sync?.register("outbox").catch(() => {});
}

function announceIdle() {
  if (!waiting.length) idle.splice(0).forEach((resolve) => resolve(true));
  changed();
}

/** Run `act` in one tab at a time; where tabs cannot agree, equal ids keep it harmless. */
function alone(act) {
  return navigator.locks ? navigator.locks.request("relevansi outbox", act) : act();
}

channel?.addEventListener("message", ({ data }) => {
  finish(data.event_id, data.state, data.text).then(changed);
});

const isNumbered = (event) => event.sequence !== undefined;
const isSame = (event) => (candidate) => candidate.event_id === event.event_id;
const isPart = (text) => text.includes("<hx-partial");

function pause(wait) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, wait);
    wake = () => (clearTimeout(timer), resolve());
  });
}

// ---- leaving ----------------------------------------------------------------------------

/** Ask no more before the page is left: its reader was asked, or what waits goes along. */
export function letGo() {
  isLeft = true;
}

// What this browser keeps is sent by the next page that is opened: there is nothing to lose.
addEventListener("beforeunload", (event) => {
  const isLost = (event) => event.isOfThisPage && !(lasts && isNumbered(event));
  if (!isLeft && waiting.some(isLost)) event.preventDefault();
});
