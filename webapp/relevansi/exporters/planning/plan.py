"""A rating plan in words and as a table; and what a comparison could have shown."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, log
from statistics import fmean
from typing import Any

from markupsafe import Markup
from msgspec.structs import asdict

from relevansi import notation
from relevansi.exporters.comparisons.figure_names import figure_name, unit_of
from relevansi.exporters.frame.json_files import fields
from relevansi.exporters.frame.tables import Cell, Section, Table, numbers, whole_number
from relevansi.i18n import gettext, ngettext
from relevansi.metrics.planning.power import (
    MAX_QUESTIONS,
    MAX_SIMULATED,
    CurvePoint,
    RatingPlan,
)


def section(plan: RatingPlan) -> Section:
    """Return what a plan says in sentences, and its curve as a table."""
    sentences = tuple(_sentences(plan))
    title = gettext("What a number of questions can show")
    if plan.deviation is None:
        return Section("plan", title, sentences, ())
    headings = [
        gettext("Questions"),
        gettext("Differences from"),
        *([] if plan.effort is None else [gettext("Verdicts"), gettext("Hours")]),
    ]
    note = gettext(
        "%(test)s on two sides at %(level)s, power %(power)s. Only questions with a value in both "
        "runs count.",
        test=_test(plan),
        level=notation.percent(plan.wish.demand.level),
        power=notation.percent(plan.wish.demand.power),
    )
    rows = tuple(_row(plan, point) for point in plan.curve)
    table = Table("plan", title, tuple(map(numbers, headings)), rows, (note,))
    return Section("plan", title, sentences, (table,))


def _test(plan: RatingPlan) -> str:
    if plan.mixed is None:
        return gettext("Paired t test, a lower limit,")
    if plan.mixed.is_binary:
        return gettext("Exact McNemar test")
    return gettext("Exact randomisation test, simulated,")


def _sentences(plan: RatingPlan) -> Iterator[str]:
    """Yield how two runs differ, what these questions show, and how many are needed."""
    wish, figure = plan.wish, figure_name(plan.wish.figure)
    if plan.deviation is None:
        yield gettext(
            "Nothing is known yet of how much two runs differ from question to question. Rate "
            "a few questions of two runs first, or enter a standard deviation."
        )
        return
    if plan.mixed is None or plan.pair is None:
        yield gettext(
            "%(figure)s: the differences are taken to vary by a standard deviation of %(s)s, as "
            "entered. The paired t test then gives a lower limit: where most differences are 0, "
            "more questions are needed.",
            figure=figure,
            s=notation.four(plan.deviation),
        )
    else:
        yield ngettext(
            "%(figure)s: %(first)s and %(second)s differ on %(share)s of %(n)s question, by "
            "%(size)s on average there.",
            "%(figure)s: %(first)s and %(second)s differ on %(share)s of %(n)s questions, by "
            "%(size)s on average there.",
            plan.mixed.n,
            figure=figure,
            first=plan.pair[0],
            second=plan.pair[1],
            share=notation.percent(round(plan.mixed.share, 2)),
            size=_amount(plan, fmean(plan.mixed.sizes)),
        )
    if plan.shows is not None:
        yield ngettext(
            "With %(n)s question you can show differences from %(shows)s up.",
            "With %(n)s questions you can show differences from %(shows)s up.",
            plan.has,
            shows=_amount(plan, plan.shows),
        )
    if plan.needed is None:
        most = MAX_SIMULATED if plan.mixed else MAX_QUESTIONS
        yield gettext(
            "No number of questions up to %(most)s shows a difference of %(d)s.",
            most=notation.number(most),
            d=_amount(plan, wish.difference),
        )
    else:
        yield from _needed(plan, plan.needed)


def _amount(plan: RatingPlan, value: float) -> str:
    return notation.amount(value, unit_of(plan.wish.figure))


def _needed(plan: RatingPlan, needed: int) -> Iterator[str]:
    """Yield the questions that the difference takes, and their verdicts and hours."""
    effort = plan.effort
    yield gettext(
        "A difference of %(d)s takes %(n)s questions at a power of %(power)s, tested at %(level)s.",
        d=_amount(plan, plan.wish.difference),
        n=notation.number(needed),
        power=notation.percent(plan.wish.demand.power),
        level=notation.percent(plan.wish.demand.level),
    )
    if effort is None:
        yield gettext("How many verdicts that takes is known once a run is imported.")
        return
    work = gettext(
        "That is %(verdicts)s verdicts and %(ratings)s ratings of answers: %(things)s cards and "
        "empty lists per question, each judged by %(times)s of %(raters)s raters.",
        verdicts=notation.number(effort.verdicts(needed)),
        ratings=notation.number(effort.ratings(needed)),
        things=notation.number(round(effort.judged_items, 1)),
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


def _row(plan: RatingPlan, point: CurvePoint) -> tuple[Cell, ...]:
    text = notation.UNDEFINED if point.shows is None else _amount(plan, point.shows)
    cells = [whole_number(point.questions), Cell(text, (point.shows,))]
    if plan.effort is not None:
        hours = plan.effort.hours(point.questions)
        cells.append(whole_number(plan.effort.verdicts(point.questions)))
        text = notation.UNDEFINED if hours is None else notation.decimals(hours, 1)
        cells.append(Cell(text, (hours,)))
    return tuple(cells)


def plan_json(plan: RatingPlan) -> dict[str, Any]:
    """Return the plan as plain values; what is not known is null.

    ``questions`` are those that the difference takes, with the judgments and hours for them;
    ``smallest_difference`` is what the set's own questions (``set_questions``) can show. Without
    questions there is no ``effort``.
    """
    effort, needed = plan.effort, plan.needed
    return {
        **fields(plan.wish, "figure", "difference"),
        **fields(plan.wish.demand, "power", "level"),
        "pair": plan.pair and list(plan.pair),
        "deviation": plan.deviation,
        "mixture": plan.mixed and {"share": plan.mixed.share, **asdict(plan.mixed)},
        "questions": needed,
        "questions_power": plan.power,
        "judgments": effort.verdicts(needed) if effort and needed else None,
        "hours": effort.hours(needed) if effort and needed else None,
        "set_questions": plan.has,
        "smallest_difference": plan.shows,
        "effort": effort and asdict(effort),
        "curve": [
            {
                **asdict(point),
                "verdicts": effort and effort.verdicts(point.questions),
                "hours": effort and effort.hours(point.questions),
            }
            for point in plan.curve
        ],
    }


FEWEST, MOST_DRAWN = 8, 500
"""The numbers of questions at the ends of the curve's axis."""
CURVE_HEIGHT, CURVE_TOP = 270, 10
TICKS = (10, 20, 50, 100, 200, 500)


