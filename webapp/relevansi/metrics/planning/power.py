"""A rating plan: how many questions a difference needs, what it can show, and the hours it takes.

A difference of two runs is tested on its paired differences, one for each question, by the test of
the comparison (``significance``) and at its level. Two rated runs give a `DifferenceMixture`: how
many questions differ, and by how much. A larger mean difference is modelled as more questions that
differ in favour of the higher run, by the same sizes. Where only a standard deviation is entered
the plan is that of the paired t test, a lower limit of the questions that the exact test needs.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cache, lru_cache, partial
from math import isnan, sqrt
from statistics import fmean, stdev

from msgspec import Struct, field

from relevansi.metrics.comparisons.significance import exact_p
from relevansi.metrics.intervals import LEVEL

MIN_QUESTIONS = 2  # one paired difference has no standard deviation
MAX_QUESTIONS = 1_000_000
"""The most questions that a plan from a standard deviation goes up to."""

MAX_SIMULATED = 2000
"""The most questions that a simulated plan goes up to."""

STUDIES = 500
"""The number of simulated studies from which a power is estimated."""

STEP = 0.01
"""The precision of differences, of simulated ones and in plans."""

_SEED = 20260301  # a plan shows the same numbers every time
_MAX_EXACT = 50
"""With more questions that differ, p of a simulated study is the normal distribution's."""


class Demand(Struct, frozen=True):
    """The aim of a test: significant at ``level`` with probability ``power``."""

    level: float = LEVEL
    power: float = 0.8


USUAL = Demand()


