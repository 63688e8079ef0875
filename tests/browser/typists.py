"""Scripted people who rate the sample study blind, by keyboard, each with a mind of their own.

What they mean to say is fixed by a seed. What they typed is kept by item and by answer, as
they recognised them on the page: by the question's words, the conversation, the card's
address and price, the cards that an answer lists or its text. Of two answers with the same cards
nobody can tell which is which: they are graded alike.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from random import Random
from typing import Any

from playwright.sync_api import Browser, Error, Page, expect

from tests.browser.sample_study import Answer, Item, Sample, likeness
from tests.browser.served import Person

Unit = tuple[int, int | None]
"""A question, and the run whose conversation it depends on."""

Labels = dict[Item | Answer, int | None]

NAMES = ("Ani", "Budi", "Citra")
KEYS = {"1": "y", "0": "t", "unsure": "r", "correct_empty": "y", "false_negative": "t"}
LABELS = {"1": 1, "0": 0, "unsure": None, "correct_empty": 1, "false_negative": 0}
GRADES = range(6)
MOST_SECONDS = 900
STATE = """() => {
  if (document.querySelector("h1#finished")) return {finished: true};
  const all = (selector) => [...document.querySelectorAll("#question " + selector)];
  const seen = { task: document.querySelector("#question")?.dataset.query };
  const at = document.activeElement?.closest(".card, #outcome, .grades");
  const isOpen = (place) => place.matches(".grades")
    ? !place.querySelector(":checked") : !place.dataset.verdict;
  if (!at || !isOpen(at) || !document.documentElement.classList.contains("scripted")) return seen;
  const kind = at.id === "outcome" ? "outcome" : at.matches(".card") ? "card" : "grades";
  const listed = (letter) => {
    const answer = document.querySelector(`#answer-${letter}`);
    const lines = [...(answer?.querySelectorAll("[data-card]") ?? [])];
    const text = answer?.querySelector(".prose")?.textContent ?? "";
    return { cards: lines.map(({ dataset }) => dataset.card), text };
  };
  const order = kind === "outcome" ? [at] : all("." + kind);
  const from = order.indexOf(at);
  return {
    ...seen,
    question: document.querySelector("#asked").textContent,
    conversation: document.querySelector("#turns ol")?.textContent ?? "",
    kind,
    places: [...order.slice(from), ...order.slice(0, from)].filter(isOpen).map((place) => ({
      address: place.querySelector("h2 a")?.href ?? "",
      price: place.querySelector(".price strong")?.title ?? "",
      id: place.id,
      card: place.dataset.card,
      ...listed(place.closest("[data-letter]")?.dataset.letter),
    })),
  };
}"""


@dataclass(frozen=True, slots=True)
class Key:
    about: Item | Answer
    says: str
    again: bool

    @property
    def typed(self) -> str:
        return KEYS[self.says] if isinstance(self.about, Item) else self.says

    @property
    def kind(self) -> str:
        if isinstance(self.about, Answer):
            return "quality"
        return "cards" if self.about.identity else "empty_lists"


@dataclass(frozen=True, slots=True)
class Mind:
    name: str

    def verdict(self, item: Item, *, again: bool = False) -> str:
        verdict = self._verdict(item)
        draw = self._draw(item, "again")
        if again and draw.random() < 0.15:
            return draw.choice([label for label in ("1", "0", "unsure") if label != verdict])
        return verdict

    def outcome(self, item: Item) -> str:
        is_nothing = self._draw(item, "outcome").random() < 0.6
        return "correct_empty" if is_nothing else "false_negative"

    def quality(self, answer: Answer, *, again: bool = False) -> str:
        where = f"{answer.question}/{answer.items or answer.text}"
        deserved = Random(f"deserved/{where}").choice(GRADES)
        grade = deserved + Random(f"{self.name}/{where}/{again}").choice((-1, 0, 0, 0, 1))
        return str(min(max(grade, 0), 5))

    def _verdict(self, item: Item) -> str:
        draw = self._draw(item, "")
        if draw.random() < 0.06:
            return "unsure"
        common = Random(f"common/{item}").random() < 0.3 + 0.1 * (item.question % 5)
        return str(int(common != (draw.random() < 0.12)))

    def _draw(self, item: Item, when: str) -> Random:
        return Random(f"{self.name}/{item}/{when}")


@dataclass(slots=True)
class Typist:
    name: str
    page: Page
    sample: Sample
    keys: list[Key] = field(default_factory=list)
    tasks: dict[Unit, str] = field(default_factory=dict)
    cards: dict[str, Item] = field(default_factory=dict)
    remarked: set[Item] = field(default_factory=set)

    def turn(self) -> bool:
        state = state_of(self.page)
        if state.get("finished"):
            return False
        if state.get("places"):
            keys = self._decide(state)
            count, changed = _until_changed(keys, [place["id"] for place in state["places"]])
            self.page.keyboard.type("".join(key.typed for key in keys[:count]))
            self.keys += keys[:count]
            for item, place in changed.items():  # the page asks for them once all is saved
                expect(self.page.locator(f"#{place} .remark .confirm")).to_be_visible()
                if not keys[0].again:
                    self.remarked.add(item)
        return True

    def verdicts(self) -> dict[Item, str]:
        return {
            key.about: key.says
            for key in self.keys
            if isinstance(key.about, Item) and not key.again
        }

    def grades(self) -> dict[Answer, int]:
        return {
            key.about: int(key.says)
            for key in self.keys
            if isinstance(key.about, Answer) and not key.again
        }

    def labels(self, kind: str, *, again: bool = False) -> Labels:
        return {
            key.about: LABELS[key.says] if isinstance(key.about, Item) else int(key.says)
            for key in self.keys
            if key.again is again and key.kind == kind
        }

    def twice(self) -> Iterator[tuple[str, Labels, Labels]]:
        for kind in ("cards", "empty_lists", "quality"):
            if again := self.labels(kind, again=True):
                yield kind, self.labels(kind), again

    def _decide(self, state: dict[str, Any]) -> list[Key]:
        question, where = unit = self._unit(state)
        again = self.tasks.setdefault(unit, state["task"]) != state["task"]
        mind = Mind(self.name)
        if state["kind"] == "outcome":
            item = Item(question, where)
            return [Key(item, mind.outcome(item), again)]
        if state["kind"] == "card":
            items = [self._item(question, where, place) for place in state["places"]]
            self.cards |= zip((place["card"] for place in state["places"]), items, strict=True)
            return [Key(item, mind.verdict(item, again=again), again) for item in items]
        answers = self._answers(question, where, state["places"])
        return [Key(answer, mind.quality(answer, again=again), again) for answer in answers]

    def _unit(self, state: dict[str, Any]) -> Unit:
        numbers = [n for n, text in self.sample.texts().items() if text == state["question"]]
        if not state["conversation"]:
            (number,) = numbers
            return number, None
        return max(
            ((number, run) for number in numbers for run in range(3)),
            key=lambda unit: likeness(state["conversation"], self.sample.conversation(*unit)),
        )

    def _item(self, question: int, where: int | None, place: dict[str, Any]) -> Item:
        price = int(re.sub(r"\D", "", place["price"]) or 0)
        (result,) = (
            Item(question, where, identity, version)
            for (number, run, identity), cards in self.sample.versions.items()
            if (number, run) == (question, where) and place["address"].endswith(f"/{identity}")
            for version, card in enumerate(cards)
            if len(cards) == 1 or card.price == price
        )
        return result

    def _answers(
        self, question: int, where: int | None, places: list[dict[str, Any]]
    ) -> list[Answer]:
        remaining = [
            answer
            for answer in self.sample.answers
            if answer.question == question and where in {None, answer.run}
        ]
        result = []
        for place in places:
            items = tuple(self.cards[card] for card in place["cards"])

            def fits(answer: Answer, place: Any = place, items: Any = items) -> tuple[bool, float]:
                """Whether the page lists the answer's cards in order; how alike their texts are."""
                return items == answer.items, likeness(place["text"], answer.text)

            best = max(remaining, key=fits)
            assert fits(best)[0], place
            remaining.remove(best)
            result.append(best)
        return result


def _until_changed(keys: Sequence[Key], places: Sequence[str]) -> tuple[int, dict[Item, str]]:
    """How many keys there are up to a property that is open with other content, and where."""
    for count, key in enumerate(keys, start=1):
        changed = {
            later.about: place
            for later, place in zip(keys[count:], places[count:], strict=True)
            if isinstance(later.about, Item) and later.about.is_version_of(key.about)
        }
        if changed:
            return count, changed
    return len(keys), {}


def rate_everything(browser: Browser, owner: Person) -> None:
    context = browser.new_context(locale="id-ID")
    page = context.new_page()
    owner.lend(page)
    page.goto(f"{owner.url}/rate/")
    letters, digits = cycle("yyty"), cycle("4352")
    until = time.monotonic() + MOST_SECONDS
    while not (state := state_of(page)).get("finished"):
        assert time.monotonic() < until, page.url
        keys = digits if state.get("kind") == "grades" else letters
        page.keyboard.type("".join(next(keys) for _ in state.get("places", ())))
    context.close()


def state_of(page: Page) -> dict[str, Any]:
    try:
        result: dict[str, Any] = page.evaluate(STATE)
    except Error:
        return {}  # on the way to another page
    return result
