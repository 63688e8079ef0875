"""The picture of a comparison: markup for a page, files to download, and the geometry of panels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from math import ceil

from msgspec import Struct
from msgspec.structs import replace

from relevansi import labels, notation
from relevansi.exporters.comparisons import answers, words
from relevansi.exporters.comparisons.answers import PanelRow
from relevansi.exporters.comparisons.figure_names import unit_of
from relevansi.exporters.frame import canvas as lettering
from relevansi.exporters.frame.canvas import (
    LARGE,
    PAGE,
    PRINT,
    SMALL,
    WIDE,
    Canvas,
    Palette,
    Picture,
    Point,
    png_file,
    svg_file,
)
from relevansi.exporters.frame.charts import State
from relevansi.i18n import gettext
from relevansi.metrics.comparisons.comparisons import ComparisonReport
from relevansi.metrics.comparisons.differences import highest_value
from relevansi.metrics.intervals import CONFIDENCE, Interval
from relevansi.notation import file_day

GAP = 40.0
EDGE = 8.0
"""Room left and right of a track, for the marks at its ends."""


class Track(Struct, frozen=True):
    """Where the values of one panel lie: from `low_end` to `high_end`, 0 to `top`."""

    low_end: float
    high_end: float
    top: float
    unit: str = notation.RATIO

    @property
    def start(self) -> float:
        return self.low_end - EDGE

    @property
    def end(self) -> float:
        return self.high_end + EDGE

    @property
    def ticks(self) -> tuple[float, ...]:
        steps = 4 if self.top == 1 else 5
        return tuple(self.top * step / steps for step in range(steps + 1))

    def at(self, value: float) -> float:
        share = min(max(value / self.top, 0.0), 1.0)
        return self.low_end + share * (self.high_end - self.low_end)

    def rule(self, canvas: Canvas, middle: float) -> None:
        canvas.line((self.low_end, middle), (self.high_end, middle), stroke="rule")
        for tick in self.ticks:
            self._across(canvas, tick, middle, 5, "rule", 1)

    def labels(self, canvas: Canvas, base: float) -> None:
        for tick in self.ticks:
            label = notation.axis_number(tick, self.unit)
            half = lettering.width(label, SMALL) / 2
            where = min(max(self.at(tick), self.start + half), self.end - half)
            canvas.text((where, base), label, size=SMALL, fill="soft", anchor="middle")

    def write_name(self, canvas: Canvas, base: float, name: str, value: str, size: float) -> None:
        """Write a name at the start of the panel and a value at its end."""
        room = self.end - self.start - lettering.width(value, SMALL) - 12
        canvas.text((self.start, base), name, size=size, room=room)
        canvas.text((self.end, base), value, size=SMALL, fill="soft", anchor="end")

    def estimate(
        self, canvas: Canvas, value: float | None, interval: Interval, middle: float
    ) -> None:
        """Draw a value and its interval; nothing if it is undefined."""
        if value is None:
            return
        if interval.lower is not None and interval.upper is not None:
            low, high = self.at(interval.lower), self.at(interval.upper)
            canvas.line((low, middle), (high, middle), stroke="accent", width=2)
            for end in (interval.lower, interval.upper):
                self._across(canvas, end, middle, 4, "accent", 2)
        canvas.dot((self.at(value), middle), fill="accent")

    def _across(
        self, canvas: Canvas, value: float, middle: float, half: float, stroke: str, width: float
    ) -> None:
        where = self.at(value)
        canvas.line((where, middle - half), (where, middle + half), stroke=stroke, width=width)


def panels(figures: Sequence[str], height: float) -> Iterator[tuple[str, float, Track]]:
    """Yield each figure with the top of its panel and its track, in two columns."""
    panel = (WIDE - GAP) / 2
    for number, figure in enumerate(figures):
        start = (number % 2) * (panel + GAP)
        track = Track(start + EDGE, start + panel - EDGE, highest_value(figure), unit_of(figure))
        yield figure, (number // 2) * height, track


def below(figures: Sequence[str], height: float) -> float:
    return ceil(len(figures) / 2) * height


NAMES, METHODS, VALUES = 0.0, 150.0, 596.0
"""Where the columns of the panel begin: figures, methods, values; plots lie before the values."""
PLOT = Track(286.0, VALUES - 28, 1.0)
ROW = 24.0
AXIS = 26.0
SHAPES: Mapping[int, tuple[Point, ...]] = {
    2: ((-4.5, -4.5), (4.5, -4.5), (4.5, 4.5), (-4.5, 4.5)),
    3: ((0, -6), (5.8, 4.6), (-5.8, 4.6)),
    4: ((0, -6.4), (6.4, 0), (0, 6.4), (-6.4, 0)),
    5: ((0, 6), (5.8, -4.6), (-5.8, -4.6)),
    6: (
        *((-1.8, -5.5), (1.8, -5.5), (1.8, -1.8), (5.5, -1.8), (5.5, 1.8), (1.8, 1.8)),
        *((1.8, 5.5), (-1.8, 5.5), (-1.8, 1.8), (-5.5, 1.8), (-5.5, -1.8), (-1.8, -1.8)),
    ),
}
"""The outlines of the methods' shapes but the circle, as the sprite of the pages has them."""


