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
class Thing:
    """The subject of one verdict: a property as shown, or (without identity) the empty list.

    ``run`` is a place in ``METHODS``, where the question depends on its conversation.
    """

    question: int
    run: int | None
    identity: str = ""
    version: int = 0

    def is_version_of(self, other: object) -> bool:
        """Whether it is the same property under the same question, with other content."""
        return (
            isinstance(other, Thing)
            and self != other
            and (self.question, self.run, self.identity)
            == (other.question, other.run, other.identity)
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """One run's answer: the things of its results in rank order, or that its list is empty.

    With neither, the call failed.
    """

    question: int
    run: int
    category: str
    text: str
    things: tuple[Thing, ...]
    empty: Thing | None


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
    def things(self) -> set[Thing]:
        shown = {item for answer in self.answers for item in answer.things}
        return shown | {answer.empty for answer in self.answers if answer.empty}

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
            things=tuple(self._thing(query.query_id, where, card) for card in query.cards),
            empty=Thing(query.query_id, where) if query.state == "empty" else None,
        )

    def _thing(self, question: int, where: int | None, card: Card) -> Thing:
        identity = card.slug or card.listing_id or f"{words(card.title)} {words(card.location)}"
        known = self.versions.setdefault((question, where, identity), [])
        for version, other in enumerate(known):
            if not contradict(card, other):
                return Thing(question, where, identity, version)
        known.append(card)
        return Thing(question, where, identity, len(known) - 1)


def contradict(one: Card, other: Card) -> bool:
    pairs = [
        (one.price, other.price), (one.price_note, other.price_note),
        (one.bedrooms, other.bedrooms),
    ]  # fmt: skip
    if any(a is not None and b is not None and a != b for a, b in pairs):
        return True
    here, there = words(one.location), words(other.location)
    return bool(here and there) and not (here <= there or there <= here)


def words(text: str | None) -> frozenset[str]:
    return frozenset(WORD.findall(UNSEEN.sub(" ", text or "").casefold()))


def likeness(one: str, other: str) -> float:
    a, b = _neighbours(one), _neighbours(other)
    return len(a & b) / len(a | b) if a or b else 1.0


def _neighbours(text: str) -> frozenset[tuple[str, str]]:
    result = WORD.findall(UNSEEN.sub(" ", text).casefold())
    return frozenset(pairwise(result))


# ---- figures, from the words of the method -----------------------------------------------

Verdicts = dict[Thing, str]


@dataclass(frozen=True, slots=True)
class Figures:
    complete: bool
    precision_at_5: float | None
    overall_precision: float | None
    reciprocal_rank: float | None
    success: int | None


def figures(answer: Answer, said: Verdicts) -> Figures:
    if answer.empty is not None:
        outcome = said.get(answer.empty)
        if outcome is None:
            return Figures(False, None, None, None, None)
        correct = outcome == "correct_empty"
        return Figures(True, None, None, None if correct else 0.0, int(correct))
    if not answer.things:  # the call failed
        return Figures(True, None, None, None, 0)
    verdicts = [said.get(item) for item in answer.things]
    if None in verdicts:
        return Figures(False, None, None, None, None)
    return Figures(
        True,
        _share(verdicts[:5]),
        _share(verdicts),
        1 / (1 + verdicts.index("1")) if "1" in verdicts else 0.0,
        int("1" in verdicts),
    )


def _share(verdicts: Sequence[str | None]) -> float:
    """Divide by what was returned, as a new study does: "cannot tell" is not relevant."""
    return verdicts.count("1") / len(verdicts)


def run_figures(
    answers: Sequence[Answer], said: Verdicts, grades: Mapping[Answer, float]
) -> dict[str, float | None]:
    result = [(answer, figures(answer, said)) for answer in answers]
    listed = [own for answer, own in result if answer.things]
    return {
        "mean_precision_at_5": _mean(own.precision_at_5 for own in listed),
        "mean_overall_precision": _mean(own.overall_precision for own in listed),
        "mrr": _mean(own.reciprocal_rank for own in listed),
        "success_rate": _mean(own.success for _, own in result),
        "coverage": len(listed) / len(answers),
        "mean_response_quality": _mean(grades.get(answer) for answer in answers),
    }


def _mean(values: Iterable[float | None]) -> float | None:
    result = [value for value in values if value is not None]
    return mean(result) if result else None


def majority(by_rater: Sequence[Verdicts]) -> Verdicts:
    merged = {}
    for item in set().union(*by_rater):
        votes = Counter(own[item] for own in by_rater if own[item] != "unsure")
        ranked = votes.most_common()
        if not ranked:
            merged[item] = "unsure"  # judged, by nobody decided
        elif len(ranked) == 1 or ranked[0][1] > ranked[1][1]:
            merged[item] = ranked[0][0]
    return merged


def middle(grades: Sequence[int]) -> float:
    return float(median(grades))
