// Clicks on their way to the server: one at a time, in order, each until it is answered.
//
// An event is {url, fields, ...}; it keeps its id through every attempt, so that the same
// click twice changes nothing. What else it carries is for whoever shows its state.

import { keep, kept } from "./memory.js";

const FIRST_WAIT = 500;
const LONGEST_WAIT = 15_000;
const PARTIAL = { "HX-Request": "true", "HX-Request-Type": "partial" };
const waiting = [];
const idle = [];
let sending = false;
let wake = () => {};

addEventListener("online", () => wake());

/** Put an event in line; `told` hears "saving", "unsaved", "refused" or "saved" with the answer. */
export function send(event, told) {
  Object.assign(event, { told, body: new URLSearchParams({ ...event.fields, ...stamp() }) });
  waiting.push(event);
  told(event, "saving");
  if (!sending) work();
}

/** Return the events that the server has not answered yet, oldest first. */
export function pending() {
  return [...waiting];
}

/** Resolve once nothing is on its way. */
export function drained() {
  return waiting.length ? new Promise((resolve) => idle.push(resolve)) : Promise.resolve();
}

/** Return the part of a page that stands at `address`; null if there is none to be had. */
export async function load(address) {
  try {
    const response = await fetch(address, { headers: PARTIAL });
    const text = await response.text();
    return response.ok && isPart(text) ? text : null;
  } catch {
    return null;
  }
}

async function work() {
  sending = true;
  while (waiting.length) {
    const event = waiting[0];
    const { state, text } = await deliver(event);
    waiting.shift();
    await event.told(event, state, text);
  }
  sending = false;
  idle.splice(0).forEach((resolve) => resolve());
}

async function deliver(event) {
  for (let wait = FIRST_WAIT; ; wait = Math.min(wait * 2, LONGEST_WAIT)) {
    const answer = await attempt(event);
    if (answer) return answer;
    event.told(event, "unsaved");
    await pause(wait);
  }
}

/** Return the server's answer; null when there was none and it is worth another try. */
async function attempt({ url, body }) {
  try {
    const response = await fetch(url, { method: "POST", body, headers: PARTIAL });
    const text = await response.text();
    if (response.status >= 500 || [408, 429].includes(response.status) || !isPart(text)) return null;
    return { state: response.ok ? "saved" : "refused", text };
  } catch {
    return null;
  }
}

function isPart(text) {
  return text.includes("<hx-partial");
}

function pause(wait) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, wait);
    wake = () => (clearTimeout(timer), resolve());
  });
}

/** Return what tells this event from every other, and its place among this browser's events. */
function stamp() {
  const sequence = Number(kept("sequence") ?? 0) + 1;
  keep("sequence", sequence);
  return { event_id: fresh(), client_time: Date.now(), device: device(), sequence };
}

function device() {
  if (!kept("device")) keep("device", fresh());
  return kept("device");
}

function fresh() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
