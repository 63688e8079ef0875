// A run rated from one file, without a server. The script of the rating page runs here as it
// is; this replaces its outbox: a click is kept by the browser in place of being
// sent, and a question comes from the file in place of an answer.

import { Book, lastChange, merged, openIn, stateAfter, valueAt } from "./book.js";
import { ratedCsv } from "./csv.js";
import { suggestedQuality } from "./figures.js";
import { drawFigures, filled } from "./table.js";
import { find, findAll } from "../frame/elements.js";
import { recall, remember } from "../frame/memory.js";
import { showBeside, showReason } from "../rating/reasons.js";

const run = JSON.parse(find("#run").textContent);
for (const query of run.queries) query.cannot_tell = run.cannot_tell;
const template = find(`template[lang="${recall("language")}"]`) ?? find("template[lang]");
const language = template.lang;
const book = new Book(`relevansi ratings of ${run.identity}: `);
const OFTEN = 10; // changes that may wait before a download is offered again
let queries = stateAfter(run.queries, book.changes);

// ---- the page in the reader's language ------------------------------------------------------

Object.assign(document.documentElement, { lang: language, dir: template.dir });
document.body.append(template.content.cloneNode(true));
const words = find("#rating").dataset;

// What the script of the rating page asks of htmx: put parts in their places.
window.htmx = {
  swap({ text }) {
    const parts = document.createElement("template");
    parts.innerHTML = text;
    for (const part of findAll("hx-partial", parts.content)) {
      find(part.getAttribute("hx-target")).replaceWith(...part.childNodes);
    }
    arrived();
  },
};

const shownId = () => Number(find("#question").dataset.query);
const queryOf = (id) => queries.find(({ query_id }) => query_id === id);

/** Return the question with this number as a part of the page. */
function part(id) {
  const template = find(`template[data-query="${id}"]`);
  return `<hx-partial hx-target="#question">${template.innerHTML}</hx-partial>`;
}

/** Fill a question that has just been put in its place. */
function arrived() {
  for (const prose of findAll("[data-prose]:empty")) {
    prose.append(find(`#prose-${prose.dataset.prose}`).content.cloneNode(true));
  }
  const query = queryOf(shownId());
  const notes = find("#notes");
  if (notes !== document.activeElement) notes.value = notes.defaultValue = query.notes;
  if (book.record.at !== query.query_id) book.note({ at: query.query_id });
  find("#asked").textContent = find("#question").dataset.asked;
  for (const line of findAll("[data-state-of]")) line.dataset.state = isStored(line, query) ? "saved" : "";
  paint();
}

function isStored(line, query) {
  const at = line.dataset.stateOf;
  if (at === "quality") return query.quality !== null;
  if (at === "notes") return Boolean(query.notes);
  return Boolean(at === "outcome" ? query.outcome : query.verdicts[at - 1]);
}

// ---- what the rating page asks of its outbox ------------------------------------------------

export const pending = () => [];
export const settled = () => Promise.resolve(true);
export const resume = async () => {};

/** Return the question at an address of this page; without `copies`, since nothing is newer elsewhere. */
export async function load(address, { copies = true } = {}) {
  if (!copies) return null;
  const id = /#q-(\d+)$/.exec(address)?.[1];
  return queryOf(Number(id)) ? part(id) : null;
}

/** Keep a click and show what it changes; `hear` is called with what has become of it. */
export function send(event, hear) {
  const text = event.field ? judge(event) : undo();
  paint();
  if (event.fields.onward) pointOnward();
  hear(event, "saved", text);
}

function judge({ query, field, value, places, fields }) {
  const rank = ["relevance", "reason"].includes(field) ? Number(places[0]) : undefined;
  const stored = field === "quality" ? Number(value) : field === "notes" ? mergedNotes(query, value, fields) : value || null;
  const change = { query_id: Number(query), field, value: stored, cause: "click" };
  if (rank) change.rank = rank;
  if (valueAt(queryOf(change.query_id), change) !== stored) add(change);
}

