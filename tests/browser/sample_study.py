"""The sample study read anew from its files: what there is to judge, and what figures follow.

Nothing here uses the services: the files are parsed by the importer, everything else is
worked out again from the method's words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from statistics import mean, median

from relevansi.importers.runs import json_runs
from relevansi.kinds.property import Card
from relevansi.records import ReadQuery
from tests.browser.server import SEEDS

METHODS = ("hybrid", "api_only", "vector_only")
WORD = re.compile(r"\w+")
UNSEEN = re.compile(r"\]\([^)]*\)|^\s*\d+\.\s", re.MULTILINE)
"""The parts of a text that a page does not show: addresses, the numbers of a list."""


@dataclass(frozen=True, slots=True)
class Item:
    """The subject of one verdict: a property as shown, or (without identity) the empty list.

    ``run`` is a place in ``METHODS``, where the question depends on its conversation.
    """

    question: int
    run: int | None
    identity: str = ""
    version: int = 0

    def is_version_of(self, item: object) -> bool:
        """Whether it is the same property under the same question, with other content."""
        return (
            isinstance(item, Item)
            and self != item
            and (self.question, self.run, self.identity) == (item.question, item.run, item.identity)
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """One run's answer: the items of its results in rank order, or that its list is empty.

    With neither, the call failed.
    """

    question: int
    run: int
    category: str
    text: str
    items: tuple[Item, ...]
    empty: Item | None


def files() -> list[Path]:
    return [SEEDS / method / "test_results.json" for method in METHODS]


class Sample:
    def __init__(self) -> None:
        self.versions: dict[tuple[int, int | None, str], list[Card]] = {}
        self.runs = [json_runs.read(path.name, path.read_bytes()).queries for path in files()]
        self.answers = [
            self._answer(run, query) for run, queries in enumerate(self.runs) for query in queries
        ]

    def texts(self) -> dict[int, str]:
        return {query.query_id: query.question for query in self.runs[0]}

    @cached_property
    def items(self) -> set[Item]:
        listed = {item for answer in self.answers for item in answer.items}
        return listed | {answer.empty for answer in self.answers if answer.empty}

    def of_run(self, run: int) -> list[Answer]:
        return [answer for answer in self.answers if answer.run == run]

    def conversation(self, question: int, run: int) -> str:
        before = [query for query in self.runs[run] if query.query_id < question]
        start = max(at for at, query in enumerate(before) if not query.context_dependent)
        return " ".join(f"{query.question} {query.response}" for query in before[start:])

    def _answer(self, run: int, query: ReadQuery) -> Answer:
        where = run if query.context_dependent else None
        return Answer(
            question=query.query_id,
            run=run,
            category=query.category,
            text=query.response,
            items=tuple(self._item(query.query_id, where, card) for card in query.cards),
            empty=Item(query.query_id, where) if query.state == "empty" else None,
        )

    def _item(self, question: int, where: int | None, card: Card) -> Item:
        identity = card.slug or card.listing_id or f"{words(card.title)} {words(card.location)}"
        versions = self.versions.setdefault((question, where, identity), [])
        for version, earlier in enumerate(versions):
            if not contradict(card, earlier):
                return Item(question, where, identity, version)
        versions.append(card)
        return Item(question, where, identity, len(versions) - 1)


def contradict(card: Card, earlier: Card) -> bool:
    pairs = [
        (card.price, earlier.price), (card.price_note, earlier.price_note),
        (card.bedrooms, earlier.bedrooms),
    ]  # fmt: skip
    if any(a is not None and b is not None and a != b for a, b in pairs):
        return True
    now, before = words(card.location), words(earlier.location)
    return bool(now and before) and not (now <= before or before <= now)


def words(text: str | None) -> frozenset[str]:
    return frozenset(WORD.findall(UNSEEN.sub(" ", text or "").casefold()))


def likeness(first: str, second: str) -> float:
    a, b = _neighbours(first), _neighbours(second)
    return len(a & b) / len(a | b) if a or b else 1.0


def _neighbours(text: str) -> frozenset[tuple[str, str]]:
    result = WORD.findall(UNSEEN.sub(" ", text).casefold())
    return frozenset(pairwise(result))


# ---- figures, from the words of the method -----------------------------------------------

Verdicts = dict[Item, str]


@dataclass(frozen=True, slots=True)
class Figures:
    complete: bool
    precision_at_5: float | None
    overall_precision: float | None
    reciprocal_rank: float | None
    success: int | None


def figures(answer: Answer, verdicts: Verdicts) -> Figures:
    if answer.empty is not None:
        outcome = verdicts.get(answer.empty)
        if outcome is None:
            return Figures(False, None, None, None, None)
        correct = outcome == "correct_empty"
        return Figures(True, None, None, None if correct else 0.0, int(correct))
    if not answer.items:  # the call failed
        return Figures(True, None, None, None, 0)
    in_order = [verdicts.get(item) for item in answer.items]
    if None in in_order:
        return Figures(False, None, None, None, None)
    return Figures(
        True,
        _share(in_order[:5]),
        _share(in_order),
        1 / (1 + in_order.index("1")) if "1" in in_order else 0.0,
        int("1" in in_order),
    )


def _share(verdicts: Sequence[str | None]) -> float:
    """Divide by what was returned, as a new study does: "cannot tell" is not relevant."""
    return verdicts.count("1") / len(verdicts)


def run_figures(
    answers: Sequence[Answer], verdicts: Verdicts, grades: Mapping[Answer, float]
) -> dict[str, float | None]:
    result = [(answer, figures(answer, verdicts)) for answer in answers]
    listed = [values for answer, values in result if answer.items]
    return {
        "mean_precision_at_5": _mean(values.precision_at_5 for values in listed),
        "mean_overall_precision": _mean(values.overall_precision for values in listed),
        "mrr": _mean(values.reciprocal_rank for values in listed),
        "success_rate": _mean(values.success for _, values in result),
        "coverage": len(listed) / len(answers),
        "mean_response_quality": _mean(grades.get(answer) for answer in answers),
    }


def _mean(values: Iterable[float | None]) -> float | None:
    result = [value for value in values if value is not None]
    return mean(result) if result else None


def majority(by_rater: Sequence[Verdicts]) -> Verdicts:
    merged = {}
    for item in set().union(*by_rater):
        votes = Counter(verdicts[item] for verdicts in by_rater if verdicts[item] != "unsure")
        ranked = votes.most_common()
        if not ranked:
            merged[item] = "unsure"  # judged, by nobody decided
        elif len(ranked) == 1 or ranked[0][1] > ranked[1][1]:
            merged[item] = ranked[0][0]
    return merged


def middle(grades: Sequence[int]) -> float:
    return float(median(grades))
