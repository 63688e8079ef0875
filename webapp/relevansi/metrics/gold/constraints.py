"""V2: how far the cards of a run meet the constraints of each question, and the confusion matrix.

All shares are exact fractions, so that 3 of 5 meets a threshold of 0.6. ``None`` is undefined: the
denominator is 0.

The constraint pass rate (CPR) of a card is PASS over all constraints that are asked, those
that the card does not show (MISSING) included: that is what the recorded evaluation did.
Its published description leaves MISSING out, which ``Missing.LEFT_OUT`` offers; a card on
which everything that is asked is missing then has no CPR and is in no mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from itertools import combinations
from typing import Self

from msgspec import Struct, field
from msgspec.structs import replace

from relevansi.i18n import mark
from relevansi.metrics.comparisons.differences import (
    Difference,
    PairedValues,
    headline_difference,
    paired_differences,
)
from relevansi.metrics.gold.constraint_rules import (
    CONSTRAINT_MEASURES,
    CardFacts,
    Check,
    Constraints,
    Outcome,
    check_card,
)
from relevansi.records import CONSTRAINTS

DEFAULT_THRESHOLD = Fraction(3, 5)

CARD = "card"
"""The subject of a decision on a whole card; every other subject is a constraint."""

Decided = tuple[int, int, str, str | None, str]
"""A decision: number of the question, card from 0, subject, outcome, reason.

