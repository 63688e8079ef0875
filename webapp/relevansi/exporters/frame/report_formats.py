"""The formats of a report: how the file of each is made, its ending and its media type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

from msgspec import Struct

from relevansi.exporters.frame.json_files import json_file
from relevansi.exporters.frame.latex import latex
from relevansi.exporters.frame.spreadsheets import tables_workbook
from relevansi.exporters.frame.tables import Document, html, markdown

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


class ReportFormat(Struct, frozen=True):
    """One format: ``render`` makes the file of a report and the day it is dated."""

    render: Callable[[Any, date], bytes]
    extension: str
    media_type: str


def formats(
    document: Callable[[Any, date], Document], values: Callable[[Any], object]
) -> Mapping[str, ReportFormat]:
    """Return every format of a report by the name that the command line and the page give it.

    `values` is what its JSON holds, the same on every day.
    """

    def of(write: Callable[[Document], bytes]) -> Callable[[Any, date], bytes]:
        return lambda report, on: write(document(report, on))

    return {
        "markdown": ReportFormat(of(markdown), "md", "text/markdown; charset=utf-8"),
        "latex": ReportFormat(of(latex), "tex", "application/x-tex; charset=utf-8"),
        "html": ReportFormat(of(html), "html", "text/html; charset=utf-8"),
        "docx": ReportFormat(of(_word_file), "docx", DOCX),
        "xlsx": ReportFormat(of(tables_workbook), "xlsx", XLSX),
        "json": ReportFormat(
            lambda report, _on: json_file(values(report)), "json", "application/json"
        ),
    }


def _word_file(document: Document) -> bytes:
    from relevansi.exporters.frame.word_files import word_file  # noqa: PLC0415 - python-docx costs a start 0.25 s

    return word_file(document)
