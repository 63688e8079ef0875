"""A rating plan in words, as a table and as a curve."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import log
from typing import Any

from msgspec.structs import asdict

from webapp import notation
from webapp.exporters.comparisons import words
from webapp.exporters.frame.canvas import PAGE, SMALL, WIDE, Canvas, Picture
from webapp.exporters.frame.tables import Cell, Column, Table, whole_number
from webapp.i18n import gettext, ngettext
from webapp.metrics.planning.power import CurvePoint, RatingPlan

HEIGHT = 200.0
LEFT, FOOT, TOP, MARGIN = 44.0, 34.0, 14.0, 24.0
LABELLED = (10, 30, 100, 300, 1000)


def sentences(found: RatingPlan) -> tuple[str, ...]:
    """Return what the plan comes to: what the questions show, what a difference takes."""
    if found.deviation is None:
        return (
            gettext(
                "Nothing is known yet of how much two runs differ from question to question. Rate "
                "a few questions of two runs first, or enter a standard deviation."
            ),
        )
    said = [_basis(found, found.deviation), _shows(found), *_needed(found), _ties(found)]
    return tuple(filter(None, said))


def _basis(found: RatingPlan, deviation: float) -> str:
    figure = words.figure_name(found.wish.figure)
    if found.spread is None or found.pair is None:
        return gettext(
            "%(figure)s: the differences are taken to vary by a standard deviation of %(s)s, as "
            "entered.",
            figure=figure,
            s=notation.four(deviation),
        )
    return ngettext(
        "%(figure)s: between %(first)s and %(second)s the differences vary by a standard "
        "deviation of %(s)s over %(n)s question; it is at most %(upper)s (upper 80%% limit for "
        "normal differences).",
        "%(figure)s: between %(first)s and %(second)s the differences vary by a standard "
        "deviation of %(s)s over %(n)s questions; it is at most %(upper)s (upper 80%% limit for "
        "normal differences).",
        found.spread.n,
        figure=figure,
        first=found.pair[0],
        second=found.pair[1],
        s=notation.four(found.spread.deviation),
        upper=notation.four(found.spread.upper),
    )


def _ties(found: RatingPlan) -> str:
    if found.spread is None or not found.spread.mostly_ties:
        return ""
    return gettext(
        "%(ties)s of these %(n)s differences are 0. The upper limit is then often too low, so plan "
        "for more questions, and plan again once some are rated.",
        ties=notation.number(found.spread.ties),
        n=notation.number(found.spread.n),
    )


def _shows(found: RatingPlan) -> str:
    if found.shows is None:
        return ""
    return ngettext(
        "With %(n)s question you can show differences from %(shows)s up.",
        "With %(n)s questions you can show differences from %(shows)s up.",
        found.has,
        shows=_or_upper(found, found.shows, found.shows_upper),
    )


def _or_upper(found: RatingPlan, value: float, upper: float | None) -> str:
    said = notation.amount(value, words.unit_of(found.wish.figure))
    if upper is None:
        return said
    return gettext(
        "%(value)s (%(upper)s with the upper limit)",
        value=said,
        upper=notation.amount(upper, words.unit_of(found.wish.figure)),
    )


def _needed(found: RatingPlan) -> list[str]:
    wish = found.wish
    difference = notation.amount(wish.difference, words.unit_of(wish.figure))
    if found.needed is None:
        return [gettext("No number of questions shows a difference of %(d)s.", d=difference)]
    said = [
        gettext(
            "A difference of %(d)s takes %(n)s questions at a power of %(power)s, tested at "
            "%(level)s.",
            d=difference,
            n=notation.number(found.needed)
            if found.needed_upper is None
            else gettext(
                "%(value)s (%(upper)s with the upper limit)",
                value=notation.number(found.needed),
                upper=notation.number(found.needed_upper),
            ),
            power=notation.percent(wish.demand.power),
            level=notation.percent(wish.demand.level),
        )
    ]
    if found.simulated is not None:
        said.append(
            gettext(
                "The randomisation test of the comparison found it in %(share)s ± %(error)s of "
                "%(studies)s simulated studies (seed %(seed)s).",
                share=notation.percent(round(found.simulated.power, 3)),
                error=notation.percent(round(2 * found.simulated.error, 3)),
                studies=notation.number(found.simulated.studies),
                seed=found.simulated.seed,
            )
        )
    said.append(_work(found, found.needed))
    return said


def _work(found: RatingPlan, questions: int) -> str:
    effort = found.effort
    if effort is None:
        return gettext("How many verdicts that takes is known once a run is imported.")
    said = gettext(
        "That is %(verdicts)s verdicts and %(ratings)s ratings of answers: %(things)s cards and "
        "empty lists per question, each judged by %(times)s of %(raters)s raters.",
        verdicts=notation.number(effort.verdicts(questions)),
        ratings=notation.number(effort.ratings(questions)),
        things=notation.number(round(effort.things, 1)),
        times=notation.number(effort.times),
        raters=notation.number(effort.raters),
    )
    hours = effort.hours(questions)
    if hours is None or effort.pace is None:
        return " ".join([said, gettext("How long that takes is known after the first verdicts.")])
    return " ".join(
        [
            said,
            gettext(
                "At %(pace)s seconds each this takes %(hours)s hours, %(own)s for each rater.",
                pace=notation.number(round(effort.pace, 1)),
                hours=notation.number(round(hours, 1)),
                own=notation.number(round(hours / effort.raters, 1)),
            ),
        ]
    )


def curve_table(found: RatingPlan) -> Table:
    """Return the curve as a table: questions, the smallest difference they show, the work."""
    headings = [
        gettext("Questions"),
        gettext("Differences from"),
        *([] if found.spread is None else [gettext("With the upper limit")]),
        *([] if found.effort is None else [gettext("Verdicts"), gettext("Hours")]),
    ]
    return Table(
        "plan",
        gettext("What a number of questions can show"),
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


def _row(found: RatingPlan, point: CurvePoint) -> tuple[Cell, ...]:
    unit = words.unit_of(found.wish.figure)
    cells = [
        whole_number(point.questions),
        Cell(notation.amount(point.shows, unit), (point.shows,)),
    ]
    if found.spread is not None:
        said = notation.UNDEFINED if point.upper is None else notation.amount(point.upper, unit)
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
    effort, simulated, needed = found.effort, found.simulated, found.needed
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
        "simulated": simulated and {**asdict(simulated), "error": simulated.error},
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


def curve_title(found: RatingPlan) -> str:
    """Return what the curve shows, and what its dashed line is, where it has one."""
    if all(point.upper is None for point in found.curve):
        return gettext("Smallest difference that a number of questions shows")
    return gettext(
        "Smallest difference that a number of questions shows (dashed: with the upper limit)"
    )


def curve(found: RatingPlan) -> Picture:
    """Return the smallest difference against the number of questions, as a picture.

    Questions are on a logarithmic scale. A dot marks the questions of the set.
    """
    points = found.curve
    high = max(max(point.shows, point.upper or 0) for point in points)
    first, last = log(points[0].questions), log(points[-1].questions)

    def at(n: int, value: float) -> tuple[float, float]:
        across = (log(n) - first) / (last - first) * (WIDE - LEFT - MARGIN)
        return LEFT + across, TOP + (1 - value / high) * (HEIGHT - TOP - FOOT)

    canvas = Canvas(WIDE, PAGE)
    for share in (0.0, 0.5, 1.0):
        _, y = at(points[0].questions, share * high)
        canvas.line((LEFT, y), (WIDE - MARGIN, y), stroke="rule")
        said = notation.amount(share * high, words.unit_of(found.wish.figure))
        canvas.text((LEFT - 6, y + 4), said, size=SMALL, fill="soft", anchor="end")
    for n in LABELLED:
        if points[0].questions <= n <= points[-1].questions:
            x, y = at(n, 0)
            canvas.text((x, y + 15), notation.number(n), size=SMALL, fill="soft", anchor="middle")
    _, foot = at(points[0].questions, 0)
    canvas.text(
        (WIDE - MARGIN, foot + 30), gettext("questions"), size=SMALL, fill="soft", anchor="end"
    )
    _line(canvas, [at(p.questions, p.upper) for p in points if p.upper is not None], "4 3")
    _line(canvas, [at(point.questions, point.shows) for point in points])
    if found.shows is not None:
        mark = at(found.has, found.shows)
        canvas.dot(mark)
        label = gettext(
            "%(n)s: %(d)s",
            n=notation.number(found.has),
            d=notation.amount(found.shows, words.unit_of(found.wish.figure)),
        )
        canvas.text((mark[0] + 8, mark[1] - 8), label)
    return canvas.picture(
        "plan-curve",
        curve_title(found),
        " ".join(sentences(found)),
        HEIGHT,
    )


def _line(canvas: Canvas, places: Sequence[tuple[float, float]], dash: str = "") -> None:
    for start, end in pairwise(places):
        canvas.line(start, end, stroke="accent", width=2, dash=dash)
