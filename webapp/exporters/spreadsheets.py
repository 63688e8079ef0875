"""The rated rows as an Excel workbook."""

from __future__ import annotations

import io
import re
from itertools import chain

from webapp.exporters.csv_cells import Cell, neutralised
from webapp.exporters.rated_rows import RATED_COLUMNS, rated_rows
from webapp.metrics.summaries import RunReport

SHEET = "ratings"

# XML has no place for these, and a workbook is XML.
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def rated_xlsx(report: RunReport) -> bytes:
    """A workbook with the cells of the rated CSV: numbers as numbers, unrounded, no formulas.

    Raises ``ValueError`` when a query has "cannot tell" results and its row no verdicts.
    """
    import pandas as pd  # half a second that serving need not pay

    frame = pd.DataFrame(
        [[_value(cell) for cell in row] for row in rated_rows(report)],
        columns=list(RATED_COLUMNS),
        dtype=object,  # else a blank makes every whole number beside it a fraction
    )
    buffer = io.BytesIO()
    with pd.ExcelWriter(buffer, engine="openpyxl") as writer:
        frame.to_excel(writer, sheet_name=SHEET, index=False, freeze_panes=(1, 0))
        for cell in chain.from_iterable(writer.sheets[SHEET].iter_rows()):
            if cell.value == "":
                cell.value = None  # pandas writes nothing as an empty text
            elif isinstance(cell.value, str):
                cell.data_type = "s"  # openpyxl takes the text "#N/A" for an error
    return buffer.getvalue()


def _value(cell: Cell) -> Cell:
    """`cell` without what a workbook cannot hold or would run."""
    return neutralised(_CONTROLS.sub("", cell)) if isinstance(cell, str) else cell
