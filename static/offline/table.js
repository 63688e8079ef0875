// The live figures of a page without a server, drawn as the app draws them: a number over its track.

import { count, figures, halfUp, MEANS, span, verdictsCounted } from "./figures.js";

/** Draw the figures of the question shown and of the run so far into `place`. */
export function drawFigures(place, query, queries) {
  const words = place.dataset;
  const ofRun = figures(queries);
  for (const number of place.querySelectorAll("[data-number]")) {
    const { number: name, label } = number.dataset;
    draw(number, ofQuestion(name, query, words, label), label);
  }
  for (const row of place.querySelectorAll("[data-figure]")) {
    const { figure: name } = row.dataset;
    const [question, run] = row.querySelectorAll(".num");
    draw(question, ofQuestion(name, query, words));
    draw(run, drawn(name, ofRun[name], ofRun[name].value, words));
  }
}

function ofQuestion(name, query, words, label) {
  const result = span(MEANS[name], query);
  let { value } = result;
  if (result.lower === result.upper) value = result.lower; // settled before the question is
  let text = "";
  if (name === "mean_overall_precision") {
    const verdicts = verdictsCounted(query);
    const relevant = count(verdicts, "1");
    const of = relevant + count(verdicts, "0");
    value = of ? relevant / of : null;
    if (label && of) text = `${relevant}/${of}`;
  }
  if (name === "success_rate" && value !== null) text = value ? words.yes : words.no;
  if (name === "mean_response_quality" && query.quality !== null) text = String(query.quality);
  return drawn(name, result, value, words, text);
}

/** Return what is drawn of a figure: no number where nothing is counted, or it lies outside its band. */
function drawn(name, { lower, upper, n, of, value: soFar }, value, words, text = "") {
  const print = (number) => twoDecimals(number, words.decimal);
  const isOpen = lower !== null && upper !== null && upper - lower > 1e-9;
  const isSettled = lower !== null && !isOpen;
  const number = isSettled && n !== undefined ? lower : isOpen && value !== null && (value < lower || value > upper) ? null : value;
  const top = name === "mean_response_quality" ? 5 : 1;
  const place = (at) => (at === null ? null : Math.round((1000 * at) / top) / 10);
  const about = n === undefined ? "" : soFar === null ? words.noneComplete : filled(words.soFar, print(soFar), n, of);
  return {
    text: number === null ? "–" : text || print(number),
    at: place(number), low: place(lower), high: place(upper), isOpen,
    extent: isOpen ? `${print(lower)}–${print(upper)}` : "",
    about: isOpen ? about : "",
    band: words.band,
  };
}

function draw(place, { text, at, low, high, isOpen, extent, about, band }, label = extent) {
  const [head, value, heard] = ["span", "b", "span"].map((name) => document.createElement(name));
  Object.assign(head, { textContent: label });
  Object.assign(value, { textContent: text, title: about });
  Object.assign(heard, { className: "vh", textContent: isOpen ? ` ${filled(band, extent)} ${about}` : "" });
  const track = document.createElement("template");
  const mark = at === null ? "" : `<circle class="${isOpen ? "ring" : "dot"}" cx="${at}%" cy="3" r="${isOpen ? 2.75 : 3.5}"/>`;
  const range = isOpen ? `<rect class="band" x="${low}%" y="1" width="${high - low}%" height="4"/>` : "";
  track.innerHTML = `<svg class="track" width="100%" height="6" aria-hidden="true"><rect class="rail" y="2" width="100%" height="2"/>${range}${mark}</svg>`;
  place.classList.toggle("open", isOpen);
  place.replaceChildren(head, value, track.content, heard);
}

export function filled(words, ...values) {
  return values.reduce((text, value) => text.replace("{}", value), words);
}

/** Return `value` (0 to 5) to two decimals, with the reader's decimal mark. */
export function twoDecimals(value, decimal) {
  return halfUp(value, 2).replace(".", decimal);
}
