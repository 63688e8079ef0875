"""Figures as pages, reports and pictures draw them: one geometry, one shape per method.

A drawing is fluid SVG: x and widths in per cent of the axis, y in px, no ``viewBox``, so that
text keeps its size at any width. Shapes are those of the sprite in ``frame/shell/_sprite.html``;
all words are beside a drawing, which is hidden from screen readers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from markupsafe import Markup
from msgspec import Struct

from relevansi import notation
from relevansi.i18n import gettext
from relevansi.labels import method_order
from relevansi.metrics.intervals import NO_INTERVAL, Interval
from relevansi.metrics.judging import figures as metrics
from relevansi.metrics.judging.queries import Span
from relevansi.metrics.judging.registry import Unit

SHAPES = 6
"""So many methods have a shape and a colour; further ones are grey circles."""
STACKED = 9
"""The px between marks at one place of a plot."""
SAME = 1e-9
"""Values that are closer are one value: bounds are sums of floats."""
STEPS = 5
"""The shades of a heat map, beside none."""
STUB = 3
"""The px of a column of 0, so that it can be seen."""
MOST_NUMBERED = 60
"""Columns of more questions have no room for their numbers."""


class State(StrEnum):
    """How far a figure is known, which says how it is drawn."""

    FINAL = "final"
    PROVISIONAL = "provisional"
    FIXED_EARLY = "fixed-early"
    UNDEFINED = "undefined"


class Axis(NamedTuple):
    """The domain of a plot and its ticks; ``zero`` is the tick that is drawn stronger."""

    low: float
    high: float
    ticks: tuple[float, ...]
    zero: float | None = None

    def x(self, value: float) -> str:
        """Return the place of a value in per cent of the axis.

        >>> RATIO.x(0.725), QUALITY.x(5), difference_axis(0.31).x(0)
        ('72.5%', '100%', '50%')
        """
        return _percent((value - self.low) / (self.high - self.low))


RATIO = Axis(0, 1, (0, 0.25, 0.5, 0.75, 1))
SMALL = Axis(0, 1, (0, 0.5, 1))
ENDS = Axis(0, 1, (0, 1))
QUALITY = Axis(0, 5, (0, 1, 2, 3, 4, 5))
SMALL_QUALITY = Axis(0, 5, (0, 5))


def difference_axis(largest: float) -> Axis:
    """Return an axis of differences around 0 that holds the `largest` one on either side."""
    fitting = [end for end in (0.2, 0.4, 0.6, 1.0, 2.0, 5.0, 10.0) if abs(largest) <= end]
    end = min(fitting, default=10.0)
    return Axis(-end, end, (-end, -end / 2, 0, end / 2, end), zero=0)


class Figure(NamedTuple):
    """A figure of one method as it is drawn and written.

    ``low`` and ``high`` are what the finished rating can still reach, ``ci_low`` and ``ci_high``
    its 95% interval; ``of`` is for how many questions it has a value at most, ``n`` for how many
    it has one. ``mark`` is the place of its method in the study, from 1; 0 is drawn grey.
    """

    value: float | None
    n: int = 0
    of: int = 0
    low: float | None = None
    high: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    mark: int = 0

    @property
    def state(self) -> State:
        """How far the figure is known: fixed early where open judgments can no longer move it."""
        if self.low is None or self.high is None:
            return State.UNDEFINED if self.value is None else State.FINAL
        if self.high - self.low > SAME:
            return State.PROVISIONAL
        return State.FINAL if self.n >= self.of else State.FIXED_EARLY

    @property
    def written(self) -> float | None:
        """The number to show, ``None`` for one that the finished rating can no longer have.

        >>> Figure(0.84, n=24, of=30, low=0.81, high=0.83).written is None
        True
        >>> Figure(0.96, n=24, of=30, low=0.9667, high=0.9667).written
        0.9667
        """
        if self.state is State.FIXED_EARLY:
            return self.low
        if self.state is State.PROVISIONAL and self.value is not None:
            # The mean over the complete questions may lie outside what all of them can reach.
            assert self.low is not None
            assert self.high is not None
            return self.value if self.low - SAME <= self.value <= self.high + SAME else None
        return self.value


def drawn(
    figure: metrics.Figure,
    interval: Interval = NO_INTERVAL,
    mark: int = 0,
    *,
    is_judged: bool = True,
) -> Figure:
    """Return a figure of a run as it is drawn, with the interval of chance around it.

    A ranking figure counts unjudged results as without gain: while nothing of the run `is_judged`
    its 0 says nothing, and only what it can still become is drawn.
    """
    if figure.is_provisional and not is_judged:
        return Figure(None, of=figure.of, low=figure.lower, high=figure.upper, mark=mark)
    bounds = figure.lower, figure.upper, interval.lower, interval.upper
    return Figure(figure.value, figure.n, figure.of, *bounds, mark)


def marks(methods: Iterable[str | None]) -> dict[str, int]:
    """Number the search methods, or LLMs, of a study from 1: the same shape everywhere.

    >>> marks(["hybrid", "api_only", "bm25", "hybrid"])
    {'api_only': 1, 'hybrid': 2, 'bm25': 3}
    """
    names = dict.fromkeys(method or "" for method in methods)
    ordered = sorted(names, key=method_order)
    return {name: number if number <= SHAPES else 0 for number, name in enumerate(ordered, 1)}


def plot(
    figures: Sequence[Figure],
    axis: Axis = RATIO,
    height: int = 24,
    *,
    points: Iterable[float] = (),
    joined: bool = False,
) -> Markup:
    """Draw figures over the grid of `axis`: shape with interval, or hollow shape with band.

    `points` are single questions behind the mean; `joined` draws a line from the lowest mark to
    the highest. Marks at one place are stacked, none is hidden.
    """
    middle = height / 2
    parts = [grid(axis)]
    parts += [
        f'<circle class="pt" r="2.5" cx="{axis.x(value)}" cy="{middle:g}"/>' for value in points
    ]
    values = [figure.written for figure in figures if figure.written is not None]
    if joined and len(values) > 1 and max(values) > min(values):
        ends = f'x1="{axis.x(min(values))}" x2="{axis.x(max(values))}"'
        parts.append(f'<line class="span" {ends} y1="{middle:g}" y2="{middle:g}"/>')
    for figure, y in zip(figures, _stacked(figures, axis, middle), strict=True):
        parts.append(_extent(figure, axis, y))
        if figure.written is not None:
            hollow = figure.state is State.PROVISIONAL
            parts.append(shape(figure.mark, axis.x(figure.written), y, hollow=hollow))
    return Markup(f'<svg class="plot" height="{height}" aria-hidden="true">{"".join(parts)}</svg>')


def _stacked(figures: Sequence[Figure], axis: Axis, middle: float) -> list[float]:
    """Return the y of each mark, apart where several stand at one place."""
    places = [None if figure.written is None else axis.x(figure.written) for figure in figures]
    heights = []
    for number, place in enumerate(places):
        n_alike = places.count(place) if place else 1
        n_before = places[:number].count(place)
        heights.append(middle + STACKED * (n_before - (n_alike - 1) / 2))
    return heights


def _extent(figure: Figure, axis: Axis, y: float) -> str:
    """Return the band of what is still possible, or the interval of a final value."""
    if figure.state is State.PROVISIONAL and figure.low is not None and figure.high is not None:
        width = _percent((figure.high - figure.low) / (axis.high - axis.low))
        box = f'x="{axis.x(figure.low)}" width="{width}" y="{y - 5:g}" height="10" rx="5"'
        return f'<rect class="band m{figure.mark}" {box}/>'
    if figure.state is not State.FINAL or figure.ci_low is None or figure.ci_high is None:
        return ""
    low, high = max(figure.ci_low, axis.low), min(figure.ci_high, axis.high)
    ends = f'x1="{axis.x(low)}" x2="{axis.x(high)}" y1="{y:g}" y2="{y:g}"'
    return f'<line class="ci m{figure.mark}" {ends}/>'


def grid(axis: Axis) -> str:
    """Return the lines at the ticks of an axis, from top to bottom."""
    return "".join(_tick_line(axis, tick, "100%") for tick in axis.ticks)


def scale(axis: Axis, unit: str = notation.RATIO) -> Markup:
    """Draw the numbers below plots, as figures of that unit are written."""
    parts = []
    for tick in axis.ticks:
        place = f'x="{axis.x(tick)}" y="17" text-anchor="middle"'
        parts.append(_tick_line(axis, tick, "4"))
        parts.append(f"<text {place}>{notation.axis_number(tick, unit)}</text>")
    return Markup(f'<svg class="axis" height="20" aria-hidden="true">{"".join(parts)}</svg>')


def shape(mark: int, x: str, y: float, *, hollow: bool = False) -> str:
    """Return the mark of a method at a place; 0 is a grey circle."""
    classes = f"m{mark} hollow" if hollow else f"m{mark}"
    return f'<use href="#s{mark or 1}" class="{classes}" x="{x}" y="{y:g}"/>'


def key(mark: int, *, hollow: bool = False) -> Markup:
    """Draw a method's shape beside its name."""
    drawn = shape(mark, "7", 7, hollow=hollow)
    box = 'width="14" height="14" viewBox="0 0 14 14" aria-hidden="true"'
    return Markup(f'<svg class="key m{mark}" {box}>{drawn}</svg>')