def draw_intervals(report: ComparisonReport, palette: Palette = PAGE) -> Picture:
    """Return every headline figure of each method with its interval, or what it can become."""
    canvas, bottom, described = Canvas(WIDE, palette), 0.0, []
    groups = answers.panel(report)
    for group in groups:
        canvas.line((0, bottom), (WIDE, bottom), stroke="rule")
        top = bottom + 6
        canvas.text((NAMES, top + 16), group.name, size=LARGE, room=METHODS - 12)
        track = replace(PLOT, top=group.axis.high, unit=group.unit)
        foot = top + ROW * len(group.rows)
        for tick in group.axis.ticks:
            canvas.line((track.at(tick), top), (track.at(tick), foot), stroke="rule")
        for place, row in enumerate(group.rows):
            middle = top + ROW * (place + 0.5)
            is_hollow = row.figure.state is State.PROVISIONAL
            _shape(canvas, (METHODS + 7, middle), row.method.mark, is_hollow=is_hollow)
            canvas.text((METHODS + 20, middle + 4), row.method.name, room=PLOT.start - METHODS - 28)
            _draw_figure(canvas, track, row, middle)
            canvas.text((VALUES, middle + 4), value_in_words(row, group.unit), room=WIDE - VALUES)
        if group.has_scale:
            track.labels(canvas, foot + SMALL + 4)
            foot += AXIS
        bottom = foot + 6
        values = (f"{row.method.name} {value_in_words(row, group.unit)}" for row in group.rows)
        described.append(f"{group.name}: {'; '.join(values)}.")
    share = notation.percent(CONFIDENCE)
    title = gettext("Figures of every run with %(share)s intervals.", share=share)
    if answers.is_open(report):
        title += " " + gettext("Hollow: the value so far. Band: all values still possible.")
    return canvas.picture("intervals", title, " ".join(described), bottom + 4)


def value_in_words(row: PanelRow, unit: str) -> str:
    """Return a value with its interval, or with what it can still become."""
    figure = row.figure
    value = "–" if figure.written is None else notation.figure(figure.written, unit)
    ends: tuple[float | None, float | None] = (None, None)
    if figure.state is State.PROVISIONAL:
        ends = figure.low, figure.high
    elif figure.state is State.FINAL:
        ends = figure.ci_low, figure.ci_high
    if ends[0] is None or ends[1] is None:
        return value
    low, high = (notation.figure(end, unit) for end in ends)
    return f"{value}  {low}–{high}"


def _draw_figure(canvas: Canvas, track: Track, row: PanelRow, middle: float) -> None:
    figure, colour = row.figure, f"m{row.method.mark}"
    is_open = figure.state is State.PROVISIONAL
    low, high = (figure.low, figure.high) if is_open else (figure.ci_low, figure.ci_high)
    if low is not None and high is not None and figure.state is not State.FIXED_EARLY:
        ends = (track.at(low), middle), (track.at(high), middle)
        width, opacity = (10.0, 0.2) if is_open else (1.75, 1.0)
        canvas.line(*ends, stroke=colour, width=width, opacity=opacity)
    if figure.written is not None:
        _shape(canvas, (track.at(figure.written), middle), row.method.mark, is_hollow=is_open)


def _shape(canvas: Canvas, centre: Point, mark: int, *, is_hollow: bool) -> None:
    colour = f"m{mark}"
    fill = "paper" if is_hollow else colour
    if mark not in SHAPES:
        canvas.dot(centre, radius=5, fill=fill, stroke=colour)
        return
    x, y = centre
    canvas.shape([(x + dx, y + dy) for dx, dy in SHAPES[mark]], fill=fill, stroke=colour)


MARGIN = 24.0

FORMATS: Mapping[str, tuple[Callable[[Picture], bytes], str]] = {
    "svg": (svg_file, "image/svg+xml"),
    "png": (png_file, "image/png"),
}
"""How a picture is written as a file, and its media type, by its ending."""


def standalone(report: ComparisonReport) -> Picture:
    """Return the picture on white, with the answer above and who rated, and how, below."""
    drawing = draw_intervals(report, PRINT)
    canvas = Canvas(drawing.width + 2 * MARGIN, PRINT)
    place, room = (MARGIN, MARGIN), drawing.width
    title = answers.answer(report.comparison, report.state).title
    top = MARGIN + 12
    top += canvas.paragraph(place, title, room=room, size=LARGE, fill="ink", most=3)
    canvas.embed(drawing, (MARGIN, top))
    below = top + drawing.height + 8
    for sentence in (drawing.title, words.provenance(report), words.settings()):
        below += canvas.paragraph((MARGIN, below), sentence, room=room)
    return canvas.picture("intervals", title, drawing.description, below + MARGIN)


def file_name(report: ComparisonReport, end: str, on: date) -> str:
    start = "" if report.phase is None else f"phase{report.phase}_"
    open_end = labels.file_ending(report.state) if report.state else ""
    return f"{start}comparison_intervals_{file_day(on)}{open_end}.{end}"
