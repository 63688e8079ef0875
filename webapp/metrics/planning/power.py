"""A rating plan: the questions that a difference needs, what they show, and the work they are.

A difference of two runs is tested on its paired differences, one for each question. All here is
about their mean: *d* is the difference to be seen, *s* the standard deviation of the paired
differences, *n* the number of questions that have one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import cache
from math import isnan, sqrt
from statistics import fmean, stdev

from msgspec import Struct, field

from webapp.metrics.comparisons.significance import Resampling, places_drawn, randomisation_tests

FEWEST = 2
"""One paired difference has no standard deviation."""
MOST = 1_000_000
"""No plan goes beyond so many questions."""
SIMULATED = 500
"""So many studies are drawn for a simulated power, each tested with as many permutations."""
UPPER_CONFIDENCE = 0.8


class Demand(Struct, frozen=True):
    """The aim of a test: significant at ``level`` with probability ``power``."""

    level: float = 0.05
    power: float = 0.8


class PairedSpread(Struct, frozen=True):
    """How much the paired differences of two rated runs vary, over `n` questions.

    ``deviation`` is their standard deviation, ``upper`` its one-sided upper 80 % limit, which
    supposes normal differences. ``ties`` of them are 0.
    """

    n: int
    mean: float
    deviation: float
    upper: float
    ties: int = 0


def spread(differences: Sequence[float]) -> PairedSpread | None:
    """Return how much paired differences vary; ``None`` of fewer than two or of equal ones.

    >>> spread([0.2, -0.2, 0.6, 0.2]).deviation
    0.32659863237109044
    """
    if len(differences) < FEWEST:
        return None
    deviation = stdev(differences)
    if deviation <= 1e-12:
        return None
    n, ties = len(differences), sum(abs(one) <= 1e-12 for one in differences)
    return PairedSpread(n, fmean(differences), deviation, upper_limit(deviation, n), ties)


def upper_limit(deviation: float, n: int, *, confidence: float = UPPER_CONFIDENCE) -> float:
    """Return the limit that the true deviation does not exceed, with the given confidence.

    ``s sqrt((n - 1) / q)``, where `q` is the (1 - confidence) quantile of chi-square with n - 1
    degrees of freedom. Reference: Browne (1995), On the use of a pilot sample for sample size
    determination. Statistics in Medicine 14, 1933-1940.

    >>> round(upper_limit(0.3, 30), 4)
    0.3408
    """
    from scipy.special import chdtri  # type: ignore[import-untyped]  # late: it takes a while

    return deviation * sqrt((n - 1) / float(chdtri(n - 1, confidence)))


def power(n: int, difference: float, deviation: float, *, level: float = 0.05) -> float:
    """Return the power of the two-sided paired t test of `n` differences.

    ``P(|T| > t)`` for the non-central t with n - 1 degrees of freedom and non-centrality
    ``d sqrt(n) / s``, `t` being the (1 - level / 2) quantile of Student's t.
    Reference: Cohen (1988), Statistical Power Analysis for the Behavioral Sciences, ch. 2.

    >>> round(power(34, 0.5, 1.0), 4)
    0.8078
    """
    return _power(n, abs(difference) / deviation * sqrt(n), level)


def questions_needed(
    difference: float, deviation: float, demand: Demand | None = None
) -> int | None:
    """Return the fewest questions with the power asked; ``None`` where `MOST` are too few.

    >>> questions_needed(0.5, 1.0)
    34
    """
    demand = demand or Demand()
    numbers = range(FEWEST, MOST + 1)
    place = bisect_left(
        numbers, demand.power, key=lambda n: power(n, difference, deviation, level=demand.level)
    )
    return numbers[place] if place < len(numbers) else None


def smallest_difference(n: int, deviation: float, demand: Demand | None = None) -> float | None:
    """Return the smallest difference that `n` questions show with the power asked.

    ``None`` of fewer than two questions.

    >>> round(smallest_difference(34, 1.0), 4)
    0.495
    """
    demand = demand or Demand()
    if n < FEWEST:
        return None
    return _shift(n, demand) * deviation / sqrt(n)


@cache
def _shift(n: int, demand: Demand) -> float:
    """The non-centrality at which `n` differences have the power asked."""
    low, high = 0.0, 1.0
    while _power(n, high, demand.level) < demand.power:
        high *= 2
    while low < (middle := (low + high) / 2) < high:
        if _power(n, middle, demand.level) < demand.power:
            low = middle
        else:
            high = middle
    return high


@cache
def t_quantile(p: float, df: float) -> float:
    """The t below which Student's t with `df` degrees of freedom lies with probability `p`.

    >>> round(t_quantile(0.975, 29), 6)
    2.04523
    """
    from scipy.special import stdtrit

    return float(stdtrit(df, p))


def _power(n: int, shift: float, level: float) -> float:
    from scipy.special import nctdtr

    limit = t_quantile(1 - level / 2, n - 1)
    above, below = 1 - float(nctdtr(n - 1, shift, limit)), float(nctdtr(n - 1, shift, -limit))
    return above + (0.0 if isnan(below) else below)  # not a number where it is all but 0


def simulated_power(
    differences: Sequence[float], n: int, difference: float, *, seed: int, level: float = 0.05
) -> float:
    """Return how often studies of `n` questions are significant in the randomisation test.

    Each study draws `n` of the paired differences with replacement, after all were moved so that
    their mean is `difference`. It is the test of the comparison, so it holds for differences
    that are far from normal too.
    """
    import numpy as np

    moved = np.asarray(differences, dtype=np.float64)
    moved = moved - moved.mean() + difference
    drawn = moved[places_drawn(len(moved), (SIMULATED, n), seed)]
    tests = randomisation_tests(drawn, Resampling(resamples=SIMULATED, seed=seed))
    return sum(test.p <= level + 1e-12 for test in tests) / SIMULATED


CURVE = (5, 10, 15, 20, 30, 40, 50, 75, 100, 150, 200, 300, 500, 1000)
"""The numbers of questions that the curve of a plan has."""
MOST_SIMULATED = 2000
"""Plans with more questions are not simulated: the t test is all but exact there."""


class RatingEffort(Struct, frozen=True):
    """The work that a question is: its things and answers, the raters, and their pace.

    ``things`` are the cards and empty lists to judge, ``answers`` the answers to rate, each as a
    mean over questions. ``times`` raters judge each question. ``pace`` is the median of seconds
    from one click to the next, ``None`` before there are clicks.
    """

    things: float
    answers: float
    raters: int
    times: int
    pace: float | None

    def verdicts(self, questions: int) -> int:
        return round(questions * self.things * self.times)

    def ratings(self, questions: int) -> int:
        return round(questions * self.answers * self.times)

    def hours(self, questions: int) -> float | None:
        """Hours of all raters together; ``None`` without a pace."""
        if self.pace is None:
            return None
        return (self.verdicts(questions) + self.ratings(questions)) * self.pace / 3600


class RatingPlanWish(Struct, frozen=True):
    """The wish of a plan: the figure, the difference worth seeing, and how surely.

    ``deviation`` is entered; without it, that of the rated pair counts.
    """

    figure: str
    difference: float
    demand: Demand = field(default_factory=Demand)
    deviation: float | None = None
    seed: int = 20260301


class CurvePoint(Struct, frozen=True):
    """A number of questions, and the smallest difference it shows; ``upper`` with the limit."""

    questions: int
    shows: float
    upper: float | None


class RatingPlan(Struct, frozen=True):
    """The questions that a difference needs, what other numbers show, and the work of each.

    ``deviation`` is ``None`` where nothing is known of it: no rated pair, and none entered. The
    rest is empty then. ``effort`` is ``None`` before there are questions. ``upper`` values take the
    upper limit of a rated pair's deviation.
    ``has`` is the number of questions of the set, ``shows`` the smallest difference these show.
    ``simulated`` is the power of the comparison's own test with the questions needed, from the
    seed of the wish.
    """

    wish: RatingPlanWish
    pair: tuple[str, str] | None
    effort: RatingEffort | None
    has: int
    spread: PairedSpread | None = None
    deviation: float | None = None
    shows: float | None = None
    shows_upper: float | None = None
    needed: int | None = None
    needed_upper: int | None = None
    simulated: float | None = None
    curve: tuple[CurvePoint, ...] = ()

    @property
    def simulated_error(self) -> float | None:
        share = self.simulated
        return None if share is None else sqrt(share * (1 - share) / SIMULATED)


def plan(
    wish: RatingPlanWish,
    effort: RatingEffort | None,
    *,
    has: int,
    pair: tuple[str, str] | None = None,
    differences: Sequence[float] = (),
) -> RatingPlan:
    """Return the plan; `differences` are those of a rated `pair`, one for each question."""
    rated = None if wish.deviation else spread(differences)
    deviation = wish.deviation or (rated.deviation if rated else None)
    if deviation is None:
        return RatingPlan(wish, pair, effort, has)
    difference, demand, upper = wish.difference, wish.demand, rated.upper if rated else None

    def shown(n: int, deviation: float | None) -> float | None:
        return smallest_difference(n, deviation, demand) if deviation else None

    needed = questions_needed(difference, deviation, demand)
    numbers = {*CURVE, *([has] if has > 1 else []), *([needed] if needed else [])}
    simulated = None
    if rated and needed is not None and needed <= MOST_SIMULATED:
        level, seed = demand.level, wish.seed
        simulated = simulated_power(differences, needed, difference, seed=seed, level=level)
    return RatingPlan(
        wish=wish,
        pair=pair,
        effort=effort,
        spread=rated,
        deviation=deviation,
        has=has,
        shows=shown(has, deviation),
        shows_upper=shown(has, upper),
        needed=needed,
        needed_upper=questions_needed(difference, upper, demand) if upper else None,
        simulated=simulated,
        curve=tuple(
            CurvePoint(n, shown(n, deviation) or 0.0, shown(n, upper)) for n in sorted(numbers)
        ),
    )
