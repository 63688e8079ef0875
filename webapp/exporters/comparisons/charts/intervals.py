"""Each figure of each run with its interval: one panel per figure, one line per run."""

from __future__ import annotations

from webapp import notation
from webapp.exporters.comparisons import words
from webapp.exporters.comparisons.charts import tracks
from webapp.exporters.comparisons.charts.canvas import (
    LARGE,
    NORMAL,
    SMALL,
    WIDE,
    Canvas,
    Palette,
    Picture,
)
from webapp.i18n import gettext
from webapp.metrics.comparisons.comparisons import Comparison, ComparisonReport, Contender

FIGURES = (
    "mean_precision_at_5",
    "mean_overall_precision",
    "mrr",
    "mrr_answerable",
    "success_rate",
    "mean_response_quality",
)
"""The figures of a comparison that come from judgments, without the composite."""

HEADING = 26.0
ROW = 38.0
MARK = 26.0
AXIS = 30.0


def draw(report: ComparisonReport, palette: Palette, width: float = WIDE) -> Picture:
    """Return the figures of every run as dots with their intervals."""
    comparison = report.comparison
    canvas = Canvas(width, palette)
    height = HEADING + ROW * len(comparison.contenders) + AXIS
    for figure, top, track in tracks.panels(width, FIGURES, height):
        room = track.end - track.start
        canvas.text((track.start, top + LARGE), words.figure_name(figure), size=LARGE, room=room)
        for number, contender in enumerate(comparison.contenders):
            row = top + HEADING + number * ROW
            said, estimate = _value(contender, figure), contender.estimates[figure]
            track.named(canvas, row + 14, contender.run.name, said, NORMAL)
            track.rule(canvas, row + MARK)
            found, partial = estimate.figure.value, contender.missing.partial
            track.estimate(canvas, found, estimate.interval, row + MARK, partial=partial)
        track.labels(canvas, top + height - AXIS + SMALL + 2)
    bottom = tracks.below(width, FIGURES, height)
    bottom += canvas.paragraph((0, bottom), _key(comparison), room=width)
    title = gettext(
        "Figures of each run with %(share)s intervals",
        share=notation.percent(comparison.settings.confidence),
    )
    return canvas.picture("intervals", title, _description(comparison), bottom + 4)


def _value(contender: Contender, figure: str) -> str:
    estimate = contender.estimates[figure]
    if estimate.figure.value is None:
        return f"{notation.UNDEFINED} n = 0"
    said = tracks.value(estimate.figure.value, estimate.interval, words.unit_of(figure))
    return f"{said} n = {notation.number(estimate.figure.n)}"


def _key(comparison: Comparison) -> str:
    share = notation.percent(comparison.settings.confidence)
    key = gettext("Dot: the figure. Line: its %(share)s interval over questions.", share=share)
    if any(contender.missing.partial for contender in comparison.contenders):
        key += " " + gettext("Hollow dot: so far, not everything is rated.")
    return key


def _description(comparison: Comparison) -> str:
    return " ".join(
        f"{words.figure_name(figure)}: "
        + "; ".join(f"{c.run.name} {_value(c, figure)}" for c in comparison.contenders)
        + "."
        for figure in FIGURES
    )
