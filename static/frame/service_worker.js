// Between the pages and the network: the app's own files, and copies of the rating pages that
// somebody opened or is about to, for when the server cannot be reached.
//
// The server puts SHELL before this: {base, version, files, offline}. Another version of the app
// is another worker, with a store of its own for files. Copies belong to one rater: those of
// the rater at work, by the name that comes with every answer; only theirs are kept or shown.
// What a page sends to the server never passes here; what no page is left to send, this sends.

const OF_FILES = `relevansi files ${SHELL.base} `;
const FILES = OF_FILES + SHELL.version;
const HERE = `relevansi here ${SHELL.base}`; // who is at work, as the last page said
const NOTE = "/relevansi-here";
const PAGES = `relevansi pages ${SHELL.base} `;
const KEEPABLE = /^(?:runs\/[^/]+\/queries\/\d+|rate\/[\w-]{6,}|ask\/\d+)$/;
const RATER = "Relevansi-Rater";
const KEEP = "Relevansi-Keep"; // a page that is asked for only to be kept
const MOST = 60; // copies
const PATIENCE = 6_000; // with a network that neither works nor fails
const AWAY = [502, 503, 504]; // said by a proxy in place of the server

addEventListener("install", (event) => {
  // A click does not wait for this worker to start.
  const clicks = { condition: { requestMethod: "POST" }, source: "network" };
  event.addRoutes?.(clicks).catch(() => {});
  event.waitUntil(fill().then(() => skipWaiting()));
});

async function fill() {
  const files = await caches.open(FILES);
  await Promise.all(SHELL.files.map(async (file) => files.put(file, await fetched(file))));
}

async function fetched(file) {
  const response = await fetch(file, { credentials: "omit" });
  if (!response.ok) throw new Error(file);
  return response;
}

addEventListener("activate", (event) => {
  // Earlier versions enabled preloads; with one Firefox shows no copy while the server is away.
  event.waitUntil(Promise.all([forget(), registration.navigationPreload?.disable(), clients.claim()]));
});

// A page that was being loaded when the worker came to be is one that `claim` left out.
addEventListener("message", (event) => {
  if (event.data === "claim") event.waitUntil(clients.claim());
});

async function forget() {
  const old = (await caches.keys()).filter((name) => name.startsWith(OF_FILES) && name !== FILES);
  await Promise.all(old.map((name) => caches.delete(name)));
}

addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  // What changes anything is left alone: sent from here, another site's form would look like ours.
  if (url.origin !== location.origin || request.method !== "GET") return;
  if (request.mode === "navigate") return event.respondWith(page(event, url));
  if (pathIn(url).startsWith("static/")) return event.respondWith(file(request, url));
  if (!isKeepable(url) || request.headers.get("HX-Request-Type") === "partial") return;
  event.respondWith(request.headers.has(KEEP) ? keptPage(event, url) : page(event, url));
});

const pathIn = ({ pathname }) =>
  pathname.startsWith(SHELL.base) ? pathname.slice(SHELL.base.length) : "";
const isKeepable = (url) => KEEPABLE.test(pathIn(url));

// ---- files ------------------------------------------------------------------------------

/** Return a file: a version of it never changes, any other is asked for as long as that works. */
async function file(request, url) {
  const files = await caches.open(FILES);
  const current = await files.match(request, { ignoreVary: true });
  if (current && url.searchParams.has("v")) return current;
  try {
    return await fetch(request);
  } catch (gone) {
    const stored = current ?? (await files.match(request, { ignoreSearch: true, ignoreVary: true }));
    if (stored) return stored;
    throw gone;
  }
}

// ---- pages ------------------------------------------------------------------------------

/** Return a page from the server; without one the copy of it, else what can be done. */
async function page(event, url) {
  const copy = await find(url);
  try {
    const response = await (copy ? patient(fetch(event.request)) : fetch(event.request));
    if (AWAY.includes(response.status)) return copy ? markedCopy(copy) : response;
    if (response.ok && isKeepable(url)) event.waitUntil(keep(url, response.clone()));
    return response;
  } catch (gone) {
    if (copy) return markedCopy(copy);
    if (event.request.mode !== "navigate") throw gone;
    return (await onward(url)) ?? written();
  }
}