function undo() {
  const last = lastChange(book.changes);
  if (!last) return `<hx-partial hx-target="#told">${find("#nothing-left").innerHTML}</hx-partial>`;
  const before = book.changes.slice(0, book.changes.indexOf(last));
  const value = valueAt(stateAfter(run.queries, before)[place(last.query_id)], last);
  const { query_id, field, rank, event_id } = last;
  add({ query_id, field, value, cause: "undo", undoes: event_id, ...(rank && { rank }) });
  return part(query_id);
}

function add(change) {
  book.add(change);
  queries = stateAfter(run.queries, book.changes);
}

/** Return the notes to keep, beside what another tab kept since they were begun; which is said. */
function mergedNotes(query, value, { notes_base }) {
  book.reload();
  queries = stateAfter(run.queries, book.changes);
  const text = plain(value);
  const both = merged(queryOf(Number(query)).notes, notes_base, text);
  if (both !== text) find('[data-state-of="notes"]').dataset.both = both;
  return both;
}

const plain = (text) => text.replaceAll("\0", "").replaceAll("\r\n", "\n");
const place = (id) => queries.findIndex(({ query_id }) => query_id === id);

/** Let the walk say what the server would: which question comes after a finished one. */
function pointOnward() {
  const next = nextOpen(shownId());
  if (next === undefined) return setTimeout(() => find("#done").showModal());
  Object.assign(find("#walk").dataset, { query: next, address: `#q-${next}` });
}

function nextOpen(id) {
  const at = place(id);
  const ahead = [...queries.slice(at + 1), ...queries.slice(0, at)];
  return ahead.find((query) => openIn(query).isOpen)?.query_id;
}

// ---- painting -------------------------------------------------------------------------------

function paint() {
  const query = queryOf(shownId());
  paintCards(query);
  paintGrades(query);
  paintWalk(query);
  paintKeeping();
  if (find("#figures")) drawFigures(find("#figures"), query, queries); // else they are not counted here
}

function paintCards({ verdicts, reasons, outcome }) {
  for (const card of findAll(".card")) {
    press(card, verdicts[card.dataset.rank - 1]);
    showBeside(card, card.dataset.verdict);
    showReason(card, reasons[card.dataset.rank - 1] ?? "");
  }
  if (find("#outcome")) press(find("#outcome"), outcome);
}

function press(place, value) {
  const form = find("form.verdict", place);
  if (form) form.dataset.stands = value ?? "";
  place.dataset.verdict = value ?? "";
  for (const button of findAll("button[aria-pressed]", place)) {
    button.setAttribute("aria-pressed", button.value === value);
  }
}

function paintGrades(query) {
  if (!find("#grades")) return; // an unreadable answer has none
  const suggested = run.suggests ? suggestedQuality(query) : null;
  for (const input of findAll("#grades input")) {
    input.checked = Number(input.value) === query.quality;
    input.closest("label").classList.toggle("suggested", Number(input.value) === suggested);
  }
  find("#suggestion").textContent = suggested === null ? "" : filled(words.suggested, suggested);
}

function paintWalk(query) {
  const at = place(query.query_id);
  const walk = find("#walk");
  Object.assign(walk.dataset, { query: query.query_id, address: `#q-${query.query_id}` });
  find(".at .vh", walk).textContent = filled(words.moving, at + 1, queries.length);
  find(".at b", walk).textContent = at + 1;
  const open = queries.map(openIn);
  const nLeft = open.filter(({ isOpen }) => isOpen).length;
  Object.assign(find("progress", walk), { max: queries.length, value: queries.length - nLeft });
  find("#left").textContent = nLeft ? whatIsLeft(open, nLeft) : words.finished;
  way("prev", queries[at - 1]?.query_id);
  way("next", queries[at + 1]?.query_id);
  const next = nextOpen(query.query_id);
  const jump = find('[data-way="jump"]');
  way("jump", next);
  jump.toggleAttribute("data-ahead", next !== undefined);
  jump.textContent = next === undefined && !nLeft ? words.end : jump.dataset.label;
  if (next === undefined && !nLeft) jump.href = "#take";
}

function whatIsLeft(open, questions) {
  const [cards, lists] = ["cards", "lists"].map((kind) => open.reduce((sum, query) => sum + query[kind], 0));
  const unrated = open.filter(({ isUnrated }) => isUnrated).length;
  const listed = Object.entries({ card: cards, list: lists, answer: unrated }).filter(([, n]) => n);
  const parts = listed.map(([kind, n]) => inWords(words, kind, n)).join(", ");
  return `${inWords(words, "question", questions)} · ${parts}`;
}