class DifferenceMixture(Struct, frozen=True):
    """The distribution of the paired differences of two rated runs, seen from the higher run.

    ``lost`` is the share of the `n` questions that the lower run wins, ``sizes`` are the
    differences that are not 0, without their signs. ``deviation`` is the standard deviation of all,
    zeros too.
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
        """Return the mixture moved to a mean `difference`: shares won and lost, factor of sizes.

        First more questions are won; once all differ, fewer are lost; once none is lost, the sizes
        grow.
        """
        share = difference / fmean(self.sizes)
        won = min(self.lost + share, (1 + share) / 2, 1.0)
        return won, min(self.lost, 1 - won), max(1.0, share)


def mixture(differences: Sequence[float]) -> DifferenceMixture | None:
    """Return the mixture of paired differences; ``None`` for fewer than two, or if all are 0.

    >>> mixed = mixture([0.2, -0.2, 0.6, 0.0])
    >>> mixed.lost, mixed.sizes
    (0.25, (0.2, 0.2, 0.6))
    """
    rounded = [round(difference, 9) for difference in differences]
    if not any(rounded) or len(rounded) < MIN_QUESTIONS:
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
    """Return the power of the comparison's test: the chance that `n` questions are significant.

    The true mean difference is `difference`. Successes: the exact power of McNemar's test, from the
    shares of questions that each run alone wins. Other figures: the share of ``STUDIES`` simulated
    studies, each of `n` differences drawn from the mixture, with a fixed seed.
    Reference: Connor (1987), Sample size for testing differences in proportions for the
    paired-sample design. Biometrics 43, 207-211 (exact, without his approximation).
    """
    won, lost, factor = mixed.raised(difference)
    if mixed.is_binary:
        return mcnemar_power(n, won, lost, level)
    import numpy as np  # noqa: PLC0415 - a tenth of a second
    from scipy.special import ndtr  # type: ignore[import-untyped]  # noqa: PLC0415 - a quarter of a second

    stream = np.random.default_rng(_SEED)
    outcomes = stream.random((STUDIES, n))
    # Sizes in whole steps, as the exact test takes whole numbers.
    sizes = np.maximum(1, np.round(factor * np.array(mixed.sizes) / STEP)).astype(np.int64)
    values = sizes[stream.integers(0, len(sizes), (STUDIES, n))]
    values = np.where(outcomes < won, values, np.where(outcomes < won + lost, -values, 0))
    n_apart = (values != 0).sum(axis=1)
    z = np.abs(values.sum(axis=1)) / np.sqrt(np.maximum(1, (values**2).sum(axis=1)))
    normal_p = 2 * ndtr(-z)
    # The exact p is slow to compute, so only studies near the level get it: others are decided by
    # Hoeffding's bound of p, by the smallest p that so few differences can have, or by the normal
    # distribution where many differ.
    rejected = 2 * np.exp(-(z**2) / 2) <= level
    rejected |= (n_apart > _MAX_EXACT) & (normal_p <= level)
    rejected &= 2.0 ** (1 - n_apart) <= level
    near = ~rejected & (n_apart <= _MAX_EXACT) & (normal_p <= 3 * level)
    studies = (tuple(sorted(study[study != 0].tolist())) for study in values[near])
    n_exact = sum(_is_significant(study, level) for study in studies)
    return (int(rejected.sum()) + n_exact) / STUDIES


@lru_cache(maxsize=65536)
def _is_significant(differences: tuple[int, ...], level: float) -> bool:
    return exact_p(differences) <= level + 1e-12


@lru_cache(maxsize=4096)
def mcnemar_power(n: int, won: float, lost: float, level: float = LEVEL) -> float:
    """Return the exact power of the two-sided McNemar test.

    `won` and `lost` are the shares of questions on which only the one or the other run succeeds.

    >>> round(mcnemar_power(30, 0.16, 0.0), 3)  # P(Bin(30, 0.16) >= 6)
    0.345
    """
    import numpy as np  # noqa: PLC0415 - a tenth of a second
    from scipy.special import bdtr, bdtrik  # noqa: PLC0415 - a quarter of a second

    # For each number of discordant questions (one run alone succeeds) the most successes of the
    # loser at which the test rejects; bdtrik inverts the distribution only approximately.
    discordant = np.arange(1, n + 1)
    limits = np.floor(bdtrik(level / 2, discordant, 0.5))
    limits -= 2 * bdtr(np.maximum(limits, 0), discordant, 0.5) > level + 1e-12
    can_reject = 2 * 0.5**discordant <= level + 1e-12
    either = won + lost
    if not either or not can_reject.any():
        return 0.0
    discordant, limits = discordant[can_reject], limits[can_reject]
    chances = bdtr(discordant, n, either) - bdtr(discordant - 1, n, either)
    rejected = bdtr(limits, discordant, won / either) + bdtr(limits, discordant, lost / either)
    return float((chances * rejected).sum())


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
    """Return the fewest questions with the demanded power, ``None`` if ``MAX_QUESTIONS`` lack it.

    >>> questions_needed(0.5, 1.0)
    34
    """
    numbers = range(MIN_QUESTIONS, MAX_QUESTIONS + 1)
    place = bisect_left(
        numbers, demand.power, key=lambda n: power(n, difference, deviation, level=demand.level)
    )
    return numbers[place] if place < len(numbers) else None


def smallest_difference(n: int, deviation: float, demand: Demand = USUAL) -> float | None:
    """Return the smallest difference that `n` questions show with the demanded power.

    ``None`` of fewer than two questions.

    >>> round(smallest_difference(34, 1.0), 4)
    0.495
    """
    if n < MIN_QUESTIONS:
        return None
    return _noncentrality(n, demand) * deviation / sqrt(n)


def questions_to_show(
    difference: float, mixed: DifferenceMixture, demand: Demand = USUAL
) -> int | None:
    """Return the fewest questions with the demanded power, ``None`` if ``MAX_SIMULATED`` lack it.

    The power of McNemar's test goes up and down a little as questions are added: the number is the
    first from which the next nine have the power too.
    """
    numbers = range(MIN_QUESTIONS, MAX_SIMULATED + 1)

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
    """Return the smallest difference that `n` questions show, in steps of ``STEP``.

    ``None`` where they show none up to `highest`.
    """
    steps = range(1, round(highest / STEP) + 1)
    place = bisect_left(
        steps, demand.power, key=lambda step: power_of_test(mixed, n, step * STEP, demand.level)
    )
    return round(steps[place] * STEP, 9) if place < len(steps) else None


@cache
def _noncentrality(n: int, demand: Demand) -> float:
    """Return the non-centrality at which `n` differences have the demanded power."""
    low, high = 0.0, 1.0
    while _power(n, high, demand.level) < demand.power:
        high *= 2
    middle = (low + high) / 2
    # Bisection until no float lies between the two.
    while low < middle < high:
        if _power(n, middle, demand.level) < demand.power:
            low = middle
        else:
            high = middle
        middle = (low + high) / 2
    return high


@cache
def t_quantile(p: float, df: float) -> float:
    """Return the t below which Student's t with `df` degrees of freedom lies with probability `p`.

    >>> round(t_quantile(0.975, 29), 6)
    2.04523
    """
    from scipy.special import stdtrit  # noqa: PLC0415 - a quarter of a second

    return float(stdtrit(df, p))


def _power(n: int, noncentrality: float, level: float) -> float:
    from scipy.special import nctdtr  # noqa: PLC0415 - a quarter of a second

    limit = t_quantile(1 - level / 2, n - 1)
    above = 1 - float(nctdtr(n - 1, noncentrality, limit))
    below = float(nctdtr(n - 1, noncentrality, -limit))
    # scipy gives NaN for a lower tail that is all but 0.
    return above + (0.0 if isnan(below) else below)


CURVE = (10, 20, 30, 50, 75, 100, 200, 500)
"""The numbers of questions of which a plan says what they show."""


class RatingEffort(Struct, frozen=True):
    """The judging of one question: its items and answers, the raters, and their pace.

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
    """The aim of a plan: a figure, the difference to be shown in it, and how surely.

    ``deviation`` is the standard deviation that a user entered; without it the mixture of the rated
    pair is used. ``highest`` is the largest difference that the figure can have.
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

    ``mixed`` is ``None`` where a deviation is entered. With neither a deviation nor rated runs the
    fields behind it are empty. ``effort`` is ``None`` before there are questions. ``has`` is the
    number of questions of the set, ``shows`` the smallest difference these show. ``power`` is that
    of the questions needed.
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
    difference_at: Callable[[int], float | None]
    if entered:
        needed = questions_needed(difference, entered, demand)
        power_of = partial(power, difference=difference, deviation=entered, level=demand.level)
        difference_at = partial(smallest_difference, deviation=entered, demand=demand)
    elif mixed:
        needed = questions_to_show(difference, mixed, demand)
        power_of = partial(power_of_test, mixed, difference=difference, level=demand.level)
        difference_at = partial(difference_shown, mixed=mixed, demand=demand, highest=wish.highest)
    else:
        return RatingPlan(wish, pair, effort, has)
    numbers = {*CURVE, has, needed or has} - {0, 1}
    return RatingPlan(
        wish=wish,
        pair=pair,
        effort=effort,
        has=has,
        mixed=mixed,
        shows=difference_at(has) if has > 1 else None,
        needed=needed,
        power=None if needed is None else power_of(needed),
        curve=tuple(CurvePoint(n, difference_at(n)) for n in sorted(numbers)),
    )
