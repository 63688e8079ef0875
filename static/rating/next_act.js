// The one next act: the button below a question says what comes next, and keys do it by themselves.

import { find, findAll } from "../frame/elements.js";
import { cards, isOpen, letterOf, nextOpen, openCards, question, walk, within, words } from "./question.js";

let act = {};

/** Return what the button says: what comes next, and the place that is entered for it. */
export const currentAct = () => act;

/** Let the button say what comes next: open cards, an answer, another question. */
export function offer() {
  const button = find("#act");
  keepStep();
  const nLeft = openCards().length;
  for (const grades of findAll(".grades")) {
    grades.closest(".dock")?.classList.toggle("due", !nLeft && isOpen(grades));
  }
  showSteps(nLeft);
  if (!button || document.activeElement === button) return;
  act = nextAct();
  button.hidden = false;
  button.firstElementChild.textContent = act.label;
  button.dataset.to = act.place?.matches(".card") ? "card" : "on";
  button.classList.toggle("go", !act.isEarly);
  button.setAttribute("aria-disabled", Boolean(act.isEarly) && button.dataset.to === "on");
}

/** Count in the steps of a blind question what was clicked since they came. */
function showSteps(nLeft) {
  const count = find("#steps .count");
  if (!count) return;
  const of = cards().length;
  count.textContent = nLeft ? `${of - nLeft}/${of}` : of;
  for (const link of findAll("#steps a")) {
    const grades = find(`#grades-${link.dataset.step}`);
    const grade = grades && find(":checked", grades)?.value;
    const isDone = grades ? grade !== undefined : link.dataset.step === "cards" ? !nLeft : Boolean(find("#outcome")?.dataset.verdict);
    link.classList.toggle("done", isDone);
    if (grades) find(".grade", link).textContent = grade === undefined ? "" : ` · ${grade}`;
  }
}

/** Return what comes next; early is what it says while something of this place is still open. */
function nextAct() {
  const open = openCards();
  const here = within(".card, #outcome, .dock, .grades") ?? find(".dock:not([hidden])");
  const place = here?.matches(".dock") ? find(".grades", here) : here;
  const next = nextOpen(place);
  if (open.length) {
    const label = open.length === 1 ? words.cardLeft : words.cardsLeft;
    return { label: label.replace("{}", open.length), place: open.includes(next) ? next : open[0], isEarly: true };
  }
  const isHere = place && !place.matches(".card") && isOpen(place);
  const due = isHere ? place : next && !letterOf(next) && next.checkVisibility() && next;
  if (due) return { label: labelOn(nextOpen(due)), place: due, isEarly: true };
  return { label: labelOn(next), place: next };
}

function labelOn(place) {
  const letter = place ? letterOf(place) : find("#below[data-grades]:not([data-stage=answers])") && "A"; // on its way
  if (place || letter) return letter ? words.answerNext.replace("{}", letter) : words.emptyNext;
  return wayOn() || (words.give && !walk().dataset.finished) ? words.next : words.end;
}

document.addEventListener("focusin", offer);

/** Show one step of a blind question: its cards, its empty lists, or the answer of a letter. */
export function openStep(step) {
  if (!find(`#steps [data-step="${step}"]`)) return;
  question().dataset.step = step;
  keepStep();
}

/** Show of the parts that a click brought what belongs to this step, although another comes next. */
function keepStep() {
  const { step } = question().dataset;
  for (const answer of findAll(".answer")) answer.classList.toggle("now", answer.dataset.letter === step);
  for (const dock of findAll(".dock[data-letter]")) dock.hidden = dock.dataset.letter !== step;
  for (const link of findAll("#steps a")) link.ariaCurrent = link.dataset.step === step ? "step" : null;
}

/** Return the link to the next open question; null where the page knows of none. */
export const wayOn = () => find("a[data-jump][data-walk]");
