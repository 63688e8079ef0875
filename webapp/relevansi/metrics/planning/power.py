"""A rating plan: the questions that a difference needs, what they show, and the work they are.

A difference of two runs is tested on its paired differences, one for each question, by the test of
the comparison (``significance``) and at its level. Of two rated runs the `DifferenceMixture` is
known: how many questions differ, and by how much. A larger difference of the means is taken to be
more questions that differ in favour of the higher run, by as much. Where only a standard deviation
is entered the plan is that of the paired t test, which is a lower limit.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import cache, lru_cache
from math import isnan, sqrt
from statistics import fmean, stdev

from msgspec import Struct, field

from relevansi.metrics.comparisons.significance import exact_p
from relevansi.metrics.intervals import LEVEL

FEWEST = 2
"""One paired difference has no standard deviation."""
MOST = 1_000_000
"""No plan goes beyond so many questions."""
MOST_SIMULATED = 2000
"""A simulated plan goes up to so many questions."""
STUDIES = 500
"""So many studies are simulated for a power."""
STEP = 0.01
"""Differences are told apart by so much."""

_SEED = 20260301
_MOST_EXACT = 50
"""With more questions that differ a simulated study has the normal distribution's p."""


class Demand(Struct, frozen=True):
    """The aim of a test: significant at ``level`` with probability ``power``."""

    level: float = LEVEL
    power: float = 0.8


USUAL = Demand()


class DifferenceMixture(Struct, frozen=True):
    """How the paired differences of two rated runs are mixed, seen from the higher run.

    ``lost`` is the share of the `n` questions that the lower run wins, ``sizes`` are the
    differences that are not 0, without their signs. ``deviation`` is the
    standard deviation of all, zeros too.
    """

    n: int
    lost: float
    sizes: tuple[float, ...]
    deviation: float

    @property
    def share(self) -> float:
        """The share of the questions that differ."""
        return len(self.sizes) / self.n

    @property
    def is_binary(self) -> bool:
        return set(self.sizes) == {1.0}

    def raised(self, difference: float) -> tuple[float, float, float]:
        """The shares of questions won and lost at a mean `difference`, and the factor of the sizes.

        First more are won; once all differ, fewer are lost; once none is lost, sizes grow.
        """
        share = difference / fmean(self.sizes)
        won = min(self.lost + share, (1 + share) / 2, 1.0)
        return won, min(self.lost, 1 - won), max(1.0, share)


def mixture(differences: Sequence[float]) -> DifferenceMixture | None:
    """Return how paired differences are mixed; ``None`` where none is different from 0.

    >>> found = mixture([0.2, -0.2, 0.6, 0.0])
    >>> found.lost, found.sizes
    (0.25, (0.2, 0.2, 0.6))
    """
    rounded = [round(difference, 9) for difference in differences]
    if not any(rounded) or len(rounded) < FEWEST:
        return None
    sign = 1 if sum(rounded) >= 0 else -1
    return DifferenceMixture(
        n=len(rounded),
        lost=sum(sign * difference < 0 for difference in rounded) / len(rounded),
        sizes=tuple(abs(difference) for difference in rounded if difference),
        deviation=stdev(rounded),
    )


@lru_cache(maxsize=4096)
def power_of_test(mixed: DifferenceMixture, n: int, difference: float, level: float) -> float:
    """Return how often `n` questions are significant in the test of the comparison.

    Successes: the exact power of McNemar's test, from the shares of questions that each run alone
    wins. Other figures: the share of ``STUDIES`` simulated studies, each of `n` differences drawn
    from the mixture, always the same ones.
    Reference: Connor (1987), Sample size for testing differences in proportions for the
    paired-sample design. Biometrics 43, 207-211 (exact, without his approximation).
    """
    won, lost, factor = mixed.raised(difference)
    if mixed.is_binary:
        return mcnemar_power(n, won, lost, level)
    import numpy as np  # noqa: PLC0415 - a tenth of a second
    from scipy.special import ndtr  # type: ignore[import-untyped]  # noqa: PLC0415 - late: it takes a while

    stream = np.random.default_rng(_SEED)
    drawn = stream.random((STUDIES, n))
    sizes = np.maximum(1, np.round(factor * np.array(mixed.sizes) / STEP)).astype(np.int64)
    values = sizes[stream.integers(0, len(sizes), (STUDIES, n))]
    values = np.where(drawn < won, values, np.where(drawn < won + lost, -values, 0))
    apart = (values != 0).sum(axis=1)
    distance = np.abs(values.sum(axis=1)) / np.sqrt(np.maximum(1, (values**2).sum(axis=1)))
    normal = 2 * ndtr(-distance)
    # The exact p is dear: it is not asked where a bound of it (Hoeffding), or so many questions
    # that the sum is normal, decide.
    rejected = 2 * np.exp(-(distance**2) / 2) <= level
    rejected |= (apart > _MOST_EXACT) & (normal <= level)
    rejected &= 2.0 ** (1 - apart) <= level
    near = ~rejected & (apart <= _MOST_EXACT) & (normal <= 3 * level)
    studies = (tuple(sorted(study[study != 0].tolist())) for study in values[near])
    exact = sum(_is_found(study, level) for study in studies)
    return (int(rejected.sum()) + exact) / STUDIES


