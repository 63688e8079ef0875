"""The results of ``relevansi score`` as tables for the terminal."""

from __future__ import annotations

from collections.abc import Mapping

from webapp import labels, notation
from webapp.cli.frame.tables import TerminalTable, printed
from webapp.exporters.frame.tables import Document
from webapp.i18n import gettext, mark
from webapp.metrics.gold.constraints import (
    ConstraintReport,
    ConstraintTotals,
    MissingRule,
    headline_figures,
)
from webapp.metrics.gold.registry import CONSTRAINT_LABELS, CONSTRAINT_MEASURES

WIDTH = 100

MISSING_NOTES = {
    MissingRule.COUNTED: mark(
        "What is asked but not on a card (MISSING) counts as not passed, as in the recorded "
        "evaluations; --missing left-out leaves it out, as in their description."
    ),
    MissingRule.LEFT_OUT: mark(
        "What is asked but not on a card (MISSING) is left out, as in the description of the "
        "method; its recorded evaluations count it as not passed."
    ),
}


def constraints_table(report: ConstraintReport) -> bytes:
    """The figures of the evaluation, per constraint, per category, and the matrix."""
    whole = report.totals
    figures = _new(gettext("Figure"), gettext("Value"))
    for name, found in headline_figures(report).items():
        figures.row(gettext(CONSTRAINT_MEASURES[name].label), notation.four(found.value))
    figures.section()
    for constraint, value in whole.pca.items():
        figures.row(gettext(CONSTRAINT_LABELS[constraint]), notation.four(value))
    counts = gettext(
        "%(queries)s questions, %(cards)s cards, threshold %(threshold)s",
        queries=whole.n_queries,
        cards=whole.n_properties,
        threshold=notation.number(float(report.threshold)),
    )
    note = gettext(MISSING_NOTES[report.missing])
    parts = (counts, figures, _matrix(whole), _categories(report.categories), note)
    return printed(parts, width=WIDTH)


def report_table(report: Document) -> bytes:
    """A report of scores: its tables, and below them its sentences."""
    parts: list[TerminalTable | str] = []
    for section in report.sections:
        for found in section.tables:
            table = _new(*(column.heading for column in found.columns), title=found.title)
            for row in found.rows:
                table.row(*(cell.text for cell in row))
            parts += [table, *found.notes]
        if section.sentences:
            parts += [f"{section.title}:", *(f"* {said}" for said in section.sentences)]
    return printed(parts, width=WIDTH)


def _matrix(whole: ConstraintTotals) -> TerminalTable:
    table = _new("", gettext("Met"), gettext("Not met"))
    matrix = whole.matrix
    table.row(gettext("Has data"), f"TP {matrix.tp}", f"FN {matrix.fn}")
    table.row(gettext("No data"), f"FP {matrix.fp}", f"TN {matrix.tn}")
    return table


def _categories(categories: Mapping[str, ConstraintTotals]) -> TerminalTable:
    table = _new(
        gettext("Category"),
        gettext("Questions"),
        gettext("Query success rate"),
        gettext("Results"),
        gettext("Mean CPR"),
    )
    for name, part in categories.items():
        success = f"{part.n_successful} ({notation.four(part.success_rate)})"
        cpr = notation.four(part.mean_cpr)
        table.row(labels.category(name), str(part.n_queries), success, str(part.n_properties), cpr)
    return table


def _new(first: str, *others: str, title: str = "") -> TerminalTable:
    table = TerminalTable(title)
    table.left(first)
    table.right(*others)
    return table
