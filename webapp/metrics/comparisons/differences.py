"""Two runs apart, question by question: the mean difference, its interval and its tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import combinations, groupby
from statistics import fmean, stdev
from typing import Protocol

from msgspec import Struct

from webapp.metrics.comparisons.compared_runs import ComparedRun, value_of
from webapp.metrics.comparisons.intervals import Interval
from webapp.metrics.comparisons.resampling import KEPT, Resampling
from webapp.metrics.comparisons.sign_test import sign_test
from webapp.metrics.comparisons.signed_rank import SignedRank, signed_rank
from webapp.metrics.comparisons.significance import (
    Randomisation,
    holm,
    mean_intervals,
    randomisation_tests,
)
from webapp.metrics.judging.registry import Measure

SMALL = 50
"""Below so many pairs a comparison calls itself small: only large differences can show."""

RANDOMISATION = "randomisation"
MCNEMAR = "McNemar"

PAIRED = (
    ("mean_precision_at_5", False),
    ("mean_precision_at_5", True),
    ("mean_overall_precision", False),
    ("mean_overall_precision", True),
    ("mrr", False),
    ("mrr_answerable", True),
    ("success_rate", False),
    ("mean_response_quality", False),
)
"""The figures paired by question: a headline figure, and whether false negatives count as 0."""


class Difference(Struct, frozen=True):
    """One figure of two runs, first minus second, over the questions both have a value for.

    ``false_negatives_at_zero``: an empty list that should have had results counts as 0, as
    it has no precision. ``mean`` is over the `n` pairs, ``first_value`` minus ``second_value``
    over the same questions; ``headline`` is the difference of the two runs' headline figures
    (``None`` where no headline counts false negatives that way).
    ``p`` belongs to ``test``, ``p_holm`` is corrected over the run pairs of this figure. Wins
    are questions where the first run's value is larger. ``signed_rank`` is Wilcoxon's test of
    the same differences, ``None`` for successes, and ``signed_rank_p_holm`` its p corrected alike.
    ``deviation`` is the standard deviation of the differences, ``None`` of fewer than two.
    Without pairs everything but the counts is ``None``. ``measure`` explains a figure that is none
    of the headline figures.
    """

    figure: str
    false_negatives_at_zero: bool
    first: str
    second: str
    n: int
    mean: float | None
    interval: Interval
    headline: float | None
    test: str
    exact: bool
    p: float | None
    p_holm: float | None
    wins: int
    ties: int
    losses: int
    signed_rank: SignedRank | None = None
    signed_rank_p_holm: float | None = None
    measure: Measure | None = None
    deviation: float | None = None
    first_value: float | None = None
    second_value: float | None = None

    @property
    def reverses_headline(self) -> bool:
        """Whether the run that is higher over the pairs has the lower headline figure."""
        return round(self.mean or 0, 9) * round(self.headline or 0, 9) < 0

    @property
    def small(self) -> bool:
        """Whether the pairs are so few that only large differences could show."""
        return self.n < SMALL


class RunDifferences(Protocol):
    """The part of a comparison of runs that the sentences about its differences need."""

    @property
    def settings(self) -> Resampling:
        """How often and from which seed was drawn."""

    @property
    def differences(self) -> tuple[Difference, ...]:
        """Every difference, those of one figure together."""

    def name(self, run: str) -> str:
        """The name of a run by its id."""

    def is_partial(self, run: str) -> bool:
        """Whether a run's figures can still move."""


class PairedValues(Struct, frozen=True):
    """The values of one figure in two runs, question by question; runs by their ids.

    ``headline`` is the difference of the two figures; ``binary`` values are 0 or 1. ``measure``
    explains a figure that is none of the headline figures.
    """

    figure: str
    first: str
    second: str
    values: tuple[tuple[float, float], ...]
    headline: float | None
    at_zero: bool = False
    binary: bool = False
    measure: Measure | None = None

    @property
    def differences(self) -> list[float]:
        """First minus second, by question."""
        return [one - other for one, other in self.values]


def differences(
    runs: Sequence[ComparedRun],
    headlines: Mapping[str, Mapping[str, float | None]],
    settings: Resampling,
) -> tuple[Difference, ...]:
    """The differences of every figure of ``PAIRED`` for every two runs, in that order.

    `headlines` has the headline figures of each run by its id.
    """
    return tested(
        [
            _pairs(figure, at_zero, first, second, headlines)
            for figure, at_zero in PAIRED
            for first, second in combinations(runs, 2)
        ],
        settings,
    )