def icon(name: str) -> Markup:
    """Draw an icon of the sprite by its name without ``i-``."""
    return Markup(
        '<svg class="ico" width="14" height="14" viewBox="-7 -7 14 14" aria-hidden="true">'
        f'<use href="#i-{Markup.escape(name)}"/></svg>'
    )


def bar(share: float) -> Markup:
    """Draw a share from 0 to 1 of what is done, as a bar."""
    boxes = "".join(
        f'<rect class="{kind}" width="{_percent(width)}" height="100%" rx="3"/>'
        for kind, width in (("ground", 1), ("share", share))
    )
    return Markup(f'<svg class="progress" aria-hidden="true">{boxes}</svg>')


class Column(NamedTuple):
    """One question of ``columns``: its value from 0 to 1, or why it has none.

    ``kind`` is "value", "missed" (a list that should not be empty), "empty" (rightly), "failed",
    "open" (not judged yet) or "none".
    """

    number: int
    value: float | None
    kind: str = "value"


def columns(questions: Sequence[Column], mark: int, mean: float | None, words: str) -> Markup:
    """Draw a column per question over a dotted `mean`; `words` say what the drawing shows.

    The plot is 164 px high: 130 for a value of 1, and the questions' numbers below, every fifth
    of which stays on narrow screens.
    """
    top, foot = 10, 140
    width = 100 / max(len(questions), 1)
    with_numbers = len(questions) <= MOST_NUMBERED
    parts = [
        f'<line class="{kind}" x1="0" x2="100%" y1="{y}" y2="{y}"/>'
        for kind, y in (("zero", foot), ("g", (top + foot) / 2), ("g", top))
    ]
    for place, column in enumerate(questions):
        start = width * (place + 0.2)
        middle = f"{width * (place + 0.5):.2f}%"
        height: float = foot - top
        if column.value is not None:
            height = max(STUB, height * column.value)
        box = f'x="{start:.2f}%" width="{0.6 * width:.2f}%" y="{foot - height:g}"'
        if column.kind != "none":
            parts.append(f'<rect class="column {column.kind}" {box} height="{height:g}" rx="2"/>')
        if column.kind in {"missed", "empty", "failed"}:
            sign = "no" if column.kind == "failed" else "none"
            parts.append(f'<use class="sign" href="#i-{sign}" x="{middle}" y="{foot - 11}"/>')
        if with_numbers:
            fifth = " fifth" if column.number % 5 == 0 or place == 0 else ""
            at = f'x="{middle}" y="158" text-anchor="middle"'
            parts.append(f'<text class="number{fifth}" {at}>{column.number}</text>')
    if mean is not None:
        y = foot - (foot - top) * mean
        parts.append(f'<line class="mean" x1="0" x2="100%" y1="{y:.1f}" y2="{y:.1f}"/>')
    label = f'role="img" aria-label="{Markup.escape(words)}"'
    return Markup(f'<svg class="plot m{mark}" height="164" {label}>{"".join(parts)}</svg>')


