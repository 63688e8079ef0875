"""Each figure of phase 3: one dot per participant, below them the figure with its interval."""

from __future__ import annotations

from collections import Counter

from webapp import notation
from webapp.exporters.comparisons.charts import tracks
from webapp.exporters.comparisons.charts.canvas import (
    LARGE,
    NARROW,
    PAGE,
    SMALL,
    WIDE,
    Canvas,
    Drawing,
    Palette,
    Picture,
)
from webapp.exporters.comparisons.charts.tracks import Track
from webapp.exporters.comparisons.words import figure_name, unit_of
from webapp.exporters.phase_3 import words
from webapp.i18n import gettext
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
STEP, HIGHEST = 7.0, 21.0
"""How far apart equal values of two participants are drawn, and how high all of them go."""


def draw(report: UserStudyReport, palette: Palette, width: float = WIDE) -> Picture:
    """Return the figures over all with intervals, above each those of the participants."""
    canvas = Canvas(width, palette)
    for figure, top, track in tracks.panels(width, FIGURES, HEIGHT):
        found = report.figures[figure]
        said = tracks.value(found.value, found.interval, track.unit)
        track.named(canvas, top + LARGE, figure_name(figure), said, LARGE)
        track.rule(canvas, top + AXIS)
        track.labels(canvas, top + AXIS + SMALL + 5)
        _everybody(canvas, report, figure, track, top + EACH)
        track.estimate(canvas, found.value, found.interval, top + ALL)
    bottom = tracks.below(width, FIGURES, HEIGHT)
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


def drawing(report: UserStudyReport) -> Drawing:
    """Return the picture for a page and for a phone."""
    return Drawing("participants", *(draw(report, PAGE, width) for width in (WIDE, NARROW)))


def _everybody(
    canvas: Canvas, report: UserStudyReport, figure: str, track: Track, middle: float
) -> None:
    """A hollow dot for each participant; dots of equal values are stacked, many more densely."""
    values = (person.figures[figure].value for person in report.taking_part)
    dots = [track.at(value) for value in values if value is not None]
    of_place = Counter(_place(where) for where in dots)
    seen: Counter[int] = Counter()
    for where in dots:
        place = _place(where)
        step = min(STEP, HIGHEST / max(of_place[place] - 1, 1))
        canvas.dot((where, middle - seen[place] * step), radius=3.5, fill="", stroke="edge")
        seen[place] += 1


def _place(where: float) -> int:
    return round(where / STEP)


def _description(report: UserStudyReport) -> str:
    return " ".join(
        f"{figure_name(figure)}: {' '.join(words.figure(report.figures[figure], unit_of(figure)))}."
        for figure in FIGURES
    )
