// The figures of a page that rates without a server: those of the product's own core.
//
// A query is {state, verdicts, outcome, quality, cannot_tell}: verdicts in rank order, each "1",
// "0", "unsure" or null while unjudged; `cannot_tell` is the study's setting of what "unsure" is in
// the figures, "not_relevant" or "left_out"; null stands for everything that was not said, and for a
// figure that is undefined. A span is {value, lower, upper}: the value once the query is
// complete, and what the finished rating can still make it.

export const MEANS = {
  mean_precision_at_5: "precision_at_5",
  mean_overall_precision: "overall_precision",
  mrr: "reciprocal_rank",
  mrr_answerable: "answerable_reciprocal_rank",
  success_rate: "success",
  mean_response_quality: "response_quality",
};
const WEIGHTS = { mean_precision_at_5: 0.4, mrr: 0.3, success_rate: 0.2, coverage: 0.1 };
const BEST_QUALITY = 5;

// ---- one list -----------------------------------------------------------------------------

export function count(verdicts, verdict) {
  return verdicts.filter((candidate) => candidate === verdict).length;
}

/** Return the verdicts of a query as its study counts them. */
export function verdictsCounted({ verdicts, cannot_tell }) {
  if (cannot_tell === "left_out") return verdicts;
  return verdicts.map((verdict) => (verdict === "unsure" ? "0" : verdict));
}

export function precision(verdicts) {
  const relevant = count(verdicts, "1");
  const decided = relevant + count(verdicts, "0");
  return decided ? relevant / decided : null;
}

export function precisionAt5(verdicts) {
  return precision(verdicts.slice(0, 5));
}

export function firstRelevantRank(verdicts) {
  return verdicts.indexOf("1") + 1 || null;
}

export function reciprocalRank(verdicts) {
  const rank = firstRelevantRank(verdicts);
  return rank ? 1 / rank : 0;
}

export function success(verdicts) {
  if (verdicts.includes("1")) return 1;
  return verdicts.includes("unsure") || verdicts.includes(null) ? null : 0;
}

/** Return the grade that the share of relevant results suggests; whole numbers, exact edges. */
export function suggestedQuality(query) {
  const { state } = query;
  const verdicts = verdictsCounted(query);
  if (state === "empty" || state === "failed") return 0;
  const relevant = count(verdicts, "1");
  const decided = relevant + count(verdicts, "0");
  if (!decided || verdicts.includes(null)) return null;
  if (relevant === 0) return 1;
  if (relevant === decided) return 5;
  if (2 * relevant < decided) return 2;
  return 10 * relevant <= 7 * decided ? 3 : 4;
}

// ---- one query ----------------------------------------------------------------------------

const ON_LIST = {
  precision_at_5: precisionAt5,
  overall_precision: precision,
  reciprocal_rank: reciprocalRank,
  answerable_reciprocal_rank: reciprocalRank,
  success,
};
const ON_EMPTINESS = {
  answerable_reciprocal_rank: { false_negative: 0 },
  success: { correct_empty: 1, false_negative: 0 },
};

export function isComplete({ state, verdicts, outcome }) {
  if (state === "results") return !verdicts.includes(null);
  return state === "empty" ? outcome !== null : state === "failed";
}

export function span(figure, query) {
  if (figure === "response_quality") return qualitySpan(query);
  return {
    value: isComplete(query) ? number(figure, query) : null,
    lower: number(figure, filled(query, "0", "false_negative")),
    upper: number(figure, filled(query, "1", "correct_empty")),
  };
}

function qualitySpan({ state, quality }) {
  if (state === "unreadable") return { value: null, lower: null, upper: null };
  if (quality === null) return { value: null, lower: 0, upper: BEST_QUALITY };
  return { value: quality, lower: quality, upper: quality };
}

function filled(query, verdict, outcome) {
  const verdicts = query.verdicts.map((current) => current ?? verdict);
  return { ...query, verdicts, outcome: query.outcome ?? outcome };
}

function number(figure, query) {
  const { state, outcome } = query;
  if (state === "results") return ON_LIST[figure](verdictsCounted(query));
  if (state === "failed") return figure === "success" ? 0 : null;
  return state === "empty" ? (ON_EMPTINESS[figure]?.[outcome] ?? null) : null;
}

// ---- any set of queries -------------------------------------------------------------------

/** Return {value, lower, upper, n, of} of every headline figure of `queries`. */
export function figures(queries) {
  const values = {};
  for (const [name, figure] of Object.entries(MEANS)) {
    const spans = queries.map((query) => span(figure, query));
    const [value, lower, upper] = ["value", "lower", "upper"].map((side) => mean(spans, side));
    const [n, least, most] = ["value", "lower", "upper"].map((side) => present(spans, side).length);
    const of = Math.max(least, most);
    values[name] = { value, lower: lower ?? upper, upper: upper ?? lower, n, of };
  }
  values.coverage = coverage(queries);
  values.composite = composite(values, queries.filter(isComplete).length, values.coverage.n);
  return values;
}

function present(spans, side) {
  return spans.map((span) => span[side]).filter((value) => value !== null);
}

function mean(spans, side) {
  const values = present(spans, side);
  return values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
}

function coverage(queries) {
  const readable = queries.filter(({ state }) => state !== "unreadable");
  const answered = readable.filter(({ state }) => state === "results").length;
  const share = readable.length ? answered / readable.length : null;
  return { value: share, lower: share, upper: share, n: readable.length, of: readable.length };
}

function composite(values, complete, of) {
  const [value, lower, upper] = ["value", "lower", "upper"].map((side) => weighted(values, side));
  return { value, lower, upper, n: value === null ? 0 : complete, of };
}

function weighted(values, side) {
  const parts = Object.entries(WEIGHTS).map(([name, weight]) =>
    values[name][side] === null ? null : weight * values[name][side],
  );
  return parts.includes(null) ? null : parts.reduce((sum, part) => sum + part, 0);
}

/** Return `value`, 0 or more, with so many decimals; a half goes up, as the app has it. */
export function halfUp(value, places) {
  if (value < 0.00001) return (0).toFixed(places); // below that, digits come with an exponent
  const exact = Number(value.toFixed(12)); // what the float stands for
  return Number(`${Math.round(Number(`${exact}e${places}`))}e-${places}`).toFixed(places);
}
