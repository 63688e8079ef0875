// What was rated on a page without a server: every change, kept by this browser per rater.
//
// A change is {sequence, event_id, time, query_id, field, value, cause} and, for a verdict or its
// reason, `rank`; an undo names what it undoes. The changes in their order are the truth: what is in force
// follows from them, and the file that is taken home holds them.

const EMPTY = { rater: "", records: {} };

/** The record of one file's ratings under `name`; it survives the tab where the browser allows. */
export class Book {
  constructor(name) {
    this.name = name;
    this.lasts = true;
    this.content = EMPTY;
    this.reload();
  }

  get rater() {
    return this.content.rater;
  }

  get record() {
    return this.content.records[this.rater] ?? { device: "", at: null, taken: 0, changes: [] };
  }

  get changes() {
    return this.record.changes;
  }

  /** How many changes no downloaded file holds yet. */
  get untaken() {
    return this.changes.length - this.record.taken;
  }

  /** Read again what is kept; another tab may have added to it. */
  reload() {
    this.content = this.#stored() ?? this.content;
  }

  /** Let `name` rate; what was rated before anybody was named becomes theirs. */
  letRate(name) {
    this.reload();
    const records = { ...this.content.records };
    if (!this.rater && records[""] && !records[name]) {
      records[name] = records[""];
      delete records[""];
    }
    this.#store({ rater: name, records });
  }

  /** Add a change; returns whether it is kept for longer than this tab lives. */
  add(change) {
    this.reload();
    const { record } = this;
    const sequence = (record.changes.at(-1)?.sequence ?? 0) + 1;
    const event = { sequence, event_id: fresh(), time: Date.now(), ...change };
    this.#write({ device: record.device || fresh(), changes: [...record.changes, event] });
    return this.lasts;
  }

  /** Remember the question that is shown, or how many changes were taken away. */
  note(facts) {
    this.reload();
    this.#write(facts);
  }

  #write(facts) {
    const records = { ...this.content.records, [this.rater]: { ...this.record, ...facts } };
    this.#store({ ...this.content, records });
  }

  #stored() {
    try {
      const text = this.lasts ? localStorage.getItem(this.name) : this.#inTab();
      return text ? JSON.parse(text) : null;
    } catch {
      this.lasts = false;
      const text = this.#inTab();
      return text ? JSON.parse(text) : null;
    }
  }

  #store(content) {
    this.content = content;
    const text = JSON.stringify(content);
    try {
      if (this.lasts) return localStorage.setItem(this.name, text);
    } catch {
      this.lasts = false; // full, or forbidden meanwhile
    }
    window.name = this.name + text; // survives a reload of this tab, nothing else
  }

  #inTab() {
    return window.name.startsWith(this.name) ? window.name.slice(this.name.length) : null;
  }
}

/** Return what is in force for each of the run's queries, in order, after `changes`. */
export function stateAfter(queries, changes) {
  const states = new Map(queries.map((query) => [query.query_id, unrated(query)]));
  for (const change of changes) {
    const query = states.get(change.query_id);
    if (change.field === "relevance") query.verdictOf[query.results[change.rank - 1].item] = change.value;
    else if (change.field === "reason") query.reasonOf[query.results[change.rank - 1].item] = change.value;
    else if (change.field === "empty_outcome") query.outcome = change.value;
    else query[change.field] = change.value ?? (change.field === "notes" ? "" : null);
  }
  for (const query of states.values()) {
    query.verdicts = query.results.map(({ item }) => query.verdictOf[item] ?? null);
    query.reasons = query.results.map(({ item }) => query.reasonOf[item] ?? null);
  }
  return [...states.values()];
}

function unrated(query) {
  return { ...query, verdictOf: {}, verdicts: [], reasonOf: {}, reasons: [], outcome: null, quality: null, notes: "" };
}

/** Return the value in force where `change` was made. */
export function valueAt(query, { field, rank }) {
  if (field === "relevance") return query.verdicts[rank - 1];
  if (field === "reason") return query.reasons[rank - 1];
  return field === "empty_outcome" ? query.outcome : query[field];
}

/** Return the change that an undo takes back: the last one that nothing has undone yet. */
export function lastChange(changes) {
  const undone = new Set(changes.map((change) => change.undoes));
  return changes.findLast(({ cause, event_id }) => cause !== "undo" && !undone.has(event_id));
}

/** What is left to rate of a query: `cards` once each, an empty list, the quality of a readable answer. */
export function openIn(query) {
  const items = new Set(query.results.map(({ item }) => item));
  const cards = [...items].filter((item) => !query.verdictOf[item]).length;
  const lists = query.state === "empty" && !query.outcome ? 1 : 0;
  const isUnrated = query.asks_quality !== false && query.state !== "unreadable" && query.quality === null;
  return { cards, lists, isUnrated, isOpen: cards + lists > 0 || isUnrated };
}

/** Return a note after an edit from `base` to `text`, beside what another tab kept meanwhile. */
export function merged(stored, base, text) {
  const has = (whole, part) => whole.startsWith(part) || `\n${whole}\n`.includes(`\n${part}\n`);
  if (stored === base || has(text, stored)) return text;
  const [before, ...after] = `\n${stored}\n`.split(`\n${base}\n`);
  if (!base || !after.length) return has(stored, text) ? stored : `${stored}\n${text}`;
  return [before.slice(1), text, after.join(`\n${base}\n`).slice(0, -1)].filter(Boolean).join("\n");
}

function fresh() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
