"""The comparison under V2 on the page of a comparison."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from webapp.exporters.comparisons.words import answer, counted
from webapp.exporters.frame.tables import Table
from webapp.exporters.gold import constraint_reports as tables
from webapp.metrics.comparisons.comparisons import ComparisonReport
from webapp.metrics.gold.constraints import PART, ConstraintComparison
from webapp.web.comparisons.comparisons import Address
from webapp.web.feature import ShownPart
from webapp.web.gold import constraint_words
from webapp.web.gold.constraint_words import MatrixCell

STYLES = ("gold/constraints.css",)


class RunMatrix(Struct, frozen=True):
    """The confusion matrix of one run, by the names of its cells."""

    id: str
    name: str
    matrix: Mapping[str, MatrixCell]


class ComparedConstraints(Struct, frozen=True):
    """A comparison under V2 in the words and tables of its reports."""

    basis: str
    answer: tuple[str, ...]
    lacks: tuple[str, ...]
    figures: Table
    matrices: tuple[RunMatrix, ...]
    differences_said: str
    conclusions: tuple[str, ...]
    differences: Table
    signed_ranks: Table


def part(report: ComparisonReport, address: Address) -> ShownPart | None:
    """Return the runs compared under V2, or where gold questions are added; files have neither."""
    if not address.has_answers:
        return None
    found: ConstraintComparison | None = report.part(PART)
    return ShownPart("gold/_compared.html", None if found is None else _checked(found))


def _checked(found: ConstraintComparison) -> ComparedConstraints:
    main = tables.main(found)
    return ComparedConstraints(
        basis=tables.basis(found),
        answer=answer(found, {one.figure for one in main}),
        lacks=tables.lacks(found),
        figures=tables.figures(found),
        matrices=tuple(
            RunMatrix(one.run, one.name, constraint_words.summary(one.report).matrix)
            for one in found.contenders
        ),
        differences_said=counted(found, main),
        conclusions=tables.conclusions(found),
        differences=tables.differences(found),
        signed_ranks=tables.signed_ranks(found),
    )