Without an outcome it is only a comment.
"""


class MissingRule(StrEnum):
    """How a constraint counts that the question has but the card does not show."""

    COUNTED = "counted"
    LEFT_OUT = "left-out"


class Expected(StrEnum):
    """The result that a question should bring: cards, or an empty list."""

    HAS_DATA = "has_data"
    NO_DATA = "no_data"


class ConstraintConfusion(StrEnum):
    """The outcome of a question: what it should bring against what it brought."""

    TP = "TP"
    FP = "FP"
    TN = "TN"
    FN = "FN"


class GoldQuestion(Struct, frozen=True):
    """One question with its constraints; the cards of a ``manual`` one are judged by a person."""

    query_id: int
    text: str
    category: str
    expected: Expected
    constraints: Constraints = Constraints()
    manual: bool = False


class Decisions(Struct, frozen=True):
    """The decisions of people, by (number of the question, index of the card from 0).

    ``overrides`` replace outcomes of single constraints before anything is computed. ``cards`` say
    whether a whole card passes: its CPR is then 1 or 0.
    """

    overrides: dict[tuple[int, int], dict[str, Outcome]] = field(default_factory=dict)
    cards: dict[tuple[int, int], bool] = field(default_factory=dict)
    comments: dict[tuple[int, int], str] = field(default_factory=dict)

    @classmethod
    def of(cls, decided: Iterable[Decided]) -> Self:
        decisions = cls()
        for query_id, index, subject, outcome, reason in decided:
            place = query_id, index
            if subject == CARD and reason:
                decisions.comments[place] = reason
            if subject == CARD and outcome is not None:
                decisions.cards[place] = outcome == Outcome.PASS
            elif outcome is not None:
                decisions.overrides.setdefault(place, {})[subject] = Outcome(outcome)
        return decisions


NO_DECISIONS = Decisions()


class ConstraintFigure(Struct, frozen=True):
    """A figure over `n` cards or questions."""

    value: Fraction | None
    n: int


class CardEvaluation(Struct, frozen=True):
    """One card: its checks, its CPR, and a person's verdict on it as a whole.

    ``passed`` is the person's verdict; `pending` is a card of a manual question that waits
    for it, whose CPR is 0.
    """

    card: CardFacts
    checks: tuple[Check, ...]
    cpr: Fraction | None
    passed: bool | None = None
    pending: bool = False
    comment: str = ""


class QueryEvaluation(Struct, frozen=True):
    """One question of the gold file with every card that came back for it."""

    question: GoldQuestion
    cards: tuple[CardEvaluation, ...]
    mean_cpr: Fraction | None
    is_success: bool
    confusion: ConstraintConfusion

    @property
    def strict_success(self) -> int:
        return sum(card.cpr == 1 for card in self.cards)

    @property
    def n_pending(self) -> int:
        return sum(card.pending for card in self.cards)


class ConfusionMatrix(Struct, frozen=True):
    """The confusion matrix of questions: what they should bring by what they brought."""

    tp: int = 0
    fp: int = 0
    tn: int = 0
    fn: int = 0

    @property
    def precision(self) -> Fraction | None:
        """TP / (TP + FP): of the questions met, the share that should be."""
        return share(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> Fraction | None:
        """TP / (TP + FN): of the questions that have data, the share that was met."""
        return share(self.tp, self.tp + self.fn)

    @property
    def f1_score(self) -> Fraction | None:
        """2 TP / (2 TP + FP + FN): the harmonic mean of precision and recall.

        0 where questions are wrong and none is right, though the precision may be undefined.

        >>> ConfusionMatrix(tp=19, fp=0, tn=2, fn=9).f1_score
        Fraction(38, 47)
        """
        return share(2 * self.tp, 2 * self.tp + self.fp + self.fn)

    @property
    def accuracy(self) -> Fraction | None:
        """(TP + TN) / all questions."""
        return share(self.tp + self.tn, self.tp + self.fp + self.tn + self.fn)


class ConstraintTotals(Struct, frozen=True):
    """The figures over some questions: all of them, or one category."""

    n_queries: int
    n_successful: int
    n_properties: int
    mean_cpr: Fraction | None
    strict_success_ratio: Fraction | None
    pca: Mapping[str, ConstraintFigure]
    matrix: ConfusionMatrix

    @property
    def success_rate(self) -> Fraction | None:
        """Successful questions / questions."""
        return share(self.n_successful, self.n_queries)


class ConstraintReport(Struct, frozen=True):
    """The evaluation of a run: every question in gold order, all figures, each category."""

    threshold: Fraction
    missing: MissingRule
    queries: tuple[QueryEvaluation, ...]
    totals: ConstraintTotals
    categories: Mapping[str, ConstraintTotals]


def evaluate(
    gold: Iterable[GoldQuestion],
    results: Mapping[int, Sequence[CardFacts]],
    *,
    threshold: Fraction = DEFAULT_THRESHOLD,
    decisions: Decisions = NO_DECISIONS,
    missing: MissingRule = MissingRule.COUNTED,
) -> ConstraintReport:
    """Return the evaluation of `results` (cards by number of the question) against `gold`.

    A gold question without an entry in `results` counts as an empty answer; an entry without a
    gold question is ignored.
    """
    queries = tuple(
        evaluate_query(
            question,
            results.get(question.query_id, ()),
            threshold=threshold,
            decisions=decisions,
            missing=missing,
        )
        for question in gold
    )
    by_category: dict[str, list[QueryEvaluation]] = {}
    for query in queries:
        by_category.setdefault(query.question.category, []).append(query)
    categories = {name: totals(part, missing) for name, part in by_category.items()}
    return ConstraintReport(threshold, missing, queries, totals(queries, missing), categories)


def evaluate_query(
    question: GoldQuestion,
    cards: Sequence[CardFacts],
    *,
    threshold: Fraction = DEFAULT_THRESHOLD,
    decisions: Decisions = NO_DECISIONS,
    missing: MissingRule = MissingRule.COUNTED,
) -> QueryEvaluation:
    """Return one question with its cards: mean CPR over the cards, success and confusion.

    Positive means results with a mean CPR of at least `threshold`. Success is positive
    where data is expected and no results where none is, and never while a card is pending.
    """
    evaluated = tuple(
        _card(question, index, card, decisions, missing) for index, card in enumerate(cards)
    )
    mean_cpr = mean(card.cpr for card in evaluated)
    positive = mean_cpr is not None and mean_cpr >= threshold
    has_data = question.expected is Expected.HAS_DATA
    pending = any(card.pending for card in evaluated)
    confusion = ("T" if positive == has_data else "F") + ("P" if positive else "N")
    return QueryEvaluation(
        question=question,
        cards=evaluated,
        mean_cpr=mean_cpr,
        is_success=(positive if has_data else not evaluated) and not pending,
        confusion=ConstraintConfusion(confusion),
    )


def headline_figures(report: ConstraintReport) -> dict[str, ConstraintFigure]:
    """Return the figures of a run by name, each with its n, in the order in which they are read."""
    totals, matrix = report.totals, report.totals.matrix
    cards, questions = totals.n_properties, totals.n_queries
    shares = {
        "mean_cpr": (totals.mean_cpr, cards),
        "strict_success_ratio": (totals.strict_success_ratio, cards),
        "query_success_rate": (totals.success_rate, questions),
        "precision": (matrix.precision, matrix.tp + matrix.fp),
        "recall": (matrix.recall, matrix.tp + matrix.fn),
        "f1_score": (matrix.f1_score, matrix.tp + matrix.fp + matrix.fn),
        "accuracy": (matrix.accuracy, questions),
    }
    return {name: ConstraintFigure(*figure) for name, figure in shares.items()}


def totals(
    queries: Sequence[QueryEvaluation], missing: MissingRule = MissingRule.COUNTED
) -> ConstraintTotals:
    """Return the figures over `queries`; shares of cards are over all their cards together."""
    cards = [card for query in queries for card in query.cards]
    outcomes = [query.confusion for query in queries]
    matrix = {str(kind).lower(): outcomes.count(kind) for kind in ConstraintConfusion}
    return ConstraintTotals(
        n_queries=len(queries),
        n_successful=sum(query.is_success for query in queries),
        n_properties=len(cards),
        mean_cpr=mean(card.cpr for card in cards),
        strict_success_ratio=share(sum(card.cpr == 1 for card in cards), len(cards)),
        pca={
            name: _passes([card.checks[position].outcome for card in cards], missing)
            for position, name in enumerate(CONSTRAINTS)
        },
        matrix=ConfusionMatrix(**matrix),
    )


def mean(values: Iterable[Fraction | None]) -> Fraction | None:
    """Return the exact mean of the values that are defined, ``None`` when none is."""
    defined = [value for value in values if value is not None]
    return sum(defined, Fraction(0)) / len(defined) if defined else None


def share(part: int, total: int) -> Fraction | None:
    """Return `part` / `total`, ``None`` where `total` is 0."""
    return Fraction(part, total) if total else None


def _card(
    question: GoldQuestion, index: int, card: CardFacts, decisions: Decisions, missing: MissingRule
) -> CardEvaluation:
    """Return one card, its CPR as PASS / constraints of the question, 1 where there are none.

    The CPR is ``None`` where MISSING is left out and all constraints are missing on the card.
    """
    place = (question.query_id, index)
    checks = check_card(question.constraints, card, decisions.overrides.get(place, {}))
    passed = decisions.cards.get(place)
    pending = question.manual and passed is None
    outcomes = [check.outcome for check in checks]
    if passed is not None or pending:
        cpr: Fraction | None = Fraction(bool(passed))
    elif all(outcome is Outcome.NA for outcome in outcomes):
        cpr = Fraction(1)
    else:
        cpr = _passes(outcomes, missing).value
    return CardEvaluation(card, checks, cpr, passed, pending, decisions.comments.get(place, ""))


def _passes(outcomes: Iterable[Outcome], missing: MissingRule) -> ConstraintFigure:
    """Return PASS / the outcomes that count, which are all but NA, and MISSING if left out."""
    counting = [outcome for outcome in outcomes if outcome is not Outcome.NA]
    if missing is MissingRule.LEFT_OUT:
        counting = [outcome for outcome in counting if outcome is not Outcome.MISSING]
    return ConstraintFigure(share(counting.count(Outcome.PASS), len(counting)), len(counting))


PART = "constraints"
"""The name of this part of a comparison in its files."""

_MEAN_CPR = CONSTRAINT_MEASURES["mean_cpr"]
PAIRED_CONSTRAINTS = {
    ("mean_cpr", False): replace(_MEAN_CPR, label=mark("Mean CPR by question")),
    ("mean_cpr", True): replace(_MEAN_CPR, label=mark("Mean CPR by question, no results at 0")),
    ("query_success_rate", False): CONSTRAINT_MEASURES["query_success_rate"],
}
"""The figures paired by question; true counts a question with data but no results as 0."""


class CheckedContender(Struct, frozen=True):
    """One run in a comparison under V2; ``not_run`` are gold questions it does not have.

    ``decided`` counts the decisions by hand in force. ``from_text`` says that no file lists the
    run's properties, so that its cards are those in the text of its answers.
    """

    run: str
    name: str
    report: ConstraintReport
    not_run: tuple[int, ...] = ()
    decided: int = 0
    from_text: bool = False

    @property
    def pending(self) -> Mapping[int, int]:
        """The number of cards that wait for a person, by number of the question."""
        return {q.question.query_id: q.n_pending for q in self.report.queries if q.n_pending}


class ConstraintComparison(Struct, frozen=True):
    """Runs compared under the gold questions in force, in the order given."""

    differences: tuple[Difference, ...]
    gold: str
    version: int
    threshold: Fraction
    contenders: tuple[CheckedContender, ...]


def compare_constraints(
    contenders: Sequence[CheckedContender], *, gold: str, version: int, threshold: Fraction
) -> ConstraintComparison:
    """Return the comparison of `contenders`, which were checked against the same gold questions."""
    pairs = [
        _paired_values(figure, first, second, at_zero=at_zero)
        for figure, at_zero in PAIRED_CONSTRAINTS
        for first, second in combinations(contenders, 2)
    ]
    return ConstraintComparison(
        gold=gold,
        version=version,
        threshold=threshold,
        contenders=tuple(contenders),
        differences=paired_differences(pairs),
    )


def _paired_values(
    figure: str, first: CheckedContender, second: CheckedContender, *, at_zero: bool
) -> PairedValues:
    first_values = _values(first, figure, at_zero=at_zero)
    second_values = _values(second, figure, at_zero=at_zero)
    shared = [number for number in first_values if number in second_values]
    headline = None
    if not at_zero:
        headline = headline_difference(_headline(first, figure), _headline(second, figure))
    return PairedValues(
        figure=figure,
        first=first.run,
        second=second.run,
        values=tuple((first_values[number], second_values[number]) for number in shared),
        headline=headline,
        false_negatives_at_zero=at_zero,
        binary=figure == "query_success_rate",
        measure=PAIRED_CONSTRAINTS[figure, at_zero],
        names=(first.name, second.name),
        is_partial=bool(first.pending or second.pending),
    )


def _headline(contender: CheckedContender, figure: str) -> float | None:
    value = headline_figures(contender.report)[figure].value
    return None if value is None else float(value)


def _values(contender: CheckedContender, figure: str, *, at_zero: bool) -> dict[int, float]:
    """Return the value of each question that the run has, by its number."""
    by_query: dict[int, float] = {}
    for query in contender.report.queries:
        value: Fraction | int | None = query.mean_cpr
        if figure == "query_success_rate":
            value = query.is_success
        elif at_zero and query.question.expected is Expected.HAS_DATA and not query.cards:
            value = 0
        if value is not None and query.question.query_id not in contender.not_run:
            by_query[query.question.query_id] = float(value)
    return by_query