@lru_cache(maxsize=65536)
def _is_found(differences: tuple[int, ...], level: float) -> bool:
    return exact_p(differences) <= level + 1e-12


@lru_cache(maxsize=4096)
def mcnemar_power(n: int, won: float, lost: float, level: float = LEVEL) -> float:
    """Return the exact power of the two-sided McNemar test.

    `won` and `lost` are the shares of questions on which only the one or the other run succeeds.

    >>> round(mcnemar_power(30, 0.16, 0.0), 3)  # P(Bin(30, 0.16) >= 6)
    0.345
    """
    import numpy as np  # noqa: PLC0415 - a tenth of a second
    from scipy.special import bdtr, bdtrik  # noqa: PLC0415 - late: it takes a while

    apart = np.arange(1, n + 1)  # so many questions on which one run alone succeeds
    most = np.floor(bdtrik(level / 2, apart, 0.5))
    most -= 2 * bdtr(np.maximum(most, 0), apart, 0.5) > level + 1e-12
    rejects = 2 * 0.5**apart <= level + 1e-12
    either = won + lost
    if not either or not rejects.any():
        return 0.0
    apart, most = apart[rejects], most[rejects]
    chance = bdtr(apart, n, either) - bdtr(apart - 1, n, either)
    rejected = bdtr(most, apart, won / either) + bdtr(most, apart, lost / either)
    return float((chance * rejected).sum())


def power(n: int, difference: float, deviation: float, *, level: float = LEVEL) -> float:
    """Return the power of the two-sided paired t test of `n` differences.

    ``P(|T| > t)`` for the non-central t with n - 1 degrees of freedom and non-centrality
    ``d sqrt(n) / s``, `t` being the (1 - level / 2) quantile of Student's t.
    Reference: Cohen (1988), Statistical Power Analysis for the Behavioral Sciences, ch. 2.

    >>> round(power(34, 0.5, 1.0), 4)
    0.8078
    """
    return _power(n, abs(difference) / deviation * sqrt(n), level)


def questions_needed(difference: float, deviation: float, demand: Demand = USUAL) -> int | None:
    """Return the fewest questions with the power asked; ``None`` where `MOST` are too few.

    >>> questions_needed(0.5, 1.0)
    34
    """
    numbers = range(FEWEST, MOST + 1)
    place = bisect_left(
        numbers, demand.power, key=lambda n: power(n, difference, deviation, level=demand.level)
    )
    return numbers[place] if place < len(numbers) else None


def smallest_difference(n: int, deviation: float, demand: Demand = USUAL) -> float | None:
    """Return the smallest difference that `n` questions show with the power asked.

    ``None`` of fewer than two questions.

    >>> round(smallest_difference(34, 1.0), 4)
    0.495
    """
    if n < FEWEST:
        return None
    return _shift(n, demand) * deviation / sqrt(n)


def questions_to_show(
    difference: float, mixed: DifferenceMixture, demand: Demand = USUAL
) -> int | None:
    """Return the fewest questions with the power asked; ``None`` above ``MOST_SIMULATED``.

    The power of McNemar's test goes up and down a little as questions are added: it has the power
    asked with any further number too.
    """
    numbers = range(FEWEST, MOST_SIMULATED + 1)

    def shows(n: int) -> bool:
        return power_of_test(mixed, n, difference, demand.level) >= demand.power

    place = bisect_left(numbers, True, key=shows)
    if place == len(numbers):
        return None
    n = numbers[place]
    while mixed.is_binary and not all(shows(more) for more in range(n, n + 10)):
        n += 1
    return n


def difference_shown(
    n: int, mixed: DifferenceMixture, demand: Demand = USUAL, *, highest: float = 1.0
) -> float | None:
    """Return the smallest difference, in steps of ``STEP``, that `n` questions show.

    ``None`` where they show none up to `highest`.
    """
    steps = range(1, round(highest / STEP) + 1)
    place = bisect_left(
        steps, demand.power, key=lambda step: power_of_test(mixed, n, step * STEP, demand.level)
    )
    return round(steps[place] * STEP, 9) if place < len(steps) else None


