"""How far each run is rated: one bar per run, every question in exactly one part of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from webapp import notation
from webapp.exporters.comparisons.charts.canvas import LINE, SMALL, WIDE, Canvas, Palette, Picture
from webapp.i18n import gettext, mark
from webapp.metrics.comparisons.comparisons import Comparison, Contender
from webapp.metrics.comparisons.report import ComparisonReport

ROW = 62.0
BAR = 12.0

COMPLETE = mark("complete")
FAILED = mark("failed call")
WAITING = mark("waiting for verdicts")
UNREADABLE = mark("unreadable")
NOT_RUN = mark("not run")
PARTS = (COMPLETE, FAILED, WAITING, UNREADABLE, NOT_RUN)

Place = tuple[tuple[float, float], tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Parts:
    """The questions of the set as one run has them; the counts add up to the set."""

    name: str
    counts: tuple[int, ...]

    @property
    def said(self) -> str:
        """The counts in words, without those that are 0."""
        some = [
            f"{notation.number(count)} {gettext(part)}"
            for part, count in zip(PARTS, self.counts, strict=True)
            if count
        ]
        return ", ".join(some)


def draw(report: ComparisonReport, palette: Palette, width: float = WIDE) -> Picture:
    """Return how many questions of each run are rated, wait, failed or were not run."""
    comparison = report.comparison
    canvas = Canvas(width, palette)
    runs = [_parts(contender, comparison) for contender in comparison.contenders]
    for number, parts in enumerate(runs):
        _row(canvas, parts, len(comparison.questions), number * ROW)
    foot = ROW * len(runs) + 4
    present = [part for place, part in enumerate(PARTS) if any(r.counts[place] for r in runs)]
    foot += _key(canvas, present, foot)
    return canvas.picture(
        "progress",
        gettext("How far each run is rated"),
        " ".join(f"{parts.name}: {parts.said}." for parts in runs),
        foot + 4,
    )


def _parts(contender: Contender, comparison: Comparison) -> Parts:
    missing, of = contender.missing, len(comparison.questions)
    others = (
        len(missing.failed),
        len(missing.incomplete),
        len(missing.unreadable),
        len(missing.not_run),
    )
    return Parts(contender.run.name, (of - sum(others), *others))


def _row(canvas: Canvas, parts: Parts, of: int, top: float) -> None:
    soft, width = canvas.palette.soft, canvas.width
    canvas.text((0, top + 14), parts.name, room=width)
    canvas.text((0, top + 50), parts.said, size=SMALL, fill=soft, room=width)
    left = 0.5
    for part, count in zip(PARTS, parts.counts, strict=True):
        size = (canvas.width - 1) * count / of if of else 0.0
        if count:
            DRAWN[part](canvas, ((left, top + 22), (max(size, 1.0), BAR)))
        left += size


def _key(canvas: Canvas, present: list[str], top: float) -> float:
    """One line per kind of part that occurs: its look and its name."""
    for number, part in enumerate(present):
        down = top + number * SMALL * LINE * 1.2
        DRAWN[part](canvas, ((0.5, down), (22, 11)))
        canvas.text((32, down + 10), gettext(part), size=SMALL, fill=canvas.palette.soft)
    return len(present) * SMALL * LINE * 1.2


def _complete(canvas: Canvas, place: Place) -> None:
    canvas.box(*place, fill=canvas.palette.accent, stroke=canvas.palette.accent)


def _failed(canvas: Canvas, place: Place) -> None:
    canvas.box(*place, stroke=canvas.palette.bad)
    canvas.hatching(*place, canvas.palette.bad)


def _waiting(canvas: Canvas, place: Place) -> None:
    canvas.box(*place, stroke=canvas.palette.accent)


def _unreadable(canvas: Canvas, place: Place) -> None:
    canvas.box(*place, fill=canvas.palette.rule, stroke=canvas.palette.edge)


def _not_run(canvas: Canvas, place: Place) -> None:
    canvas.box(*place, stroke=canvas.palette.edge, dash="3 3")


DRAWN: dict[str, Callable[[Canvas, Place], None]] = {
    COMPLETE: _complete,
    FAILED: _failed,
    WAITING: _waiting,
    UNREADABLE: _unreadable,
    NOT_RUN: _not_run,
}