def height_scale(unit: str = notation.RATIO) -> Markup:
    """Draw the numbers at the side of ``columns``."""
    place = 'x="100%" dy=".35em" text-anchor="end"'
    ticks = "".join(
        f'<text y="{y}" {place}>{notation.axis_number(tick, unit)}</text>'
        for tick, y in ((1, 10), (0.5, 75), (0, 140))
    )
    return Markup(f'<svg class="axis heights" height="164" aria-hidden="true">{ticks}</svg>')


def histogram(counts: Sequence[int], first: int, words: str) -> Markup:
    """Draw how often each value from `first` on occurs, as columns with their counts."""
    foot = 120
    width = 100 / max(len(counts), 1)
    highest = max(counts, default=0) or 1
    parts = []
    for place, count in enumerate(counts):
        height = 96 * count / highest
        middle = f"{width * (place + 0.5):.2f}%"
        box = f'x="{width * (place + 0.1):.2f}%" width="{0.8 * width:.2f}%"'
        parts += [
            f'<rect class="count" {box} y="{foot - height:.1f}" height="{height:.1f}" rx="3"/>',
            f'<text x="{middle}" y="{foot - height - 6:.1f}" text-anchor="middle">{count}</text>',
            f'<text x="{middle}" y="{foot + 17}" text-anchor="middle">{first + place}</text>',
        ]
    parts.append(f'<line class="zero" x1="0" x2="100%" y1="{foot}" y2="{foot}"/>')
    label = f'role="img" aria-label="{Markup.escape(words)}"'
    return Markup(f'<svg class="plot" height="142" {label}>{"".join(parts)}</svg>')


