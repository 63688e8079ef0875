"""Two runs apart, question by question: the mean difference, its interval and its tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, groupby
from math import comb, erfc, sqrt
from statistics import fmean, stdev
from typing import Protocol

from msgspec import Struct

from webapp.metrics.comparisons.significance import (
    KEPT,
    Interval,
    Randomisation,
    Resampling,
    holm,
    mean_intervals,
    randomisation_tests,
)
from webapp.metrics.judging.figures import MEANS
from webapp.metrics.judging.queries import QuerySummary
from webapp.metrics.judging.registry import Measure
from webapp.records import EmptyOutcome, QueryState, Relevance


class ComparedQuery(Struct, frozen=True):
    """One question of the set as one run answered it, judged under one rule.

    ``position`` is the question's in the set (from 1) and pairs the runs; ``query_id`` is
    the run's own number for it. ``verdicts`` are those of its results in rank order, as the
    study counts them (``ranking.counted``).
    """

    position: int
    query_id: int
    question: str
    category: str
    summary: QuerySummary
    verdicts: tuple[Relevance | None, ...] = ()


class ComparedRun(Struct, frozen=True):
    """A run to compare: its id, a name that no other of the comparison has, its questions."""

    run: str
    name: str
    search_method: str | None
    llm: str | None
    queries: tuple[ComparedQuery, ...]


def counted(query: ComparedQuery, headline: str) -> float | None:
    """The number of a question that a headline figure averages, ``None`` where it has none.

    Coverage averages 1 for a question with results and 0 for one without.
    """
    if headline in MEANS:
        return query.summary.span(MEANS[headline]).value
    if headline == "coverage" and query.summary.state is not QueryState.UNREADABLE:
        return float(query.summary.state is QueryState.RESULTS)
    return None


def ranked(values: Mapping[str, float | None]) -> tuple[tuple[str, ...], ...]:
    """The keys from the largest value to the smallest, equal ones together in given order.

    Values that differ in the 10th decimal only are equal; ``None`` has no place.

    >>> ranked({"a": 0.5, "b": 0.75, "c": None, "d": 0.5})
    (('b',), ('a', 'd'))
    """
    places: dict[float, list[str]] = {}
    for key, value in values.items():
        if value is not None:
            places.setdefault(round(value, 9), []).append(key)
    return tuple(tuple(places[value]) for value in sorted(places, reverse=True))


def value_of(query: ComparedQuery, figure: str, *, false_negatives_at_zero: bool) -> float | None:
    """The value of a headline figure for one question; ``None`` where it has none yet."""
    summary = query.summary
    false_negative = summary.empty_outcome is EmptyOutcome.FALSE_NEGATIVE
    if false_negatives_at_zero and false_negative:
        return 0.0
    return summary.span(MEANS[figure]).value


def sign_test(one: int, other: int) -> float:
    """The exact two-sided p-value of `one` against `other` (the sign test).

    Null hypothesis: each case favours either side with probability 1/2. ``p = min(1, 2 x (sum
    of C(n, i) for i from 0 to k) / 2^n)``: *n* the cases, *k* the smaller count. Ties
    are not cases and are left out beforehand. Without cases the result is 1.
    Reference: Conover (1999), Practical Nonparametric Statistics, section 3.4.

    >>> sign_test(0, 5)  # 2 x 1/32
    0.0625
    """
    if min(one, other) < 0:
        raise ValueError("counts are 0 or more")
    n = one + other
    tail = sum(comb(n, i) for i in range(min(one, other) + 1))
    ways: int = 2**n
    return min(1.0, 2 * tail / ways)


MOST_EXACT = 50
"""With more differences that are not 0 the normal approximation takes over."""


class SignedRank(Struct, frozen=True):
    """The two-sided test over ``n`` differences that are not 0.

    ``positive`` and ``negative`` are the sums of the ranks of differences above and below 0,
    ``zeros`` counts the differences that were left out.
    """

    n: int
    zeros: int
    positive: float
    negative: float
    p: float
    exact: bool


def signed_rank(differences: Iterable[float]) -> SignedRank | None:
    """The signed-rank test of paired `differences`; ``None`` without any.

    Differences of 0 are left out, as Wilcoxon did (Pratt ranks them and leaves them out
    then). The others are ranked by their size, equal sizes by the mean of their ranks. Null
    hypothesis: each sign is a coin's. Exact up to ``MOST_EXACT`` differences, ties included:
    the rank sum under all ``2^n`` signs. Above, the normal approximation with variance
    ``n (n + 1) (2n + 1) / 24 - sum over ties of (t^3 - t) / 48`` and the continuity correction
    of 0.5. Nothing but zeros gives 1.
    Reference: Wilcoxon (1945), Individual comparisons by ranking methods. Biometrics
    Bulletin 1(6), 80-83.

    >>> signed_rank([0.25, 0.5, 0.75, 0.0])  # ranks 1, 2, 3; all + and all - of 8 signs
    SignedRank(n=3, zeros=1, positive=6.0, negative=0.0, p=0.25, exact=True)
    """
    rounded = [round(difference, 9) for difference in differences]
    if not rounded:
        return None
    kept = [difference for difference in rounded if difference]
    sizes = Counter(abs(difference) for difference in kept)
    doubled = _doubled_ranks(sizes)
    ranks = [doubled[abs(difference)] for difference in kept]
    positive = sum(rank for rank, difference in zip(ranks, kept, strict=True) if difference > 0)
    smaller = min(positive, sum(ranks) - positive)
    exact = len(kept) <= MOST_EXACT
    return SignedRank(
        n=len(kept),
        zeros=len(rounded) - len(kept),
        positive=positive / 2,
        negative=(sum(ranks) - positive) / 2,
        p=_exact(ranks, smaller) if exact else _approximate(sizes, smaller / 2),
        exact=exact,
    )


def _doubled_ranks(sizes: Counter[float]) -> dict[float, int]:
    """Twice the mid-rank of each size, which is a whole number."""
    found, below = {}, 0
    for size in sorted(sizes):
        found[size] = 2 * below + sizes[size] + 1
        below += sizes[size]
    return found


def _exact(ranks: Sequence[int], smaller: int) -> float:
    """Twice the share of all signs whose rank sum is at most the smaller of the two."""
    ways = [1] + [0] * smaller
    for rank in ranks:
        for total in range(smaller, rank - 1, -1):
            ways[total] += ways[total - rank]
    share: float = 2 * sum(ways) / 2 ** len(ranks)
    return min(1.0, share)


def _approximate(sizes: Counter[float], smaller: float) -> float:
    n = sizes.total()
    ties = sum(count**3 - count for count in sizes.values())
    deviation = sqrt(n * (n + 1) * (2 * n + 1) / 24 - ties / 48)
    distance = n * (n + 1) / 4 - smaller
    return erfc(max(0.0, distance - 0.5) / deviation / sqrt(2)) if distance else 1.0


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
