"""Each figure of phase 3: one dot per participant, below them the figure with its interval."""

from __future__ import annotations

from math import ceil

from webapp import notation
from webapp.exporters.comparisons.charts import lettering
from webapp.exporters.comparisons.charts.canvas import LARGE, SMALL, WIDE, Canvas, Palette, Picture
from webapp.exporters.comparisons.charts.intervals import EDGE, GAP, Track, top_of
from webapp.exporters.comparisons.words import figure_name, unit_of
from webapp.exporters.phase_3 import words
from webapp.i18n import gettext
from webapp.metrics.judging.registry import Unit
from webapp.metrics.phase_3.user_study import UserStudyReport

FIGURES = (
    "mean_precision_at_5",
    "mean_overall_precision",
    "mrr",
    "success_rate",
    "coverage",
    "mean_response_quality",
)
EACH, ALL, AXIS, HEIGHT = 46.0, 66.0, 76.0, 116.0
"""How far below a panel's top the participants, the figure and the axis lie; its height."""
STEP = 7.0
"""How far apart equal values of two participants are drawn."""


def draw(report: UserStudyReport, palette: Palette, width: float = WIDE) -> Picture:
    """Return the figures over all with intervals, above each those of the participants."""
    canvas = Canvas(width, palette)
    columns = 2 if width >= WIDE else 1
    panel = (width - GAP * (columns - 1)) / columns
    for number, figure in enumerate(FIGURES):
        corner = ((number % columns) * (panel + GAP), (number // columns) * HEIGHT)
        _panel(canvas, report, figure, corner, panel)
    bottom = ceil(len(FIGURES) / columns) * HEIGHT
    share = notation.percent(report.settings.confidence)
    key = gettext(
        "Hollow dots: each participant's own figure. Dot and line: the figure over all questions "
        "and its %(share)s interval over participants.",
        share=share,
    )
    bottom += canvas.paragraph((0, bottom), key, room=width)
    title = gettext(
        "Figures over all participants with %(share)s intervals, and each one's", share=share
    )
    return canvas.picture("participants", title, _description(report), bottom + 4)


def _panel(
    canvas: Canvas,
    report: UserStudyReport,
    figure: str,
    corner: tuple[float, float],
    width: float,
) -> None:
    left, top = corner
    track = Track(left + EDGE, left + width - EDGE, top_of(figure))
    said = _value(report, figure)
    room = width - lettering.width(said, SMALL) - 12
    canvas.text((left, top + LARGE), figure_name(figure), size=LARGE, room=room)
    right = left + width
    palette = canvas.palette
    canvas.text((right, top + LARGE), said, size=SMALL, fill=palette.soft, anchor="end")
    _axis(canvas, track, top + AXIS, unit_of(figure))
    _everybody(canvas, report, figure, track, top + EACH)
    _over_all(canvas, report, figure, track, top + ALL)


def _axis(canvas: Canvas, track: Track, top: float, unit: Unit) -> None:
    palette = canvas.palette
    canvas.line((track.left, top), (track.right, top), stroke=palette.rule)
    for tick in track.ticks:
        where = track.at(tick)
        canvas.line((where, top - 3), (where, top + 3), stroke=palette.rule)
        label = notation.scale(tick, unit)
        below = (track.under(tick, label), top + SMALL + 5)
        canvas.text(below, label, size=SMALL, fill=palette.soft, anchor="middle")


def _everybody(
    canvas: Canvas, report: UserStudyReport, figure: str, track: Track, middle: float
) -> None:
    """A hollow dot for each participant; dots of equal values are stacked."""
    seen: dict[int, int] = {}
    for person in report.taking_part:
        value = person.figures[figure].value
        if value is None:
            continue
        where = track.at(value)
        place = round(where / STEP)
        up = min(seen.get(place, 0), 3) * STEP
        seen[place] = seen.get(place, 0) + 1
        canvas.dot((where, middle - up), radius=3.5, fill="none", stroke=canvas.palette.edge)


def _over_all(
    canvas: Canvas, report: UserStudyReport, figure: str, track: Track, middle: float
) -> None:
    found, accent = report.figures[figure], canvas.palette.accent
    if found.value is None:
        return
    lower, upper = found.interval.lower, found.interval.upper
    if lower is not None and upper is not None:
        low, high = track.at(lower), track.at(upper)
        canvas.line((low, middle), (high, middle), stroke=accent, width=2)
        for end in (low, high):
            canvas.line((end, middle - 4), (end, middle + 4), stroke=accent, width=2)
    canvas.dot((track.at(found.value), middle), fill=accent, stroke=accent)


def _value(report: UserStudyReport, figure: str) -> str:
    found = report.figures[figure]
    lower, upper = found.interval.lower, found.interval.upper
    unit = unit_of(figure)
    bounds = "" if lower is None else f" {notation.interval(lower, upper, unit)}"
    return f"{notation.figure(found.value, unit)}{bounds}"


def _description(report: UserStudyReport) -> str:
    return " ".join(
        f"{figure_name(figure)}: {' '.join(words.figure(report.figures[figure], unit_of(figure)))}."
        for figure in FIGURES
    )