/** Return a page from the server, once it is kept. */
async function keptPage(event, url) {
  const response = await fetch(event.request);
  if (response.ok) await keep(url, response.clone());
  return response;
}

function patient(response) {
  return Promise.race([response, new Promise((_, reject) => setTimeout(reject, PATIENCE))]);
}

/** Keep a copy of a page, if it is a page of the rater at work here. */
async function keep(url, response) {
  const rater = response.headers.get(RATER);
  if (response.redirected || !rater || rater !== (await here()).rater) return;
  const pages = await caches.open(PAGES + rater);
  await pages.delete(url.href, { ignoreVary: true });
  await pages.put(url.href, response);
  const copies = await pages.keys();
  await Promise.all(copies.slice(0, Math.max(0, copies.length - MOST)).map((old) => pages.delete(old)));
}

/** Return the rater's copy of a page; undefined without one. */
async function find(url) {
  const { rater } = await here();
  if (!rater || !isKeepable(url)) return undefined;
  const pages = await caches.open(PAGES + rater);
  return (
    (await pages.match(url.href, { ignoreVary: true })) ??
    (await pages.match(url.href, { ignoreVary: true, ignoreSearch: true }))
  );
}

/** Return a copy that says that it is one, and since when. */
function markedCopy(copy) {
  return marked(copy, `data-offline="${Date.parse(copy.headers.get("Date")) || ""}"`);
}

/** Return a page of ours with one thing more said of it. */
async function marked(page, attribute) {
  const headers = new Headers(page.headers);
  headers.delete("Content-Encoding");
  headers.delete("Content-Length");
  const text = await page.text();
  return new Response(text.replace("<html ", `<html ${attribute} `), { headers });
}

/** Lead from where a rater begins to the first question that is kept; undefined without one. */
async function onward(url) {
  if (!["", "rate/"].includes(pathIn(url))) return undefined;
  const { rater, ahead = [] } = await here();
  if (!rater) return undefined;
  const pages = await caches.open(PAGES + rater);
  for (const address of ahead) {
    if (await pages.match(address, { ignoreVary: true })) return Response.redirect(address);
  }
  return undefined;
}

/** Return the page that says that the server is away, in the language of the rater at work. */
async function written() {
  const { language, rater } = await here();
  const address = SHELL.offline[language] ?? Object.values(SHELL.offline)[0];
  const page = await (await caches.open(FILES)).match(address, { ignoreVary: true });
  if (!page) return Response.error();
  return rater ? marked(page, `data-rater="${rater}"`) : page;
}

// ---- clicks that no page is left to send ------------------------------------------------

addEventListener("sync", (event) => {
  if (event.tag === "outbox") event.waitUntil(sendAll());
});

/** Send what waits of the rater at work, in order; a failure has the browser try again. */
async function sendAll() {
  if ((await clients.matchAll()).length) return; // an open page does, and shows it
  await navigator.locks.request("relevansi outbox", async () => {
    const { rater } = await here();
    const opening = indexedDB.open("relevansi");
    opening.onupgradeneeded = () => opening.transaction.abort(); // there is nothing: pages make it
    const database = await answered(opening);
    try {
      while (rater && (await sendOldest(database, rater)));
    } finally {
      database.close();
    }
  });
}

/** Send one event; return whether it was stored. A page shows what is refused. */
async function sendOldest(database, rater) {
  const events = (mode) => database.transaction("events", mode).objectStore("events");
  const event = await answered(events("readonly").index("rater and state").get([rater, "waiting"]));
  if (!event) return false;
  const { url, fields, event_id, client_time, device, sequence } = event;
  const body = new URLSearchParams({ ...fields, event_id, client_time, device, sequence });
  const headers = { "HX-Request": "true", "HX-Request-Type": "partial", [RATER]: rater };
  const response = await fetch(url, { method: "POST", body, headers });
  if (response.status >= 500) throw new Error(response.statusText);
  if (!response.ok || !(await response.text()).includes("<hx-partial")) return false;
  await answered(events("readwrite").put({ ...event, state: "saved", saved_at: Date.now() }));
  return true;
}

const answered = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

async function here() {
  const note = await (await caches.open(HERE)).match(NOTE);
  return note ? note.json() : {};
}
