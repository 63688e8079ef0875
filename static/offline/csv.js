// The rated CSV as the product writes it, byte for byte: its twelve columns, LF, no mark.
//
// A query is that of offline_figures.js with `cells`, the first four of its line as text, and
// `notes`.

import {
  count,
  firstRelevantRank,
  halfUp,
  isComplete,
  precision,
  precisionAt5,
  reciprocalRank,
  verdictsCounted,
} from "./figures.js";

const COLUMNS = [
  ...["query_id", "question", "category", "results_count", "relevant_count"],
  ...["first_relevant_rank", "overall_precision", "precision_at_5", "mrr", "success"],
  ...["response_quality", "notes"],
];
const STATES = { failed: "call failed", unreadable: "unreadable answer" };
const OUTCOMES = { correct_empty: "no data exists", false_negative: "should have results" };
const TAKEN_FOR_OURS =
  /^(?:own words: )*(?:call failed|unreadable answer|cannot tell(?: \(not relevant\))?: rank )/iu;
// What a spreadsheet may run as a formula, the full-width forms included.
const RUNNABLE = /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/u;
// The same for what would begin a cell if the file were split at semicolons or tabs.
const SPLIT_OFF =
  /(?<=[;\n])(?=["']*[=+\-@\t\uff1d\uff0b\uff0d\uff20])|(?<=\t)(?=["']*[=+\-@\uff1d\uff0b\uff0d\uff20])/gu;

export function ratedCsv(queries) {
  return [COLUMNS, ...queries.map(line)].map((cells) => `${cells.map(quoted).join(",")}\n`).join("");
}

function line(query) {
  const quality = query.state === "unreadable" ? null : query.quality;
  return [...query.cells, ...figuresOf(query), text(quality), cell(notes(query))];
}

function figuresOf(query) {
  if (!isComplete(query)) return ["", "", "", "", "", ""];
  const { state, outcome } = query;
  const verdicts = verdictsCounted(query);
  if (state === "empty") return ["0", "", "", "", "0", outcome === "correct_empty" ? "1" : "0"];
  if (state === "failed") return ["0", "", "", "", "", "0"];
  const relevant = count(verdicts, "1");
  return [
    text(relevant),
    text(firstRelevantRank(verdicts)),
    decimals(precision(verdicts)),
    decimals(precisionAt5(verdicts)),
    decimals(reciprocalRank(verdicts)),
    relevant ? "1" : verdicts.includes("unsure") ? "" : "0",
  ];
}

function notes({ state, verdicts, outcome, notes, cannot_tell }) {
  const ours = STATES[state] ?? unsure(verdicts, cannot_tell);
  if (!notes && state === "empty" && outcome) return OUTCOMES[outcome];
  const theirs = TAKEN_FOR_OURS.test(notes) ? `own words: ${notes}` : notes;
  return [ours, theirs].filter(Boolean).join("; ");
}

function unsure(verdicts, cannotTell) {
  const ranks = verdicts.flatMap((verdict, at) => (verdict === "unsure" ? [at + 1] : []));
  const how = cannotTell === "left_out" ? "" : " (not relevant)";
  return ranks.length ? `cannot tell${how}: rank ${ranks.join(", ")}` : "";
}

function text(value) {
  return value === null ? "" : String(value);
}

/** Return `value` to four decimals, halves up. */
function decimals(value) {
  return value === null ? "" : halfUp(value, 4);
}

function cell(value) {
  const plain = value.replaceAll("\r\n", "\n").replaceAll("\r", "\n");
  return (RUNNABLE.test(plain) ? `'${plain}` : plain).replaceAll(SPLIT_OFF, "'");
}

function quoted(value) {
  return /[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}
