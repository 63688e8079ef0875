"""A rating plan in words and as a table; and what a comparison could have shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from msgspec.structs import asdict

from relevansi import notation
from relevansi.exporters.comparisons.figure_names import (
    difference_unit,
    figure_name,
    unit_of,
)
from relevansi.exporters.frame.tables import Cell, Column, Section, Table, whole_number
from relevansi.i18n import gettext, ngettext
from relevansi.metrics.comparisons.differences import Difference, highest_value
from relevansi.metrics.comparisons.significance import smallest_p
from relevansi.metrics.intervals import LEVEL
from relevansi.metrics.planning.power import (
    MOST,
    MOST_SIMULATED,
    CurvePoint,
    Demand,
    RatingPlan,
    difference_shown,
    mixture,
)


def section(found: RatingPlan) -> Section:
    said = tuple(_sentences(found))
    title = gettext("What a number of questions can show")
    if found.deviation is None:
        return Section("plan", title, said, ())
    headings = [
        gettext("Questions"),
        gettext("Differences from"),
        *([] if found.effort is None else [gettext("Verdicts"), gettext("Hours")]),
    ]
    table = Table(
        "plan",
        title,
        tuple(Column(heading, numeric=True) for heading in headings),
        tuple(_row(found, point) for point in found.curve),
        (
            gettext(
                "%(test)s on two sides at %(level)s, power %(power)s. Only questions with a value "
                "in both runs count.",
                test=_test(found),
                level=notation.percent(found.wish.demand.level),
                power=notation.percent(found.wish.demand.power),
            ),
        ),
    )
    return Section("plan", title, said, (table,))


def _test(found: RatingPlan) -> str:
    if found.mixed is None:
        return gettext("Paired t test, a lower limit,")
    if found.mixed.is_binary:
        return gettext("Exact McNemar test")
    return gettext("Exact randomisation test, simulated,")


def _sentences(found: RatingPlan) -> Iterator[str]:
    wish, figure = found.wish, figure_name(found.wish.figure)
    if found.deviation is None:
        yield gettext(
            "Nothing is known yet of how much two runs differ from question to question. Rate "
            "a few questions of two runs first, or enter a standard deviation."
        )
        return
    if found.mixed is None or found.pair is None:
        yield gettext(
            "%(figure)s: the differences are taken to vary by a standard deviation of %(s)s, as "
            "entered. The paired t test then gives a lower limit: where most differences are 0, "
            "more questions are needed.",
            figure=figure,
            s=notation.four(found.deviation),
        )
    else:
        yield ngettext(
            "%(figure)s: %(first)s and %(second)s differ on %(share)s of %(n)s question, by "
            "%(size)s on average there.",
            "%(figure)s: %(first)s and %(second)s differ on %(share)s of %(n)s questions, by "
            "%(size)s on average there.",
            found.mixed.n,
            figure=figure,
            first=found.pair[0],
            second=found.pair[1],
            share=notation.percent(round(found.mixed.share, 2)),
            size=_amount(found, fmean(found.mixed.sizes)),
        )
    if found.shows is not None:
        yield ngettext(
            "With %(n)s question you can show differences from %(shows)s up.",
            "With %(n)s questions you can show differences from %(shows)s up.",
            found.has,
            shows=_amount(found, found.shows),
        )
    if found.needed is None:
        most = MOST_SIMULATED if found.mixed else MOST
        yield gettext(
            "No number of questions up to %(most)s shows a difference of %(d)s.",
            most=notation.number(most),
            d=_amount(found, wish.difference),
        )
    else:
        yield from _needed(found, found.needed)


def _amount(found: RatingPlan, value: float) -> str:
    return notation.amount(value, unit_of(found.wish.figure))


def _needed(found: RatingPlan, needed: int) -> Iterator[str]:
    effort = found.effort
    yield gettext(
        "A difference of %(d)s takes %(n)s questions at a power of %(power)s, tested at %(level)s.",
        d=_amount(found, found.wish.difference),
        n=notation.number(needed),
        power=notation.percent(found.wish.demand.power),
        level=notation.percent(found.wish.demand.level),
    )
    if effort is None:
        yield gettext("How many verdicts that takes is known once a run is imported.")
        return
    work = gettext(
        "That is %(verdicts)s verdicts and %(ratings)s ratings of answers: %(things)s cards and "
        "empty lists per question, each judged by %(times)s of %(raters)s raters.",
        verdicts=notation.number(effort.verdicts(needed)),
        ratings=notation.number(effort.ratings(needed)),
        things=notation.number(round(effort.things, 1)),
        times=notation.number(effort.times),
        raters=notation.number(effort.raters),
    )
    pace = gettext("How long that takes is known after the first verdicts.")
    hours = effort.hours(needed)
    if hours is not None and effort.pace is not None:
        pace = gettext(
            "At %(pace)s seconds each this takes %(hours)s hours, %(own)s for each rater.",
            pace=notation.number(round(effort.pace, 1)),
            hours=notation.number(round(hours, 1)),
            own=notation.number(round(hours / effort.raters, 1)),
        )
    yield f"{work} {pace}"


def _row(found: RatingPlan, point: CurvePoint) -> tuple[Cell, ...]:
    said = notation.UNDEFINED if point.shows is None else _amount(found, point.shows)
    cells = [whole_number(point.questions), Cell(said, (point.shows,))]
    if found.effort is not None:
        hours = found.effort.hours(point.questions)
        cells.append(whole_number(found.effort.verdicts(point.questions)))
        said = notation.UNDEFINED if hours is None else notation.decimals(hours, 1)
        cells.append(Cell(said, (hours,)))
    return tuple(cells)


def plan_json(found: RatingPlan) -> dict[str, Any]:
    """Return the plan as plain values; what is not known is null.

    ``questions`` are those that the difference takes, with the judgments and hours for them;
    ``smallest_difference`` is what the set's own questions (``set_questions``) can show. Without
    questions there is no ``effort``.
    """
    effort, needed = found.effort, found.needed
    return {
        "figure": found.wish.figure,
        "difference": found.wish.difference,
        "power": found.wish.demand.power,
        "level": found.wish.demand.level,
        "pair": found.pair and list(found.pair),
        "deviation": found.deviation,
        "mixture": found.mixed and {"share": found.mixed.share, **asdict(found.mixed)},
        "questions": needed,
        "questions_power": found.power,
        "judgments": effort.verdicts(needed) if effort and needed else None,
        "hours": effort.hours(needed) if effort and needed else None,
        "set_questions": found.has,
        "smallest_difference": found.shows,
        "effort": effort and asdict(effort),
        "curve": [
            {
                **asdict(point),
                "verdicts": effort and effort.verdicts(point.questions),
                "hours": effort and effort.hours(point.questions),
            }
            for point in found.curve
        ],
    }


def shown_by_one(difference: Difference) -> str:
    """Return the smallest difference that these questions can show, in words; "" where unknown."""
    if too_few(difference):
        return smallest_p_of(difference)
    shown = _shown(difference)
    if shown is None:
        return ""
    return ngettext(
        "%(n)s question can show differences from %(difference)s up (power %(power)s, this test).",
        "%(n)s questions can show differences from %(difference)s up (power %(power)s, this test).",
        difference.n,
        difference=notation.amount(shown, difference_unit(difference)),
        power=notation.percent(Demand().power),
    )


def too_few(difference: Difference) -> bool:
    """Whether no outcome of so few questions could be significant after Holm's correction."""
    return difference.pairs * smallest_p(difference.n) > LEVEL