def shares(parts: Iterable[tuple[str, float]]) -> Markup:
    """Draw parts of a total beside each other, by their kind and their share from 0 to 1."""
    boxes = ""
    start = 0.0
    for kind, share in parts:
        at = f'x="{_percent(start)}" width="{_percent(share)}"'
        boxes += f'<rect class="part {kind}" {at} height="10"/>'
        start += share
    return Markup(f'<svg class="shares" height="10" aria-hidden="true">{boxes}</svg>')


def heat(share: float) -> int:
    """Return the step of a share from 0 to 1 in a heat map, 0 to 5.

    >>> heat(0), heat(0.1), heat(0.79), heat(1)
    (0, 1, 4, 5)
    """
    return min(STEPS, max(0, int(share * STEPS + 0.5)))


def _tick_line(axis: Axis, tick: float, end: str) -> str:
    kind = "zero" if tick == axis.zero else "g"
    return f'<line class="{kind}" x1="{axis.x(tick)}" x2="{axis.x(tick)}" y1="0" y2="{end}"/>'


def _percent(share: float) -> str:
    return f"{100 * share:.2f}".rstrip("0").rstrip(".") + "%"


class FigureWords(Struct, frozen=True):
    """A figure in words.

    ``text`` is its value. While judgments are open that can still move it, ``is_open`` is true, the
    text is the band from its lowest to its highest reachable value, and ``so_far`` is a sentence on
    the complete questions, whose mean may lie outside the band. ``n`` is over how many questions,
    empty for a figure of one question.
    """

    text: str
    is_open: bool = False
    so_far: str = ""
    n: str = ""


def in_words(
    figure: metrics.Figure | Span,
    unit: Unit = "ratio",
    write: Callable[[float | None, str], str] = notation.figure,
) -> FigureWords:
    """The words of a figure; `write` rounds it, to two decimals unless another is given.

    Where the judgments left open can no longer move it, its text is the only value it can have.
    """
    # A figure of a run is over several questions and has their number; a `Span` is one question's.
    of_run = figure if isinstance(figure, metrics.Figure) else None
    if figure.lower is None or figure.upper is None:  # undefined, or a figure without bounds
        n = f"n = {notation.number(of_run.n)}" if of_run else ""
        return FigureWords(write(figure.value, unit), n=n)
    low, high = write(figure.lower, unit), write(figure.upper, unit)
    if low == high:
        n = f"n = {notation.number(of_run.of or of_run.n)}" if of_run else ""
        return FigureWords(low, n=n)
    band = f"{low}–{high}"
    if of_run is None:
        return FigureWords(band, is_open=True)
    counts = {"n": notation.number(of_run.n), "of": notation.number(of_run.of)}
    so_far = gettext("no question is complete yet")
    if figure.value is not None:
        value = write(figure.value, unit)
        so_far = gettext("so far %(value)s over %(n)s of %(of)s", value=value, **counts)
    return FigureWords(band, is_open=True, so_far=so_far, n=gettext("%(n)s of %(of)s", **counts))
