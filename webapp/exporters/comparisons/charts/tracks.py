"""Panels of figures: a track from 0 to the best value, and on it a dot with its interval."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil

from msgspec import Struct

from webapp import notation
from webapp.exporters.comparisons import words
from webapp.exporters.comparisons.charts import canvas as lettering
from webapp.exporters.comparisons.charts.canvas import SMALL, WIDE, Canvas
from webapp.metrics.comparisons.significance import Interval
from webapp.metrics.judging.queries import BEST_QUALITY
from webapp.metrics.judging.registry import measure_of

GAP = 40.0
EDGE = 8.0
"""Room left and right of a track, for the marks at its ends."""


class Track(Struct, frozen=True):
    """Where the values of one panel lie: from `left` to `right`, 0 to `top`.

    The axis of a track with `few` ticks names only both ends and the middle.
    """

    left: float
    right: float
    top: float
    unit: str = notation.RATIO
    few: bool = False

    @property
    def start(self) -> float:
        """The left end of the panel."""
        return self.left - EDGE

    @property
    def end(self) -> float:
        """The right end of the panel."""
        return self.right + EDGE

    @property
    def ticks(self) -> tuple[float, ...]:
        """The values that the axis names."""
        if self.few:
            return (0.0, self.top / 2, self.top)
        return (0.0, 0.25, 0.5, 0.75, 1.0) if self.top == 1 else (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)

    def at(self, value: float) -> float:
        """Return the place of `value`."""
        share = min(max(value / self.top, 0.0), 1.0)
        return self.left + share * (self.right - self.left)

    def rule(self, canvas: Canvas, middle: float) -> None:
        """Draw the line on which values lie, with its ticks."""
        canvas.line((self.left, middle), (self.right, middle), stroke="rule")
        for tick in self.ticks:
            self._across(canvas, tick, middle, 5, "rule", 1)

    def labels(self, canvas: Canvas, base: float) -> None:
        """Write the values of the ticks on a base line, within the panel."""
        for tick in self.ticks:
            label = notation.scale(tick, self.unit)
            half = lettering.width(label, SMALL) / 2
            where = min(max(self.at(tick), self.start + half), self.end - half)
            canvas.text((where, base), label, size=SMALL, fill="soft", anchor="middle")

    def named(self, canvas: Canvas, base: float, name: str, said: str, size: float) -> None:
        """Write a name at the left end of the panel and `said` at the right."""
        room = self.end - self.start - lettering.width(said, SMALL) - 12
        canvas.text((self.start, base), name, size=size, room=room)
        canvas.text((self.end, base), said, size=SMALL, fill="soft", anchor="end")

    def estimate(
        self,
        canvas: Canvas,
        value: float | None,
        interval: Interval,
        middle: float,
        *,
        partial: bool = False,
    ) -> None:
        """Draw a value, hollow if it is partial, and its interval; nothing if it is undefined."""
        if value is None:
            return
        if interval.lower is not None and interval.upper is not None:
            low, high = self.at(interval.lower), self.at(interval.upper)
            canvas.line((low, middle), (high, middle), stroke="accent", width=2)
            for end in (interval.lower, interval.upper):
                self._across(canvas, end, middle, 4, "accent", 2)
        canvas.dot((self.at(value), middle), fill="paper" if partial else "accent")

    def _across(
        self, canvas: Canvas, value: float, middle: float, half: float, stroke: str, width: float
    ) -> None:
        where = self.at(value)
        canvas.line((where, middle - half), (where, middle + half), stroke=stroke, width=width)


def top_of(figure: str) -> float:
    """Return the largest value a figure can have."""
    return float(BEST_QUALITY) if measure_of(figure).unit == "grade 0-5" else 1.0


def panels(
    width: float, figures: Sequence[str], height: float
) -> Iterator[tuple[str, float, Track]]:
    """Yield each figure with the top of its panel and its track; wide pictures have two columns."""
    columns = _columns(width)
    panel = (width - GAP * (columns - 1)) / columns
    for number, figure in enumerate(figures):
        left = (number % columns) * (panel + GAP)
        track = Track(left + EDGE, left + panel - EDGE, top_of(figure), words.unit_of(figure))
        yield figure, (number // columns) * height, track


def below(width: float, figures: Sequence[str], height: float) -> float:
    """Return where the panels end."""
    return ceil(len(figures) / _columns(width)) * height


def value(found: float | None, interval: Interval, unit: str) -> str:
    """Return a figure and its interval in words."""
    bounds = notation.interval(interval.lower, interval.upper, unit)
    return f"{notation.figure(found, unit)}{'' if interval.lower is None else f' {bounds}'}"


def _columns(width: float) -> int:
    return 2 if width >= WIDE else 1
