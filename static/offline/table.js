// The live figures of a page without a server, printed as the app prints them.

import { figures, halfUp, isComplete, MEANS, span } from "./figures.js";

/** Fill the rows of `table` for the question shown, its category and the whole run. */
export function fillTable(table, shown, queries) {
  const { decimal } = table.dataset;
  const category = queries.filter((query) => query.category === shown.category);
  const [ofCategory, ofRun] = [figures(category), figures(queries)];
  for (const row of table.tBodies[0].rows) {
    const { figure } = row.dataset;
    const cells = [ofQuestion(figure, shown), ofSet(ofCategory[figure]), ofSet(ofRun[figure])];
    cells.forEach((cell, at) => row.cells[at + 1].replaceChildren(...printed(cell, table, decimal)));
  }
}

function ofQuestion(name, query) {
  const figure = MEANS[name];
  if (!figure) return { applies: false };
  const found = span(figure, query);
  return { ...found, applies: true, whole: figure === "response_quality", why: why(figure, query) };
}

function ofSet(figure) {
  return { ...figure, applies: true, why: figure.lower === null ? "no_query" : "incomplete" };
}

/** Return why a figure of one question has no value, by the name of its explanation. */
function why(figure, query) {
  const { state, outcome } = query;
  if (state === "unreadable" || state === "failed") {
    return figure === "response_quality" && state === "failed" ? "unrated" : state;
  }
  if (figure === "response_quality") return "unrated";
  if (state === "results") {
    if (!isComplete(query)) return "incomplete";
    return figure === "success" ? "cannot_tell" : "nothing_decided";
  }
  if (!["answerable_reciprocal_rank", "success"].includes(figure)) return "no_results";
  return outcome === null ? "unclassified" : "correct_empty";
}

function printed(cell, table, decimal) {
  const { inapplicable, undefined: unknown, of } = table.dataset;
  if (!cell.applies) return [element("span", "vh", inapplicable)];
  if (cell.lower === null) return [explained(cell.why, unknown), ...count(cell, `n = ${cell.n}`)];
  const [low, high] = [twoDecimals(cell.lower, decimal), twoDecimals(cell.upper, decimal)];
  if (low === high) {
    const value = element("span", "value", cell.whole ? String(cell.lower) : low);
    return [value, ...count(cell, `n = ${cell.of}`)];
  }
  const band = element("span", "value open", `${low}–${high}`);
  if (cell.n !== undefined) addSoFar(band, cell, table.dataset, decimal);
  return [band, ...count(cell, filled(of, cell.n, cell.of))];
}

function count({ n }, words) {
  return n === undefined ? [] : [element("span", "n", words)];
}

/** Say on demand what a figure is over the complete questions: that may lie outside its band. */
function addSoFar(band, { value, n, of }, { soFar, noneComplete }, decimal) {
  const words = value === null ? noneComplete : filled(soFar, twoDecimals(value, decimal), n, of);
  band.title = words;
  band.append(element("span", "vh", ` (${words})`));
}

function filled(words, ...values) {
  return values.reduce((text, value) => text.replace("{}", value), words);
}

function explained(reason, words) {
  const button = element("button", "explain none");
  button.type = "button";
  button.setAttribute("popovertarget", `why-${reason}`);
  const dash = element("span", "", "-");
  dash.setAttribute("aria-hidden", "true");
  button.append(dash, element("span", "vh", words));
  return button;
}

/** Return `value` (0 to 5) to two decimals, with the reader's decimal mark. */
export function twoDecimals(value, decimal) {
  return halfUp(value, 2).replace(".", decimal);
}

function element(name, className, text = "") {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.textContent = text;
  return made;
}
