// Copies of the rater's own questions for when the server cannot be reached: which are to be
// kept, and that nobody finds another's. The service worker keeps and shows them.

import { discard, remembered, watch } from "./outbox.js";

const { rater, worker } = document.documentElement.dataset;
const BASE = (worker ?? "").replace(/[^/]*$/, ""); // one host may serve several studies below paths
const HERE = `relevansi here ${BASE}`;
const NOTE = "/relevansi-here";
const PAGES = `relevansi pages ${BASE} `;
const AHEAD = 3; // questions
const QUIET = 1_500; // after the last click
const LONGEST = 20_000; // for somebody who clicks on and on
const FIRST_PAUSE = 2_000; // after an attempt that failed
const LONGEST_PAUSE = 60_000;
const isCopy = "offline" in document.documentElement.dataset;
const canKeep = Boolean(worker && navigator.serviceWorker && globalThis.caches);
let current = null; // the question on the page
let planned = null; // the one whose followers are kept
let timer = 0;
let since = 0; // when something was first to be kept
let pause = FIRST_PAUSE;
let isLeft = false; // for a question that its reader has chosen

const begun = canKeep && rater !== undefined && begin();
if (canKeep) document.addEventListener("question", ({ detail }) => later(detail));
if (document.querySelector("#kept")) list(document.querySelector("#kept"));

/** Say who is at work, forget what is kept of others, and have the worker in place. */
async function begin() {
  const old = await here();
  const { ahead = [] } = old.rater === rater ? old : {};
  await say({ rater, language: document.documentElement.lang, ahead });
  const others = (await caches.keys()).filter((name) => name.startsWith(PAGES) && name !== PAGES + rater);
  await Promise.all(others.map((name) => caches.delete(name)));
  // First what the reader waits for; without a worker all goes on as it did.
  if (!isCopy) setTimeout(() => install().catch(() => {}), QUIET);
}

/** Return the registration of the worker, once that is in place. */
async function install() {
  const registration = await navigator.serviceWorker.register(worker);
  const coming = registration.installing;
  if (coming && !registration.active) await new Promise((resolve, reject) => {
    coming.addEventListener("statechange", () => {
      if (coming.state === "activated") resolve();
      if (coming.state === "redundant") reject(new Error("a file of the app was not to be had"));
    });
  });
  return registration;
}

async function here() {
  const note = await (await caches.open(HERE)).match(NOTE);
  return note ? note.json() : {};
}

async function say(note) {
  const cache = await caches.open(HERE);
  await cache.put(NOTE, new Response(JSON.stringify(note)));
}

// ---- what is to be kept -----------------------------------------------------------------

function later({ page, ahead }) {
  current = { page, ahead };
  wait();
}

watch(wait);
addEventListener("online", wait);

function wait() {
  if (!current || !canKeep) return;
  clearTimeout(timer);
  since ||= Date.now();
  timer = setTimeout(keep, Math.min(QUIET, Math.max(0, since + LONGEST - Date.now())));
}

/** Keep anew what was changed since it was kept, the question that is shown and the next ones. */
async function keep() {
  since = 0;
  if (!navigator.onLine) return; // the event "online" asks again
  try {
    await begun;
    if (!(await isMine())) return;
    await controlled();
    await renew();
    if (planned !== current.page) await plan(current.page);
    pause = FIRST_PAUSE;
  } catch {
    // The server is away: what is kept by now is what there is, until it is back.
    if (!since) timer = setTimeout(keep, pause);
    pause = Math.min(pause * 2, LONGEST_PAUSE);
  }
}

async function isMine() {
  return (await here()).rater === rater;
}

/** Resolve once the worker is between this page and the network. */
async function controlled() {
  const { serviceWorker } = navigator;
  if (serviceWorker.controller) return;
  const changed = new Promise((resolve) => {
    serviceWorker.addEventListener("controllerchange", resolve, { once: true });
  });
  const { active } = await install();
  active?.postMessage("claim"); // it takes no page that was on its way when it came to be
  await changed;
}

/** Ask again for the questions on which something was saved since they were kept. */
async function renew() {
  const saved = await remembered("saved");
  for (const page of new Set(saved.map((event) => event.page))) {
    await copy(page === current.page ? location.pathname + location.search : page);
    for (const event of saved.filter((savedEvent) => savedEvent.page === page)) await discard(event);
  }
}

/** Keep the question that is shown and those that follow, and note where they are. */
async function plan(page) {
  const next = [location.pathname + location.search, ...(await givenAhead())];
  for (let at = 0; at < next.length && at <= AHEAD; at += 1) {
    const text = await textOf(next[at]);
    const link = new DOMParser().parseFromString(text, "text/html").querySelector("a[data-ahead]");
    const follows = link?.getAttribute("href");
    if (follows && !next.includes(follows)) next.push(follows);
  }
  if (!(await isMine())) return;
  const ahead = next.slice(0, AHEAD + 1);
  await say({ ...(await here()), ahead });
  document.querySelector("#rating").dataset.ahead = ahead.join(" ");
  planned = page;
}

/** Return the addresses of the questions that a blind rater is given next. */
async function givenAhead() {
  const address = document.querySelector("#rating").dataset.give;
  if (!address) return [];
  const response = await fetch(address, { method: "POST", headers: { "Relevansi-Rater": rater } });
  if (!response.ok) throw new Error(address);
  return (await response.json()).addresses;
}

/** Return the text of a page that is kept from now on, if it was not already. */
async function textOf(address) {
  const pages = await caches.open(PAGES + rater);
  const stored = await pages.match(address, { ignoreVary: true });
  return stored ? stored.text() : copy(address);
}

async function copy(address) {
  const response = await fetch(address, { headers: { "Relevansi-Keep": "1" } });
  if (response.status === 404) return forget(address);
  if (!response.ok) throw new Error(address);
  return response.text();
}

/** Keep no copy of a question that is no more; returns the text of nothing. */
async function forget(address) {
  await (await caches.open(PAGES + rater)).delete(address, { ignoreVary: true });
  return "";
}

// ---- the page that stands for one that is not kept --------------------------------------

/** List the questions that are kept of the rater who was at work last. */
async function list(place) {
  const last = (await here()).rater;
  const pages = await caches.open(PAGES + last);
  for (const { url } of last ? await pages.keys() : []) {
    const text = await (await pages.match(url, { ignoreVary: true })).text();
    const title = new DOMParser().parseFromString(text, "text/html").title;
    place.append(entry(url, title.replace(/ · Relevansi$/, "")));
  }
  place.parentElement.hidden = !place.children.length;
  addEventListener("beforeunload", () => (isLeft = true));
  // To load this page again would call back a reader who is on the way to a question.
  addEventListener("online", () => isLeft || location.reload());
}

function entry(url, title) {
  const link = Object.assign(document.createElement("a"), { href: url, textContent: title });
  const line = document.createElement("li");
  line.append(link);
  return line;
}
