"""A rating plan: the questions that a difference needs, and the work they are."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field

from webapp.metrics.planning.power import (
    Demand,
    PairedSpread,
    SimulatedPower,
    questions_needed,
    simulated_power,
    smallest_difference,
    spread,
)

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
        """Number of verdicts on cards and empty lists."""
        return round(questions * self.things * self.times)

    def ratings(self, questions: int) -> int:
        """Number of ratings of answers."""
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
    ``simulated`` is the power of the comparison's own test with the questions needed.
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
    simulated: SimulatedPower | None = None
    curve: tuple[CurvePoint, ...] = ()


def plan(
    wish: RatingPlanWish,
    effort: RatingEffort | None,
    *,
    has: int,
    pair: tuple[str, str] | None = None,
    differences: Sequence[float] = (),
) -> RatingPlan:
    """Return the plan; `differences` are those of a rated `pair`, one for each question."""
    rated = spread(differences)
    deviation = wish.deviation or (rated.deviation if rated else None)
    upper = rated.upper if rated and not wish.deviation else None
    if deviation is None:
        return RatingPlan(wish, pair, effort, has)
    needed = questions_needed(wish.difference, deviation, wish.demand)
    numbers = sorted({*CURVE, *([has] if has > 1 else []), *([needed] if needed else [])})
    simulated = None
    if rated and not wish.deviation and needed is not None and needed <= MOST_SIMULATED:
        level, seed = wish.demand.level, wish.seed
        simulated = simulated_power(differences, needed, wish.difference, seed=seed, level=level)
    return RatingPlan(
        wish=wish,
        pair=pair,
        effort=effort,
        spread=rated if not wish.deviation else None,
        deviation=deviation,
        has=has,
        shows=smallest_difference(has, deviation, wish.demand),
        shows_upper=smallest_difference(has, upper, wish.demand) if upper else None,
        needed=needed,
        needed_upper=questions_needed(wish.difference, upper, wish.demand) if upper else None,
        simulated=simulated,
        curve=tuple(_point(n, deviation, upper, wish.demand) for n in numbers),
    )


def _point(n: int, deviation: float, upper: float | None, demand: Demand) -> CurvePoint:
    shows = smallest_difference(n, deviation, demand)
    assert shows is not None  # every number of the curve is two or more
    return CurvePoint(n, shows, smallest_difference(n, upper, demand) if upper else None)
