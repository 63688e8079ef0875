"""The picture of a comparison: markup for a page, files to download, and the geometry of panels."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from relevansi import notation
from relevansi.exporters.comparisons import answers, words
from relevansi.exporters.comparisons.answers import PanelRow
from relevansi.exporters.frame.canvas import (
    LARGE,
    NARROW,
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
    text_width,
)
from relevansi.exporters.frame.charts import RATIO, Axis, Figure, State
from relevansi.i18n import gettext
from relevansi.metrics.comparisons.comparisons import ComparisonReport
from relevansi.metrics.intervals import CONFIDENCE

FILE = "comparison_intervals"
"""The name of the picture's file, after the phase and before the day."""

EDGE = 8.0
"""Room left and right of a track, for the marks at its ends."""


class Track(Struct, frozen=True):
    """Where the values of one panel lie: those of its `axis` from `low_end` to `high_end`."""

    low_end: float
    high_end: float
    axis: Axis = RATIO
    unit: str = notation.RATIO

    def at(self, value: float) -> float:
        """Return where a value lies, one beyond the axis at its end."""
        share = min(max(value / self.axis.high, 0.0), 1.0)
        return self.low_end + share * (self.high_end - self.low_end)

    def labels(self, canvas: Canvas, base: float) -> None:
        """Write the numbers of the ticks, those at the ends within the panel."""
        start, end = self.low_end - EDGE, self.high_end + EDGE
        for tick in self.axis.ticks:
            label = notation.axis_number(tick, self.unit)
            half = text_width(label, SMALL) / 2
            x = min(max(self.at(tick), start + half), end - half)
            canvas.text((x, base), label, size=SMALL, fill="soft", anchor="middle")


class Columns(Struct, frozen=True):
    """Where the columns of the panel begin; a figure's name has `head` above its methods, or none.

    ``has_intervals``: the values have their intervals behind them.
    """

    width: float
    methods: float
    plot: Track
    values: float
    head: float = 0.0
    has_intervals: bool = True


BESIDE = Columns(WIDE, 150.0, Track(286.0, 568.0), 596.0)
BELOW = Columns(NARROW, 0.0, Track(116.0, 268.0), 286.0, head=20.0, has_intervals=False)
"""The panel of a page or printed sheet, and that of a phone."""
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


def draw_intervals(
    report: ComparisonReport, palette: Palette = PAGE, columns: Columns = BESIDE
) -> Picture:
    """Return every headline figure of each method with its interval, or what it can become."""
    canvas = Canvas(columns.width, palette)
    bottom = 0.0
    descriptions = []
    for group in answers.panel(report):
        canvas.line((0, bottom), (columns.width, bottom), stroke="rule")
        top = bottom + 6
        room = (columns.methods or columns.width) - 12
        canvas.text((0, top + 16), group.name, size=LARGE, room=room)
        top += columns.head
        track = replace(columns.plot, axis=group.axis, unit=group.unit)
        foot = top + ROW * len(group.rows)
        for tick in group.axis.ticks:
            canvas.line((track.at(tick), top), (track.at(tick), foot), stroke="rule")
        for place, row in enumerate(group.rows):
            _draw_row(canvas, columns, track, row, top + ROW * (place + 0.5))
        if group.has_scale:
            track.labels(canvas, foot + SMALL + 4)
            foot += AXIS
        bottom = foot + 6
        values = (f"{row.method.name} {value_in_words(row, group.unit)}" for row in group.rows)
        descriptions.append(f"{group.name}: {'; '.join(values)}.")
    share = notation.percent(CONFIDENCE)
    title = gettext("Figures of every run with %(share)s intervals.", share=share)
    if answers.is_open(report):
        title += " " + gettext("Hollow: the value so far. Band: all values still possible.")
    return canvas.picture("intervals", title, " ".join(descriptions), bottom + 4)


def for_every_screen(report: ComparisonReport) -> Picture:
    """Return the picture of a page, with the one of a phone."""
    return replace(draw_intervals(report), narrow=draw_intervals(report, columns=BELOW))


def _draw_row(canvas: Canvas, columns: Columns, track: Track, row: PanelRow, middle: float) -> None:
    methods, values = columns.methods, columns.values
    is_hollow = row.figure.state is State.PROVISIONAL
    _shape(canvas, (methods + 7, middle), row.method.mark, is_hollow=is_hollow)
    room = columns.plot.low_end - EDGE - methods - 28
    canvas.text((methods + 20, middle + 4), row.method.name, room=room)
    _draw_figure(canvas, track, row, middle)
    words = value_in_words(row, track.unit, with_interval=columns.has_intervals)
    canvas.text((values, middle + 4), words, room=columns.width - values)


def value_in_words(row: PanelRow, unit: str, *, with_interval: bool = True) -> str:
    """Return a value with its interval, or with what it can still become."""
    figure = row.figure
    value = "–" if figure.written is None else notation.figure(figure.written, unit)
    low, high = _extent(figure)
    if not with_interval or low is None or high is None:
        return value
    return f"{value}  {notation.figure(low, unit)}–{notation.figure(high, unit)}"


def _extent(figure: Figure) -> tuple[float | None, float | None]:
    """Return what an open figure can still become, or the interval of a final one."""
    if figure.state is State.PROVISIONAL:
        return figure.low, figure.high
    if figure.state is State.FINAL:
        return figure.ci_low, figure.ci_high
    return None, None


def _draw_figure(canvas: Canvas, track: Track, row: PanelRow, middle: float) -> None:
    figure, colour = row.figure, f"m{row.method.mark}"
    is_open = figure.state is State.PROVISIONAL
    low, high = _extent(figure)
    if low is not None and high is not None:
        width, opacity = (10.0, 0.2) if is_open else (1.75, 1.0)
        start, end = (track.at(low), middle), (track.at(high), middle)
        canvas.line(start, end, stroke=colour, width=width, opacity=opacity)
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
    room = drawing.width
    title = answers.answer(report.comparison, report.state).title
    top = MARGIN + 12
    top += canvas.paragraph((MARGIN, MARGIN), title, room=room, size=LARGE, fill="ink", most=3)
    canvas.embed(drawing, (MARGIN, top))
    bottom = top + drawing.height + 8
    for sentence in (drawing.title, words.provenance(report), words.settings()):
        bottom += canvas.paragraph((MARGIN, bottom), sentence, room=room)
    return canvas.picture("intervals", title, drawing.description, bottom + MARGIN)
