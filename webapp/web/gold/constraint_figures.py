"""The figures of a run under its gold questions, as pages show them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from msgspec import Struct

from webapp.i18n import gettext
from webapp.metrics.gold.constraints import (
    ConstraintConfusion,
    ConstraintReport,
    figures_per_constraint,
    headline_figures,
)
from webapp.metrics.gold.registry import CONSTRAINT_LABELS, CONSTRAINT_MEASURES
from webapp.notation import four
from webapp.web.frame import formatting

CELLS = (
    ConstraintConfusion.TP,
    ConstraintConfusion.FN,
    ConstraintConfusion.FP,
    ConstraintConfusion.TN,
)


class FigureLine(Struct, frozen=True):
    """One figure of the run: its name, its value, and the number of items it is over."""

    name: str
    label: str
    value: str
    n: int


class MatrixCell(Struct, frozen=True):
    """One cell of the confusion matrix with the numbers of its questions."""

    name: str
    questions: tuple[int, ...]


class Summary(Struct, frozen=True):
    """The figures and the matrix of a run, which every decision changes."""

    figures: tuple[FigureLine, ...]
    matrix: Mapping[str, MatrixCell]
    pca: tuple[FigureLine, ...]


def summary(report: ConstraintReport) -> Summary:
    """Return the figures and the matrix of the run, which every decision changes."""
    numbers = {
        cell: tuple(q.question.query_id for q in report.queries if q.confusion is cell)
        for cell in CELLS
    }
    return Summary(
        figures=tuple(
            FigureLine(name, gettext(CONSTRAINT_MEASURES[name].label), four(found.value), found.n)
            for name, found in headline_figures(report).items()
        ),
        matrix={str(cell): MatrixCell(str(cell), held) for cell, held in numbers.items()},
        pca=tuple(
            FigureLine("pca", gettext(CONSTRAINT_LABELS[name]), four(found.value), found.n)
            for name, found in figures_per_constraint(report).items()
        ),
    )


def threshold(value: Fraction) -> str:
    """Return the threshold T as pages write it."""
    return formatting.number(float(value))
