"""A comparison as an Excel workbook: one sheet per table, numbers as numbers and unrounded."""

from __future__ import annotations

from collections.abc import Iterator

from webapp.exporters.frame.spreadsheets import Sheet, workbook
from webapp.exporters.frame.tables import Column, Document, Table
from webapp.i18n import gettext

TEXT_SHEET = "report"


def tables_workbook(found: Document) -> bytes:
    """Return a document as a workbook."""
    tables = [table for section in found.sections for table in section.tables]
    return workbook([_said(found), *map(_sheet, tables)])


def _said(found: Document) -> Sheet:
    rows = [(found.subtitle, "")]
    for section in found.sections:
        rows += [(section.title, sentence) for sentence in section.sentences]
    return Sheet(TEXT_SHEET, (found.title, gettext("Text")), rows)


def _sheet(table: Table) -> Sheet:
    """The table with one column per value, so that a spreadsheet can reckon with each."""
    columns = [heading for column in table.columns for heading in _headings(column)]
    rows = [[value for cell in row for value in cell.values] for row in table.rows]
    blank = [""] * (len(columns) - 1)
    notes = [[note, *blank] for note in ("", table.title, *table.notes)]
    return Sheet(table.name, columns, [*rows, *notes])


def _headings(column: Column) -> Iterator[str]:
    if not column.parts:
        yield column.heading
    for part in column.parts:
        yield f"{column.heading}: {part}"
