"""Excel workbooks: cells that never run, and the same bytes for the same cells."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Sequence
from itertools import chain

from msgspec import Struct

from relevansi.exporters.frame.csv_cells import Value, neutralised
from relevansi.exporters.frame.tables import Document, Table
from relevansi.i18n import gettext

# XML has no place for these, and a workbook is XML.
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")

_TIMES = re.compile(rb"(?<=W3CDTF\">)[^<]+")
EPOCH = b"1980-01-01T00:00:00Z"
"""The oldest time an archive can state, in every file: the same cells give the same file."""

LONGEST_NAME = 31
"""Characters of a sheet's name; of a longer one spreadsheets say that the file is broken."""


class Sheet(Struct, frozen=True):
    """One sheet of a workbook: its name, its headings and its rows."""

    name: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Value]]


def workbook(sheets: Sequence[Sheet]) -> bytes:
    """Return an Excel workbook: no cell runs, and the same cells give the same bytes."""
    import pandas as pd  # noqa: PLC0415 - half a second that serving need not pay

    buffer = io.BytesIO()
    with pd.ExcelWriter(buffer, engine="openpyxl") as writer:
        for sheet in sheets:
            frame = pd.DataFrame(
                [[_value(cell) for cell in row] for row in sheet.rows],
                columns=[_value(heading) for heading in sheet.columns],
                dtype=object,  # else a blank makes every whole number beside it a fraction
            )
            frame.to_excel(writer, sheet_name=sheet.name, index=False, freeze_panes=(1, 0))
            for cell in chain.from_iterable(writer.sheets[sheet.name].iter_rows()):
                if cell.value == "":
                    cell.value = None  # pandas writes None as an empty text
                elif isinstance(cell.value, str):
                    cell.data_type = "s"  # openpyxl takes the text "#N/A" for an error
    return undated(buffer.getvalue())


def undated(data: bytes) -> bytes:
    """Return an archive of a document without the time and system of its making."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as dated,
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as undated,
    ):
        for name in dated.namelist():
            content = dated.read(name)
            if name == "docProps/core.xml":
                content = _TIMES.sub(EPOCH, content)
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 0
            undated.writestr(entry, content)
    return buffer.getvalue()


def _value(cell: Value) -> Value:
    return neutralised(_CONTROLS.sub("", cell)) if isinstance(cell, str) else cell


def tables_workbook(document: Document) -> bytes:
    """Return a document as a workbook: a sheet of its sentences, then one for each table."""
    rows = [(document.subtitle, "")]
    rows += [(document.title, sentence) for sentence in document.lead]
    table_sheets: list[Sheet] = []
    for section in document.every_section:
        rows += [(section.title, sentence) for sentence in section.sentences]
        table_sheets += map(_sheet, section.tables)
    report = Sheet("report", (document.title, gettext("Text")), rows)
    return workbook([report, *table_sheets])


def _sheet(table: Table) -> Sheet:
    """Return a table with one column per value, so that a spreadsheet can compute with each."""
    columns: list[str] = []
    for column in table.columns:
        columns += [f"{column.heading}: {part}" for part in column.parts] or [column.heading]
    rows = [list(chain.from_iterable(cell.values for cell in row)) for row in table.rows]
    blank = [""] * (len(columns) - 1)
    notes = [[note, *blank] for note in ("", table.title, *table.notes)]
    return Sheet(table.name[:LONGEST_NAME], columns, [*rows, *notes])
