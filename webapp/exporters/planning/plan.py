"""A rating plan in words and as a table; and what a comparison could have shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import asdict

from webapp import notation
from webapp.exporters.comparisons import words
from webapp.exporters.frame.tables import Cell, Column, Section, Table, whole_number
from webapp.i18n import gettext, ngettext
from webapp.metrics.comparisons.differences import Difference
from webapp.metrics.planning.power import (
    SIMULATED,
    CurvePoint,
    Demand,
    RatingPlan,
    smallest_difference,
)


def section(found: RatingPlan) -> Section:
    said = tuple(_sentences(found))
    title = gettext("What a number of questions can show")
    if found.deviation is None:
        return Section("plan", title, said, ())
    headings = [
        gettext("Questions"),
        gettext("Differences from"),
        *([] if found.spread is None else [gettext("With the upper limit")]),
        *([] if found.effort is None else [gettext("Verdicts"), gettext("Hours")]),
    ]
    table = Table(
        "plan",
        title,
        tuple(Column(heading, numeric=True) for heading in headings),
        tuple(_row(found, point) for point in found.curve),
        (
            gettext(
                "Paired t test on two sides at %(level)s, power %(power)s; without Holm's "
                "correction for several pairs of runs. Only questions with a value in both runs "
                "count.",
                level=notation.percent(found.wish.demand.level),
                power=notation.percent(found.wish.demand.power),
            ),
        ),
    )
    return Section("plan", title, said, (table,))


def _sentences(found: RatingPlan) -> Iterator[str]:
    wish, figure = found.wish, words.figure_name(found.wish.figure)
    if found.deviation is None:
        yield gettext(
            "Nothing is known yet of how much two runs differ from question to question. Rate "
            "a few questions of two runs first, or enter a standard deviation."
        )
        return
    if found.spread is None or found.pair is None:
        yield gettext(
            "%(figure)s: the differences are taken to vary by a standard deviation of %(s)s, as "
            "entered.",
            figure=figure,
            s=notation.four(found.deviation),
        )
    else:
        yield ngettext(
            "%(figure)s: between %(first)s and %(second)s the differences vary by a standard "
            "deviation of %(s)s over %(n)s question; it is at most %(upper)s (upper 80%% limit for "
            "normal differences).",
            "%(figure)s: between %(first)s and %(second)s the differences vary by a standard "
            "deviation of %(s)s over %(n)s questions; it is at most %(upper)s (upper 80%% limit "
            "for normal differences).",
            found.spread.n,
            figure=figure,
            first=found.pair[0],
            second=found.pair[1],
            s=notation.four(found.spread.deviation),
            upper=notation.four(found.spread.upper),
        )
    if found.shows is not None:
        upper = found.shows_upper
        yield ngettext(
            "With %(n)s question you can show differences from %(shows)s up.",
            "With %(n)s questions you can show differences from %(shows)s up.",
            found.has,
            shows=_or_upper(_amount(found, found.shows), upper and _amount(found, upper)),
        )
    if found.needed is None:
        difference = _amount(found, wish.difference)
        yield gettext("No number of questions shows a difference of %(d)s.", d=difference)
    else:
        yield from _needed(found, found.needed)
    if found.spread is not None and 2 * found.spread.ties > found.spread.n:
        yield gettext(
            "%(ties)s of these %(n)s differences are 0. The upper limit is then often too low, so "
            "plan for more questions, and plan again once some are rated.",
            ties=notation.number(found.spread.ties),
            n=notation.number(found.spread.n),
        )


def _amount(found: RatingPlan, value: float) -> str:
    return notation.amount(value, words.unit_of(found.wish.figure))


def _or_upper(value: str, upper: str | float | None) -> str:
    if not upper:
        return value
    return gettext("%(value)s (%(upper)s with the upper limit)", value=value, upper=upper)


def _needed(found: RatingPlan, needed: int) -> Iterator[str]:
    upper, effort = found.needed_upper, found.effort
    yield gettext(
        "A difference of %(d)s takes %(n)s questions at a power of %(power)s, tested at %(level)s.",
        d=_amount(found, found.wish.difference),
        n=_or_upper(notation.number(needed), upper and notation.number(upper)),
        power=notation.percent(found.wish.demand.power),
        level=notation.percent(found.wish.demand.level),
    )
    if found.simulated is not None and found.simulated_error is not None:
        yield gettext(
            "The randomisation test of the comparison found it in %(share)s ± %(error)s of "
            "%(studies)s simulated studies (seed %(seed)s).",
            share=notation.percent(round(found.simulated, 3)),
            error=notation.percent(round(2 * found.simulated_error, 3)),
            studies=notation.number(SIMULATED),
            seed=found.wish.seed,
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
    cells = [whole_number(point.questions), Cell(_amount(found, point.shows), (point.shows,))]
    if found.spread is not None:
        said = notation.UNDEFINED if point.upper is None else _amount(found, point.upper)
        cells.append(Cell(said, (point.upper,)))
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
        "deviation_upper": found.spread and found.spread.upper,
        "questions": needed,
        "questions_upper": found.needed_upper,
        "judgments": effort.verdicts(needed) if effort and needed else None,
        "hours": effort.hours(needed) if effort and needed else None,
        "set_questions": found.has,
        "smallest_difference": found.shows,
        "simulated": None
        if found.simulated is None
        else {
            "power": found.simulated,
            "studies": SIMULATED,
            "seed": found.wish.seed,
            "error": found.simulated_error,
        },
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


def shown_by_one(difference: Difference, level: float) -> str:
    """Return the smallest difference that these questions can show, in words; "" where unknown."""
    shown = _shown(difference, level)
    if shown is None:
        return ""
    return ngettext(
        "%(n)s question can show differences from %(difference)s up (power %(power)s).",
        "%(n)s questions can show differences from %(difference)s up (power %(power)s).",
        difference.n,
        difference=notation.amount(shown, words.difference_unit(difference)),
        power=notation.percent(Demand().power),
    )


def shown_by_all(differences: Sequence[Difference], level: float) -> str:
    """Return the same as a clause on several tests: of each figure the pair that varies most."""
    found: dict[str, tuple[float, Difference]] = {}
    for one in differences:
        shown, name = _shown(one, level), words.difference_name(one)
        if shown is not None and (name not in found or shown > found[name][0]):
            found[name] = shown, one
    if not found:
        return ""
    amounts = [
        gettext(
            "%(difference)s on %(figure)s",
            difference=notation.amount(shown, words.difference_unit(one)),
            figure=name,
        )
        for name, (shown, one) in found.items()
    ]
    return gettext(
        "which have a power of %(power)s to show a difference of %(differences)s",
        power=notation.percent(Demand().power),
        differences=words.joined(amounts, gettext("and")),
    )


def _shown(difference: Difference, level: float) -> float | None:
    deviation = difference.deviation or 0.0
    if deviation <= 1e-12:  # nothing varies
        return None
    demand = Demand(level=round(level, 12))
    return smallest_difference(difference.n, deviation, demand)
