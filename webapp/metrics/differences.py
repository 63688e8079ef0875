"""Two runs apart, question by question: the mean difference, its interval and its tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

from webapp.metrics.compared_runs import ComparedRun, value_of
from webapp.metrics.intervals import Interval
from webapp.metrics.sign_test import sign_test
from webapp.metrics.significance import (
    Randomisation,
    Resampling,
    holm,
    mean_intervals,
    randomisation_tests,
)

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
"""What is paired by question: a headline figure, and whether false negatives count as 0."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One figure of two runs, first minus second, over the questions both have a value for.

    ``false_negatives_at_zero``: an empty list that should have had results counts as 0, as
    it has no precision. ``mean`` is over the `n` pairs, ``headline`` the difference of the
    two runs' headline figures (``None`` where no headline counts false negatives that way).
    ``p`` belongs to ``test``, ``p_holm`` is corrected over the run pairs of this figure. Wins
    are questions where the first run's value is larger.
    Without pairs everything but the counts is ``None``.
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

    @property
    def small(self) -> bool:
        """Whether the pairs are so few that only large differences could show."""
        return self.n < SMALL


@dataclass(frozen=True, slots=True)
class _Pairs:
    """The values of one figure in two runs, question by question."""

    figure: str
    at_zero: bool
    first: ComparedRun
    second: ComparedRun
    values: tuple[tuple[float, float], ...]

    @property
    def differences(self) -> list[float]:
        return [one - other for one, other in self.values]


def differences(
    runs: Sequence[ComparedRun],
    headlines: Mapping[str, Mapping[str, float | None]],
    settings: Resampling,
) -> tuple[Difference, ...]:
    """The differences of every figure of ``PAIRED`` for every two runs, in that order.

    `headlines` has the headline figures of each run by its id.
    """
    pairs = [
        _pairs(figure, at_zero, first, second)
        for figure, at_zero in PAIRED
        for first, second in combinations(runs, 2)
    ]
    samples = [pair.differences for pair in pairs]
    intervals = mean_intervals(samples, settings)
    tests = [
        _test(pair, randomised)
        for pair, randomised in zip(pairs, randomisation_tests(samples, settings), strict=True)
    ]
    per_figure = len(runs) * (len(runs) - 1) // 2
    corrected: list[float | None] = []
    for start in range(0, len(pairs), per_figure):
        corrected += holm([test.p if test else None for test in tests[start : start + per_figure]])
    return tuple(
        _difference(pair, interval, test, p_holm, _headline(pair, headlines))
        for pair, interval, test, p_holm in zip(pairs, intervals, tests, corrected, strict=True)
    )


def _pairs(figure: str, at_zero: bool, first: ComparedRun, second: ComparedRun) -> _Pairs:
    theirs = {query.position: query for query in second.queries}
    values = []
    for query in first.queries:
        other = theirs.get(query.position)
        if other is None:
            continue
        one = value_of(query, figure, false_negatives_at_zero=at_zero)
        two = value_of(other, figure, false_negatives_at_zero=at_zero)
        if one is not None and two is not None:
            values.append((one, two))
    return _Pairs(figure, at_zero, first, second, tuple(values))


def _test(pairs: _Pairs, randomised: Randomisation) -> Randomisation | None:
    """The p-value of `pairs`: exact McNemar for success, else the randomisation test's."""
    if not pairs.values:
        return None
    if pairs.figure != "success_rate":
        return randomised
    wins, _, losses = _counts(pairs)
    return Randomisation(sign_test(wins, losses), exact=True)


def _counts(pairs: _Pairs) -> tuple[int, int, int]:
    signs = [round(difference, 9) for difference in pairs.differences]
    wins, losses = sum(sign > 0 for sign in signs), sum(sign < 0 for sign in signs)
    return wins, len(signs) - wins - losses, losses


def _headline(pairs: _Pairs, headlines: Mapping[str, Mapping[str, float | None]]) -> float | None:
    """The difference of two headline figures, where one counts false negatives like `pairs`."""
    if pairs.at_zero and pairs.figure != "mrr_answerable":
        return None
    one, other = (headlines[run.run][pairs.figure] for run in (pairs.first, pairs.second))
    return None if one is None or other is None else one - other


def _difference(
    pairs: _Pairs,
    interval: Interval,
    test: Randomisation | None,
    p_holm: float | None,
    headline: float | None,
) -> Difference:
    wins, ties, losses = _counts(pairs)
    return Difference(
        figure=pairs.figure,
        false_negatives_at_zero=pairs.at_zero,
        first=pairs.first.run,
        second=pairs.second.run,
        n=len(pairs.values),
        mean=fmean(pairs.differences) if pairs.values else None,
        interval=interval,
        headline=headline,
        test=MCNEMAR if pairs.figure == "success_rate" else RANDOMISATION,
        exact=test is not None and test.exact,
        p=test.p if test else None,
        p_holm=p_holm,
        wins=wins,
        ties=ties,
        losses=losses,
    )
