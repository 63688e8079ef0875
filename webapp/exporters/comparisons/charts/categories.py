"""One figure by category and run as a heat map: the value in every cell, the shade beside it."""

from __future__ import annotations

from collections.abc import Mapping

from webapp import labels, notation
from webapp.exporters.comparisons import words
from webapp.exporters.comparisons.charts import canvas as lettering
from webapp.exporters.comparisons.charts.canvas import (
    LINE,
    NORMAL,
    SMALL,
    WIDE,
    Canvas,
    Palette,
    Picture,
    Point,
)
from webapp.exporters.comparisons.charts.tracks import top_of
from webapp.i18n import gettext, ngettext
from webapp.metrics.comparisons.comparisons import Comparison, ComparisonReport, Contender
from webapp.metrics.judging.figures import Figure
from webapp.printable import printable_line

MOST = 30
"""So many categories are drawn; the tables have all."""

CELL = 38.0
GAP = 2.0
MOST_LINES = 3
"""If any heading needs more lines, all become letters, and a key below explains them."""

PALEST, DARKEST = 0.04, 0.45
"""The shade of 0 and of the largest value: ink stays readable on both, light and dark."""


def draw(
    report: ComparisonReport,
    palette: Palette,
    width: float = WIDE,
    *,
    figure: str = "mean_precision_at_5",
) -> Picture:
    """Return one headline figure of every category in every run."""
    comparison = report.comparison
    canvas = Canvas(width, palette)
    shown = comparison.categories[:MOST]
    label = _label_width(shown, width)
    column = (width - label) / len(comparison.contenders)
    top = _headings(canvas, comparison, label, column)
    for number, category in enumerate(shown):
        down = top + number * CELL
        _label(canvas, category, down + CELL / 2 + 4, label - 10)
        for place, contender in enumerate(comparison.contenders):
            corner = (label + place * column + GAP, down + GAP)
            _cell(canvas, contender.categories.get(category), figure, corner, column - GAP)
    foot = top + len(shown) * CELL + 12
    foot += _scale(canvas, figure, foot)
    for said in _remarks(comparison, shown, column):
        foot += canvas.paragraph((0, foot), said, room=width)
    return canvas.picture(
        f"categories-{figure}",
        gettext("%(figure)s by category", figure=words.figure_name(figure)),
        _description(comparison, shown, figure),
        foot + 4,
    )


def _label_width(categories: tuple[str, ...], width: float) -> float:
    longest = max(
        (lettering.width(labels.category(name), NORMAL) for name in categories), default=0.0
    )
    return min(longest + 12, width * 0.4)


def _label(canvas: Canvas, category: str, middle: float, room: float) -> None:
    """The category's name in one line or two about the middle of its row."""
    found = lettering.lines(printable_line(labels.category(category)), NORMAL, room, most=2)
    for number, line in enumerate(found):
        canvas.text((0, middle + (number - (len(found) - 1) / 2) * NORMAL * LINE), line)


def _headings(canvas: Canvas, comparison: Comparison, label: float, column: float) -> float:
    """The runs' names above their columns, or letters where they have no room."""
    room = column - 6
    headings: list[tuple[str, ...]] = [_heading(c, column) for c in comparison.contenders]
    if _lettered(comparison, column):
        headings = [(_letter(place),) for place in range(len(headings))]
    tallest = max(map(len, headings))
    for place, found in enumerate(headings):
        centre = label + place * column + GAP / 2 + column / 2
        for number, line in enumerate(found):
            base = NORMAL + (tallest - len(found) + number) * NORMAL * LINE
            canvas.text((centre, base), line, anchor="middle", room=room)
    return tallest * NORMAL * LINE + 4


def _heading(contender: Contender, column: float) -> tuple[str, ...]:
    return lettering.lines(printable_line(contender.run.name), NORMAL, column - 6)


def _lettered(comparison: Comparison, column: float) -> bool:
    """Whether a name does not fit above its column."""
    headings = [_heading(contender, column) for contender in comparison.contenders]
    cut = any(line.endswith(lettering.ELLIPSIS) for lines in headings for line in lines)
    return cut or max(map(len, headings)) > MOST_LINES


def _cell(
    canvas: Canvas,
    figures: Mapping[str, Figure] | None,
    figure: str,
    corner: Point,
    width: float,
) -> None:
    size = (width, CELL - GAP)
    value = figures[figure].value if figures else None
    if value is None:
        canvas.box(corner, size, stroke="rule", look="dashed")
    else:
        canvas.box(corner, size, fill="accent", shade=_shade(value / top_of(figure)))
    said = lettering.lines(gettext("not run"), SMALL, width, most=2)
    if figures:
        written = notation.figure(value, words.unit_of(figure))
        said = (written, f"n = {notation.number(figures[figure].n)}")
    for number, line in enumerate(said):
        place = (corner[0] + width / 2, corner[1] + 16 + number * 14 + (2 - len(said)) * 6)
        letters = NORMAL if figures and number == 0 else SMALL
        canvas.text(place, line, size=letters, anchor="middle", room=width)


def _shade(share: float) -> float:
    return PALEST + (DARKEST - PALEST) * share


def _scale(canvas: Canvas, figure: str, top: float) -> float:
    """The shades from 0 to the largest value, as a row of swatches."""
    steps, size, base = 5, 22.0, top + 12
    unit = words.unit_of(figure)
    least, most = notation.scale(0, unit), notation.scale(top_of(figure), unit)
    canvas.text((0, base), least, size=SMALL)
    left = lettering.width(least, SMALL) + 6
    for step in range(steps):
        shade = _shade(step / (steps - 1))
        canvas.box((left + step * size, top + 2), (size, 12), fill="accent", shade=shade)
    right = left + steps * size + 6
    canvas.text((right, base), most, size=SMALL)
    right += lettering.width(most, SMALL) + 16
    said = gettext('Dashed, "-": undefined')
    canvas.text((right, base), said, size=SMALL, fill="soft", room=canvas.width - right)
    return 24.0


def _remarks(comparison: Comparison, shown: tuple[str, ...], column: float) -> list[str]:
    remarks = []
    if _lettered(comparison, column):
        remarks += [
            f"{_letter(place)}: {contender.run.name}"
            for place, contender in enumerate(comparison.contenders)
        ]
    left_out = len(comparison.categories) - len(shown)
    if left_out:
        remarks.append(
            ngettext(
                "%(n)s more category is in the table only.",
                "%(n)s more categories are in the table only.",
                left_out,
            )
        )
    return remarks


def _letter(place: int) -> str:
    """A, B, ... Z, then A2, B2, ...

    >>> _letter(0), _letter(27)
    ('A', 'B2')
    """
    turn, letter = divmod(place, 26)
    return chr(ord("A") + letter) + (str(turn + 1) if turn else "")


def _description(comparison: Comparison, shown: tuple[str, ...], figure: str) -> str:
    lines, unit = [], words.unit_of(figure)
    for category in shown:
        found = []
        for contender in comparison.contenders:
            figures = contender.categories.get(category)
            said = notation.figure(figures[figure].value, unit) if figures else gettext("not run")
            n = f" n = {notation.number(figures[figure].n)}" if figures else ""
            found.append(f"{contender.run.name} {said}{n}")
        lines.append(f"{labels.category(category)}: {'; '.join(found)}.")
    return " ".join(lines)