def curve(plan: RatingPlan) -> Markup:
    """Draw the smallest difference that each number of questions can show, on a logarithmic axis.

    A filled mark is the study's own number of questions, a hollow one what the difference needs.
    """
    points = [
        (point.questions, point.shows)
        for point in plan.curve
        if point.shows is not None and FEWEST <= point.questions <= MOST_DRAWN
    ]
    if len(points) < 2:
        return Markup()
    unit = unit_of(plan.wish.figure)
    largest = max(shows for _, shows in points)
    # The axis ends at a tick, and has seven steps at most.
    step = min(size for size in (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0) if largest / size <= 7)
    top = step * ceil(largest / step)

    def x(n: float) -> float:
        return 100 * log(n / FEWEST) / log(MOST_DRAWN / FEWEST)

    def y(shows: float) -> float:
        return CURVE_HEIGHT - (CURVE_HEIGHT - CURVE_TOP) * shows / top

    parts = []
    for number in range(round(top / step) + 1):
        tick = y(number * step)
        kind = "g" if number else "zero"
        label = notation.axis_number(round(number * step, 6), unit)
        parts.append(f'<line class="{kind}" x1="0" x2="100%" y1="{tick:.1f}" y2="{tick:.1f}"/>')
        parts.append(f'<text x="-8" y="{tick + 4:.1f}" text-anchor="end">{label}</text>')
    for n in TICKS:
        place = f'x="{x(n):.2f}%" y="{CURVE_HEIGHT + 20}"'
        parts.append(f'<text {place} text-anchor="middle">{notation.number(n)}</text>')
    path = " L".join(f"{x(n):.2f} {y(shows):.1f}" for n, shows in points)
    parts.append(
        f'<svg width="100%" height="{CURVE_HEIGHT}" viewBox="0 0 100 {CURVE_HEIGHT}" '
        f'preserveAspectRatio="none"><path class="curve-line" d="M{path}"/></svg>'
    )
    needed, wish = plan.needed, plan.wish.difference
    if needed is not None and FEWEST <= needed <= MOST_DRAWN and wish <= top:
        at = f'x1="{x(needed):.2f}%" x2="{x(needed):.2f}%"'
        level = f'y1="{y(wish):.1f}" y2="{y(wish):.1f}"'
        parts.append(f'<line class="goal" x1="0" x2="{x(needed):.2f}%" {level}/>')
        parts.append(f'<line class="goal" {at} y1="{y(wish):.1f}" y2="{CURVE_HEIGHT}"/>')
        parts.append(f'<circle class="goal-mark" cx="{x(needed):.2f}%" cy="{y(wish):.1f}" r="5"/>')
    if plan.shows is not None and FEWEST <= plan.has <= MOST_DRAWN:
        at = f"{x(plan.has):.2f}%"
        parts.append(f'<line class="own-line" x1="{at}" x2="{at}" y1="0" y2="{CURVE_HEIGHT}"/>')
        parts.append(f'<circle class="own-mark" cx="{at}" cy="{y(plan.shows):.1f}" r="5.5"/>')
    return Markup(  # noqa: S704 - numbers of our own
        f'<svg class="plot" height="{CURVE_HEIGHT + 28}" aria-hidden="true">{"".join(parts)}</svg>'
    )


def headline(plan: RatingPlan) -> str:
    """Return what the study's own questions can show; what is missing where that is unknown."""
    if plan.shows is None:
        return gettext("How many questions are enough")
    return ngettext(
        "With %(n)s question differences from %(shows)s up can be shown",
        "With %(n)s questions differences from %(shows)s up can be shown",
        plan.has,
        shows=_amount(plan, plan.shows),
    )
