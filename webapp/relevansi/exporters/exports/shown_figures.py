"""A figure as every page, report and table shows it: its value, or the band it can still reach."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from relevansi import notation
from relevansi.i18n import gettext
from relevansi.metrics.judging.figures import Figure
from relevansi.metrics.judging.queries import Span
from relevansi.metrics.judging.registry import Unit


class ShownFigure(Struct, frozen=True):
    """A figure in words.

    ``text`` is its value; while judgments are open that can still move it, ``is_open`` and the text
    is the band from its lowest to its highest reachable value. ``so_far`` is then the sentence on
    the complete questions, for whoever asks: their mean may lie outside the band. ``n`` is over how
    many questions, empty for a figure of one question.
    """

    text: str
    is_open: bool = False
    so_far: str = ""
    n: str = ""


def shown(
    figure: Figure | Span,
    unit: Unit = "ratio",
    write: Callable[[float | None, str], str] = notation.figure,
) -> ShownFigure:
    """The words of a figure; `write` rounds it, to two decimals unless another is given.

    Where the judgments left open can no longer move it, the only value it can have.
    """
    of_several = figure if isinstance(figure, Figure) else None
    if figure.lower is None or figure.upper is None:  # undefined, or no bounds are claimed of it
        n = f"n = {notation.number(of_several.n)}" if of_several else ""
        return ShownFigure(write(figure.value, unit), n=n)
    low, high = write(figure.lower, unit), write(figure.upper, unit)
    if low == high:
        n = f"n = {notation.number(of_several.of or of_several.n)}" if of_several else ""
        return ShownFigure(low, n=n)
    if of_several is None:
        return ShownFigure(f"{low}–{high}", is_open=True)
    counts = {"n": notation.number(of_several.n), "of": notation.number(of_several.of)}
    so_far = gettext("no question is complete yet")
    if figure.value is not None:
        value = write(figure.value, unit)
        so_far = gettext("so far %(value)s over %(n)s of %(of)s", value=value, **counts)
    n = gettext("%(n)s of %(of)s", **counts)
    return ShownFigure(f"{low}–{high}", is_open=True, so_far=so_far, n=n)