def smallest_p_of(difference: Difference) -> str:
    n, pairs, least = difference.n, difference.pairs, smallest_p(difference.n)
    if pairs == 1:
        return ngettext(
            "With %(n)s question the smallest p is %(p)s: no outcome could be significant.",
            "With %(n)s questions the smallest p is %(p)s: no outcome could be significant.",
            n,
            p=notation.four(least, "probability"),
        )
    return ngettext(
        "With %(n)s question the smallest p is %(p)s, %(holm)s after Holm over %(pairs)s pairs: no "
        "outcome could be significant.",
        "With %(n)s questions the smallest p is %(p)s, %(holm)s after Holm over %(pairs)s pairs: "
        "no outcome could be significant.",
        n,
        p=notation.four(least, "probability"),
        holm=notation.four(min(1.0, pairs * least), "probability"),
        pairs=notation.number(pairs),
    )


class Detectable(NamedTuple):
    """The smallest difference that so many questions can show, at this power."""

    n: int
    difference: float
    power: float


def detectable(differences: Sequence[Difference]) -> Detectable | None:
    """Return what all tests of `differences` can show: that of the test which can show least."""
    shown = [(value, one.n) for one in differences if (value := _shown(one)) is not None]
    return Detectable(max(shown)[1], max(shown)[0], Demand().power) if shown else None


def _shown(difference: Difference) -> float | None:
    mixed = mixture(difference.differences)
    if mixed is None:
        return None
    demand, highest = Demand(level=LEVEL / difference.pairs), highest_value(difference.figure)
    return difference_shown(difference.n, mixed, demand, highest=highest)