/** Make a way lead to a question, or nowhere. */
function way(name, id) {
  const link = find(`[data-way="${name}"]`);
  link.toggleAttribute("data-walk", id !== undefined);
  link.classList.toggle("off", id === undefined);
  link.role = "link"; // also while it leads nowhere
  link.ariaDisabled = id === undefined;
  if (id === undefined) link.removeAttribute("href");
  else link.href = `#q-${id}`;
}

/** Say what is not safe yet: with a browser that keeps nothing, and after many changes. */
function paintKeeping() {
  const keeping = find("#keeping");
  keeping.hidden = book.lasts || book.untaken < 1;
  find("span", keeping).textContent = filled(words.untaken, book.untaken);
  keeping.classList.toggle("bad", book.untaken >= OFTEN);
  find("#who span:last-child").textContent = book.rater || words.nobody;
}

function inWords(texts, kind, n) {
  return filled(n === 1 ? texts[kind] : texts[`${kind}s`], n);
}

// ---- taking the ratings away ----------------------------------------------------------------

function takeCsv() {
  take(`evaluation_rated_${run.name}.csv`, "text/csv", ratedCsv(queries));
}

function takeJson() {
  if (!book.rater) return askName(takeJson);
  const text = `${JSON.stringify(document_(), null, 1)}\n`;
  take(`ratings_${run.name}_${safe(book.rater)}.json`, "application/json", text);
  book.note({ taken: book.changes.length });
  paintKeeping();
}

function document_() {
  const { device, changes } = book.record;
  const { format, version, identity, blind } = run;
  return { format, version, identity, blind, rater: book.rater, device, queries: queries.map(ratingOf), changes };
}

function ratingOf(query) {
  const results = query.results.map(({ rank, title, identity }, at) => {
    const reason = query.reasons[at] ? { reason: query.reasons[at] } : {};
    return { rank, title, identity, relevance: asNumber(query.verdicts[at]), ...reason };
  });
  const { query_id, question, state, quality, notes, outcome } = query;
  return { query_id, question, state, results, empty_outcome: outcome, quality, notes };
}

const asNumber = (verdict) => (/^\d$/.test(verdict) ? Number(verdict) : verdict);
const safe = (name) => name.replace(/[^\p{L}\p{N}_-]+/gu, "_").slice(0, 40);

function take(name, type, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

// ---- who rates, and the rest of the page ----------------------------------------------------

let afterNaming = null;

function askName(then = null) {
  afterNaming = then;
  find("#rater").value = book.rater;
  find("#raters").replaceChildren(...Object.keys(book.content.records).filter(Boolean).map(option));
  find("#naming").showModal();
}

function option(name) {
  const element = document.createElement("option");
  element.value = name;
  return element;
}

find("#naming").addEventListener("close", ({ target }) => {
  const name = find("#rater").value.trim();
  if (target.returnValue !== "named" || !name) return;
  if (name !== book.rater) book.letRate(name);
  queries = stateAfter(run.queries, book.changes);
  arrived();
  afterNaming?.();
});
find("#naming").addEventListener("close", () => {
  (find('.card[data-verdict=""], #outcome') ?? find("#question")).focus();
});

find("#who").addEventListener("click", () => askName());
for (const button of findAll("[data-take]")) {
  button.addEventListener("click", button.dataset.take === "csv" ? takeCsv : takeJson);
}
for (const button of findAll("[data-language]")) {
  button.addEventListener("click", () => {
    remember("language", button.dataset.language);
    location.reload();
  });
}
addEventListener("storage", ({ key }) => {
  if (key !== book.name) return;
  book.reload();
  queries = stateAfter(run.queries, book.changes);
  arrived();
});
addEventListener("beforeunload", (event) => {
  if (!book.lasts && book.untaken) event.preventDefault();
});

const first = queries.find((query) => query.query_id === book.record.at);
const start = first ?? queries.find((query) => openIn(query).isOpen) ?? queries[0];
window.htmx.swap({ text: part(start.query_id) });
document.title = find("#question").dataset.title;
if (!book.rater) askName();
