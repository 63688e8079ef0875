"""What figures and their differences are called in reports, and in which unit."""

from __future__ import annotations

from collections.abc import Sequence

from relevansi.i18n import gettext, mark
from relevansi.metrics.comparisons.differences import Difference
from relevansi.metrics.judging.registry import Unit, label_of, measure_of
from relevansi.records import BINARY, Scale

COMPOSITE = mark("Composite of the original comparison")


def figure_name(figure: str, scale: Scale = BINARY) -> str:
    """Return the name of a figure, on a scale of grades with the one that it starts from."""
    return gettext(COMPOSITE) if figure == "composite" else label_of(figure, scale)


def unit_of(figure: str) -> Unit:
    """Return the unit of a figure, which says how it is written."""
    return measure_of(figure).unit


def joined(names: Sequence[str]) -> str:
    """Return the names as a list with "and" before the last, in the language in force.

    >>> joined(["API Only", "Hybrid", "Vector Only"]), joined(["Hybrid"])
    ('API Only, Hybrid dan Vector Only', 'Hybrid')
    """
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {gettext('and')} {names[-1]}"


def difference_name(difference: Difference) -> str:
    """Return the name of a difference: the figure, with false negatives at 0 where they are."""
    if difference.measure is not None:
        return gettext(difference.measure.label)
    label = figure_name(difference.figure, difference.scale)
    if not difference.false_negatives_at_zero or difference.figure == "mrr_answerable":
        return label
    return gettext("%(figure)s, false negatives at 0", figure=label)


def difference_unit(difference: Difference) -> Unit:
    """Return the unit of the figure, or of the measure under V2, that a difference is of."""
    return (difference.measure or measure_of(difference.figure)).unit