@cache
def _shift(n: int, demand: Demand) -> float:
    """Return the non-centrality at which `n` differences have the power asked."""
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
    """Return the t below which Student's t with `df` degrees of freedom lies with probability `p`.

    >>> round(t_quantile(0.975, 29), 6)
    2.04523
    """
    from scipy.special import stdtrit  # noqa: PLC0415 - a quarter of a second

    return float(stdtrit(df, p))


def _power(n: int, shift: float, level: float) -> float:
    from scipy.special import nctdtr  # noqa: PLC0415 - a quarter of a second

    limit = t_quantile(1 - level / 2, n - 1)
    above, below = 1 - float(nctdtr(n - 1, shift, limit)), float(nctdtr(n - 1, shift, -limit))
    return above + (0.0 if isnan(below) else below)  # not a number where it is all but 0


CURVE = (10, 20, 30, 50, 75, 100, 200, 500)
"""The numbers of questions that the curve of a plan has."""


class RatingEffort(Struct, frozen=True):
    """The work that a question is: its things and answers, the raters, and their pace.

    ``judged_items`` are the cards and empty lists to judge, ``answers`` the answers to rate, each
    as a mean over questions. ``times`` raters judge each question. ``pace`` is the median of
    seconds from one click to the next, ``None`` before there are clicks.
    """

    judged_items: float
    answers: float
    raters: int
    times: int
    pace: float | None

    def verdicts(self, questions: int) -> int:
        return round(questions * self.judged_items * self.times)

    def ratings(self, questions: int) -> int:
        return round(questions * self.answers * self.times)

    def hours(self, questions: int) -> float | None:
        """Hours of all raters together; ``None`` without a pace."""
        if self.pace is None:
            return None
        return (self.verdicts(questions) + self.ratings(questions)) * self.pace / 3600


class RatingPlanWish(Struct, frozen=True):
    """The wish of a plan: the figure, the difference worth seeing, and how surely.

    ``deviation`` is entered; without it, the mixture of the rated pair counts. ``highest`` is the
    largest difference that the figure can have.
    """

    figure: str
    difference: float
    demand: Demand = field(default_factory=Demand)
    deviation: float | None = None
    highest: float = 1.0


class CurvePoint(Struct, frozen=True):
    """A number of questions, and the smallest difference it shows, ``None`` if it shows none."""

    questions: int
    shows: float | None


class RatingPlan(Struct, frozen=True):
    """The questions that a difference needs, what other numbers show, and the work of each.

    ``mixed`` is ``None`` where a deviation is entered, or nothing is known: then the rest is empty.
    ``effort`` is ``None`` before there are questions. ``has`` is the number of questions of the
    set, ``shows`` the smallest difference these show. ``power`` is that of the questions needed.
    """

    wish: RatingPlanWish
    pair: tuple[str, str] | None
    effort: RatingEffort | None
    has: int
    mixed: DifferenceMixture | None = None
    shows: float | None = None
    needed: int | None = None
    power: float | None = None
    curve: tuple[CurvePoint, ...] = ()

    @property
    def deviation(self) -> float | None:
        """The standard deviation of the paired differences, ``None`` where nothing is known."""
        return self.wish.deviation or (self.mixed.deviation if self.mixed else None)


def plan(
    wish: RatingPlanWish,
    effort: RatingEffort | None,
    *,
    has: int,
    pair: tuple[str, str] | None = None,
    differences: Sequence[float] = (),
) -> RatingPlan:
    """Return the plan; `differences` are those of a rated `pair`, one for each question."""
    entered, demand, difference = wish.deviation, wish.demand, wish.difference
    mixed = None if entered else mixture(differences)
    if entered:
        needed = questions_needed(difference, entered, demand)
        reached = needed and power(needed, difference, entered, level=demand.level)
    elif mixed:
        needed = questions_to_show(difference, mixed, demand)
        reached = needed and power_of_test(mixed, needed, difference, demand.level)
    else:
        return RatingPlan(wish, pair, effort, has)

    def smallest_at(n: int) -> float | None:
        if mixed:
            return difference_shown(n, mixed, demand, highest=wish.highest)
        return smallest_difference(n, entered or 0.0, demand)

    numbers = {*CURVE, *([has] if has > 1 else []), *([needed] if needed else [])}
    curve = {n: CurvePoint(n, smallest_at(n)) for n in sorted(numbers)}
    return RatingPlan(
        wish=wish,
        pair=pair,
        effort=effort,
        has=has,
        mixed=mixed,
        shows=curve[has].shows if has in curve else None,
        needed=needed,
        power=reached or None,
        curve=tuple(curve.values()),
    )
