// Clicks that the server has not answered yet, in this browser's own database: they outlive the
// page, the tab and the power. A browser that keeps nothing has them while the page is open.

import { recall, remember } from "./memory.js";

const STORE = "events";
const ABOUT = "about";
const BY_STATE = "state";
const BY_RATER = "rater and state";
const PATIENCE = 3_000; // a database that does not open by then is done without

const answered = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = request.onblocked = () => reject(request.error);
  });

/** Return the queue of this browser, else one that lives as long as the page. */
export async function openQueue() {
  try {
    const late = new Promise((_, reject) => setTimeout(reject, PATIENCE));
    return await Promise.race([Lasting.open(), late]);
  } catch {
    return new Passing();
  }
}

class Lasting {
  lasts = true;

  static async open() {
    const opening = indexedDB.open("relevansi", 1);
    opening.onupgradeneeded = () => {
      const events = opening.result.createObjectStore(STORE, { keyPath: "sequence", autoIncrement: true });
      events.createIndex(BY_STATE, "state");
      events.createIndex(BY_RATER, ["rater", "state"]);
      opening.result.createObjectStore(ABOUT).add(fresh(), "device");
    };
    const database = await answered(opening);
    database.onversionchange = () => database.close();
    const about = database.transaction(ABOUT).objectStore(ABOUT);
    return Object.assign(new Lasting(), { database, device: await answered(about.get("device")) });
  }

  /** Keep an event; its sequence counts on from all events of this browser. */
  async add(event) {
    const record = { ...event, device: this.device };
    return { ...record, sequence: await answered(this.store("readwrite").add(record)) };
  }

  put(event) {
    return answered(this.store("readwrite").put(event));
  }

  remove({ sequence }) {
    return answered(this.store("readwrite").delete(sequence));
  }

  /** Return the rater's event that waits longest; undefined without one. */
  oldest(rater) {
    return answered(this.store().index(BY_RATER).get([rater, "waiting"]));
  }

  /** Return the rater's events in one state, in the order in which they were made. */
  all(rater, state) {
    return answered(this.store().index(BY_RATER).getAll([rater, state]));
  }

  /** Return an event as it is kept; undefined if it is not any more. */
  get({ sequence }) {
    return answered(this.store().get(sequence));
  }

  /** Return how many events of everybody are in one state. */
  count(state) {
    return answered(this.store().index(BY_STATE).count(state));
  }

  store(mode = "readonly") {
    return this.database.transaction(STORE, mode).objectStore(STORE);
  }
}

export class Passing {
  lasts = false;

  /** Begin with the events that could not be kept any more. */
  constructor(events = []) {
    this.events = [...events];
    if (!recall("device")) remember("device", fresh());
  }

  async add(event) {
    const sequence = Number(recall("sequence") ?? 0) + 1;
    remember("sequence", sequence);
    this.events.push({ ...event, device: recall("device"), sequence });
    return this.events.at(-1);
  }

  async put(event) {
    this.events = this.events.map((record) => (record.event_id === event.event_id ? event : record));
  }

  async remove({ event_id }) {
    this.events = this.events.filter((event) => event.event_id !== event_id);
  }

  async oldest(rater) {
    return (await this.all(rater, "waiting"))[0];
  }

  async all(rater, state) {
    return this.events.filter((event) => event.rater === rater && event.state === state);
  }

  async get({ event_id }) {
    return this.events.find((event) => event.event_id === event_id);
  }

  async count(state) {
    return this.events.filter((event) => event.state === state).length;
  }
}

/** Return a name that nothing else has. */
export function fresh() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
