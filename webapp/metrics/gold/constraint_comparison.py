"""Runs compared under V2: the figures of each on the gold questions, and their differences.

A pair is a question that both runs were asked. A question that a run was not asked is empty
in that run's own figures, as the method has it, but it pairs with nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations

from msgspec import Struct
from msgspec.structs import replace

from webapp.i18n import mark
from webapp.metrics.comparisons.differences import (
    Difference,
    PairedValues,
    headline_difference,
    tested,
)
from webapp.metrics.comparisons.significance import Resampling
from webapp.metrics.gold.constraints import (
    ConstraintReport,
    Expected,
    QueryEvaluation,
    headline_figures,
)
from webapp.metrics.gold.registry import CONSTRAINT_MEASURES

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
    """One run in a comparison under V2; ``not_run`` are gold questions it was not asked.

    ``decided`` counts the decisions by hand in force. ``from_text`` says that no file lists
    the run's properties, so that its cards are checked by what the answers' text says.
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
        waiting = {query.question.query_id: query.n_pending for query in self.report.queries}
        return {query_id: n for query_id, n in waiting.items() if n}


class ConstraintComparison(Struct, frozen=True):
    """Runs compared under the gold questions in force, in the order given."""

    gold: str
    version: int
    threshold: Fraction
    settings: Resampling
    contenders: tuple[CheckedContender, ...]
    differences: tuple[Difference, ...]

    def name(self, run: str) -> str:
        """The name of a run by its id; raises ``KeyError``."""
        return {contender.run: contender.name for contender in self.contenders}[run]

    def is_partial(self, run: str) -> bool:
        """Whether a run has cards that wait for a person; raises ``KeyError``."""
        return {contender.run: bool(contender.pending) for contender in self.contenders}[run]


def compare_constraints(
    contenders: Sequence[CheckedContender],
    *,
    gold: str,
    version: int,
    threshold: Fraction,
    settings: Resampling | None = None,
) -> ConstraintComparison:
    """The comparison of `contenders`, which were checked against the same gold questions."""
    settings = settings or Resampling()
    pairs = [
        _pairs(figure, at_zero, first, second)
        for figure, at_zero in PAIRED_CONSTRAINTS
        for first, second in combinations(contenders, 2)
    ]
    return ConstraintComparison(
        gold=gold,
        version=version,
        threshold=threshold,
        settings=settings,
        contenders=tuple(contenders),
        differences=tested(pairs, settings),
    )


def _pairs(
    figure: str, at_zero: bool, first: CheckedContender, second: CheckedContender
) -> PairedValues:
    theirs = _values(second, figure, at_zero=at_zero)
    values = [
        (value, theirs[query_id])
        for query_id, value in _values(first, figure, at_zero=at_zero).items()
        if query_id in theirs
    ]
    one, other = (_headline(contender, figure) for contender in (first, second))
    return PairedValues(
        figure=figure,
        first=first.run,
        second=second.run,
        values=tuple(values),
        headline=None if at_zero else headline_difference(one, other),
        at_zero=at_zero,
        binary=figure == "query_success_rate",
        measure=PAIRED_CONSTRAINTS[figure, at_zero],
    )


def _values(contender: CheckedContender, figure: str, *, at_zero: bool) -> dict[int, float]:
    """The value of a figure by number of the question, of those that have one."""
    found = {
        query.question.query_id: _value(query, figure, at_zero=at_zero)
        for query in contender.report.queries
        if query.question.query_id not in contender.not_run
    }
    return {query_id: value for query_id, value in found.items() if value is not None}


def _value(query: QueryEvaluation, figure: str, *, at_zero: bool) -> float | None:
    if figure == "query_success_rate":
        return float(query.is_success)
    if query.mean_cpr is not None:
        return float(query.mean_cpr)
    should_have_results = query.question.expected is Expected.HAS_DATA and not query.cards
    return 0.0 if at_zero and should_have_results else None


def _headline(contender: CheckedContender, figure: str) -> float | None:
    value = headline_figures(contender.report)[figure].value
    return None if value is None else float(value)
