"""Each figure of each run with its interval: one panel per figure, one line per run."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from webapp import notation
from webapp.exporters.comparisons import words
from webapp.exporters.comparisons.charts import lettering
from webapp.exporters.comparisons.charts.canvas import LARGE, SMALL, WIDE, Canvas, Palette, Picture
from webapp.i18n import gettext
from webapp.metrics.comparisons.comparisons import Comparison, Contender
from webapp.metrics.comparisons.report import ComparisonReport
from webapp.metrics.judging.queries import BEST_QUALITY
from webapp.metrics.judging.registry import Unit, measure_of

FIGURES = (
    "mean_precision_at_5",
    "mean_overall_precision",
    "mrr",
    "mrr_answerable",
    "success_rate",
    "mean_response_quality",
)
"""The figures of a comparison that come from judgments, without the composite."""

GAP = 40.0
HEADING = 26.0
ROW = 38.0
MARK = 26.0
AXIS = 30.0
EDGE = 8.0
"""Room left and right of a track, for the marks at its ends."""


@dataclass(frozen=True, slots=True)
class Track:
    """Where the values of one panel lie: from `left` to `right`, 0 to `top`."""

    left: float
    right: float
    top: float

    def at(self, value: float) -> float:
        """Return the place of `value`."""
        share = min(max(value / self.top, 0.0), 1.0)
        return self.left + share * (self.right - self.left)

    @property
    def ticks(self) -> tuple[float, ...]:
        """The values that the axis names."""
        return (0.0, 0.25, 0.5, 0.75, 1.0) if self.top == 1 else (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)

    def under(self, tick: float, label: str) -> float:
        """Return the middle of a tick's label, which does not leave the room of the track."""
        half = lettering.width(label, SMALL) / 2
        return min(max(self.at(tick), self.left - EDGE + half), self.right + EDGE - half)


def draw(report: ComparisonReport, palette: Palette, width: float = WIDE) -> Picture:
    """Return the figures of every run as dots with their intervals."""
    comparison = report.comparison
    canvas = Canvas(width, palette)
    columns = 2 if width >= WIDE else 1
    panel = (width - GAP * (columns - 1)) / columns
    height = HEADING + ROW * len(comparison.contenders) + AXIS
    for number, figure in enumerate(FIGURES):
        corner = ((number % columns) * (panel + GAP), (number // columns) * height)
        _panel(canvas, comparison, figure, corner, panel)
    bottom = ceil(len(FIGURES) / columns) * height
    bottom += canvas.paragraph((0, bottom), _key(comparison), room=width)
    return canvas.picture(
        "intervals",
        gettext(
            "Figures of each run with %(share)s intervals",
            share=notation.percent(comparison.settings.confidence),
        ),
        _description(comparison),
        bottom + 4,
    )


def top_of(figure: str) -> float:
    """Return the largest value a figure can have."""
    return float(BEST_QUALITY) if measure_of(figure).unit == "grade 0-5" else 1.0


def _panel(
    canvas: Canvas,
    comparison: Comparison,
    figure: str,
    corner: tuple[float, float],
    width: float,
) -> None:
    left, top = corner
    track = Track(left + EDGE, left + width - EDGE, top_of(figure))
    name = words.figure_name(figure)
    canvas.text((left, top + LARGE), name, size=LARGE, room=width)
    first = top + HEADING
    _axis(canvas, track, first, len(comparison.contenders), words.unit_of(figure))
    for number, contender in enumerate(comparison.contenders):
        _row(canvas, track, contender, figure, first + number * ROW)


def _axis(canvas: Canvas, track: Track, first: float, rows: int, unit: Unit) -> None:
    """Ticks on every row's line, which leave the words above it alone, and their values below."""
    palette = canvas.palette
    foot = first + ROW * rows
    for tick in track.ticks:
        where = track.at(tick)
        for middle in (first + number * ROW + MARK for number in range(rows)):
            canvas.line((where, middle - 5), (where, middle + 5), stroke=palette.rule)
        label = notation.scale(tick, unit)
        below = (track.under(tick, label), foot + SMALL + 2)
        canvas.text(below, label, size=SMALL, fill=palette.soft, anchor="middle")


def _row(canvas: Canvas, track: Track, contender: Contender, figure: str, top: float) -> None:
    """The run's name and value in words, and under them the same as a mark."""
    palette = canvas.palette
    said = _value(contender, figure)
    base, middle = top + 14, top + MARK
    left, right = track.left - EDGE, track.right + EDGE
    room = right - left - lettering.width(said, SMALL) - 12
    canvas.text((left, base), contender.run.name, room=room)
    canvas.text((right, base), said, size=SMALL, fill=palette.soft, anchor="end")
    canvas.line((track.left, middle), (track.right, middle), stroke=palette.rule)
    estimate = contender.estimates[figure]
    value, interval = estimate.figure.value, estimate.interval
    if value is None:
        return
    if interval.lower is not None and interval.upper is not None:
        low, high = track.at(interval.lower), track.at(interval.upper)
        canvas.line((low, middle), (high, middle), stroke=palette.accent, width=2)
        for end in (low, high):
            canvas.line((end, middle - 4), (end, middle + 4), stroke=palette.accent, width=2)
    _mark(canvas, (track.at(value), middle), partial=contender.missing.partial)


def _mark(canvas: Canvas, centre: tuple[float, float], *, partial: bool) -> None:
    accent = canvas.palette.accent
    fill = (canvas.palette.paper or "var(--paper)") if partial else accent
    canvas.dot(centre, fill=fill, stroke=accent)


def _value(contender: Contender, figure: str) -> str:
    estimate = contender.estimates[figure]
    if estimate.figure.value is None:
        return f"{notation.UNDEFINED} n = 0"
    bounds, unit = "", words.unit_of(figure)
    if estimate.interval.lower is not None:
        bounds = f" {notation.interval(estimate.interval.lower, estimate.interval.upper, unit)}"
    n = notation.number(estimate.figure.n)
    return f"{notation.figure(estimate.figure.value, unit)}{bounds} n = {n}"


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