def tested(pairs: Sequence[PairedValues], settings: Resampling) -> tuple[Difference, ...]:
    """The difference of each pair of runs; Holm's correction is over the pairs of one figure.

    The pairs of one figure follow each other.
    """
    samples = tuple(tuple(pair.differences) for pair in pairs)
    binary = tuple(pair.binary for pair in pairs)
    intervals, randomised = _drawn(samples, binary, settings)
    tests = [_test(*found) for found in zip(pairs, randomised, strict=True)]
    ranked = [None if pair.binary else signed_rank(pair.differences) for pair in pairs]
    corrected = _corrected(pairs, [test.p if test else None for test in tests])
    ranks_corrected = _corrected(pairs, [test.p if test else None for test in ranked])
    return tuple(
        _difference(*found)
        for found in zip(pairs, intervals, tests, corrected, ranked, ranks_corrected, strict=True)
    )


@lru_cache(maxsize=KEPT)
def _drawn(
    samples: tuple[tuple[float, ...], ...], binary: tuple[bool, ...], settings: Resampling
) -> tuple[tuple[Interval, ...], tuple[Randomisation, ...]]:
    """The interval and the randomisation test of each sample; binary ones have another test."""
    turned = [() if one else sample for one, sample in zip(binary, samples, strict=True)]
    return mean_intervals(samples, settings), randomisation_tests(turned, settings)


def _corrected(
    pairs: Sequence[PairedValues], p_values: Sequence[float | None]
) -> list[float | None]:
    found: list[float | None] = []
    for _, together in groupby(pairs, key=lambda pair: (pair.figure, pair.at_zero)):
        start = len(found)
        found += holm(p_values[start : start + len(list(together))])
    return found


def _pairs(
    figure: str,
    at_zero: bool,
    first: ComparedRun,
    second: ComparedRun,
    headlines: Mapping[str, Mapping[str, float | None]],
) -> PairedValues:
    return PairedValues(
        figure=figure,
        first=first.run,
        second=second.run,
        values=tuple(paired_values(figure, first, second, at_zero=at_zero).values()),
        headline=_headline(figure, at_zero, headlines[first.run], headlines[second.run]),
        at_zero=at_zero,
        binary=figure == "success_rate",
    )


def paired_values(
    figure: str, first: ComparedRun, second: ComparedRun, *, at_zero: bool = False
) -> dict[int, tuple[float, float]]:
    """Return the two values of each question that has one in both runs, by its position."""
    theirs = {query.position: query for query in second.queries}
    found = {}
    for query in first.queries:
        other = theirs.get(query.position)
        if other is None:
            continue
        one = value_of(query, figure, false_negatives_at_zero=at_zero)
        two = value_of(other, figure, false_negatives_at_zero=at_zero)
        if one is not None and two is not None:
            found[query.position] = (one, two)
    return found


def _headline(
    figure: str, at_zero: bool, one: Mapping[str, float | None], other: Mapping[str, float | None]
) -> float | None:
    """The difference of two headline figures, where one counts false negatives that way."""
    if at_zero and figure != "mrr_answerable":
        return None
    return headline_difference(one[figure], other[figure])


def headline_difference(one: float | None, other: float | None) -> float | None:
    """The difference of two figures, ``None`` where one has no value."""
    return None if one is None or other is None else one - other


def _test(pairs: PairedValues, randomised: Randomisation) -> Randomisation | None:
    """The p-value of `pairs`: exact McNemar for success, else the randomisation test's."""
    if not pairs.values:
        return None
    if not pairs.binary:
        return randomised
    wins, _, losses = _counts(pairs)
    return Randomisation(sign_test(wins, losses), exact=True)


def _counts(pairs: PairedValues) -> tuple[int, int, int]:
    signs = [round(difference, 9) for difference in pairs.differences]
    wins, losses = sum(sign > 0 for sign in signs), sum(sign < 0 for sign in signs)
    return wins, len(signs) - wins - losses, losses


def _difference(
    pairs: PairedValues,
    interval: Interval,
    test: Randomisation | None,
    p_holm: float | None,
    ranked: SignedRank | None,
    ranked_p_holm: float | None,
) -> Difference:
    wins, ties, losses = _counts(pairs)
    return Difference(
        figure=pairs.figure,
        false_negatives_at_zero=pairs.at_zero,
        first=pairs.first,
        second=pairs.second,
        n=len(pairs.values),
        mean=fmean(pairs.differences) if pairs.values else None,
        interval=interval,
        headline=pairs.headline,
        test=MCNEMAR if pairs.binary else RANDOMISATION,
        exact=test is not None and test.exact,
        p=test.p if test else None,
        p_holm=p_holm,
        wins=wins,
        ties=ties,
        losses=losses,
        signed_rank=ranked,
        signed_rank_p_holm=ranked_p_holm,
        measure=pairs.measure,
        deviation=stdev(pairs.differences) if len(pairs.values) > 1 else None,
        first_value=fmean(one for one, _ in pairs.values) if pairs.values else None,
        second_value=fmean(other for _, other in pairs.values) if pairs.values else None,
    )
