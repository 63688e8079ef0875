"""How far each run is rated: one bar per run, every question in exactly one part of it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypedDict

from msgspec import Struct

from webapp import notation
from webapp.exporters.comparisons.charts.canvas import LINE, SMALL, WIDE, Canvas, Palette, Picture
from webapp.i18n import gettext, mark
from webapp.metrics.comparisons.comparisons import Comparison, ComparisonReport, Contender

ROW = 62.0
BAR = 12.0
KEY = SMALL * LINE * 1.2


class BoxLook(TypedDict, total=False):
    """How a part of a bar is drawn, as ``Canvas.box`` takes it."""

    fill: str
    stroke: str
    look: str


LOOKS: Mapping[str, BoxLook] = MappingProxyType(
    {
        mark("complete"): {"fill": "accent", "stroke": "accent"},
        mark("failed call"): {"stroke": "bad", "look": "hatched"},
        mark("waiting for verdicts"): {"stroke": "accent"},
        mark("unreadable"): {"fill": "rule", "stroke": "edge"},
        mark("not run"): {"stroke": "edge", "look": "dashed"},
    }
)
"""Every part of a run's questions, in the order drawn; looks differ in more than colour."""


class Parts(Struct, frozen=True):
    """The questions of the set as one run has them; the counts add up to the set."""

    name: str
    counts: tuple[int, ...]

    @property
    def said(self) -> str:
        """The counts in words, without those that are 0."""
        return ", ".join(
            f"{notation.number(count)} {gettext(part)}"
            for part, count in zip(LOOKS, self.counts, strict=True)
            if count
        )


def draw(report: ComparisonReport, palette: Palette, width: float = WIDE) -> Picture:
    """Return how many questions of each run are rated, wait, failed or were not run."""
    comparison = report.comparison
    canvas = Canvas(width, palette)
    runs = [_parts(contender, comparison) for contender in comparison.contenders]
    for number, parts in enumerate(runs):
        _row(canvas, parts, len(comparison.questions), number * ROW)
    foot = ROW * len(runs) + 4
    for place, (part, look) in enumerate(LOOKS.items()):
        if any(run.counts[place] for run in runs):
            canvas.box((0.5, foot), (22, 11), **look)
            canvas.text((32, foot + 10), gettext(part), size=SMALL, fill="soft")
            foot += KEY
    title = gettext("How far each run is rated")
    description = " ".join(f"{parts.name}: {parts.said}." for parts in runs)
    return canvas.picture("progress", title, description, foot + 4)


def _parts(contender: Contender, comparison: Comparison) -> Parts:
    missing, of = contender.missing, len(comparison.questions)
    kinds = (missing.failed, missing.incomplete, missing.unreadable, missing.not_run)
    others = tuple(map(len, kinds))
    return Parts(contender.run.name, (of - sum(others), *others))


def _row(canvas: Canvas, parts: Parts, of: int, top: float) -> None:
    canvas.text((0, top + 14), parts.name, room=canvas.width)
    canvas.text((0, top + 50), parts.said, size=SMALL, fill="soft", room=canvas.width)
    left = 0.5
    for look, count in zip(LOOKS.values(), parts.counts, strict=True):
        size = (canvas.width - 1) * count / of if of else 0.0
        if count:
            canvas.box((left, top + 22), (max(size, 1.0), BAR), **look)
        left += size
