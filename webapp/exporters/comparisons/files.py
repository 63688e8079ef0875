"""A comparison as a file: every format with how it is made, its ending and its media type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from webapp.exporters.comparisons.document import document
from webapp.exporters.comparisons.json_file import comparison_bytes
from webapp.exporters.frame.latex import latex
from webapp.exporters.frame.spreadsheets import tables_workbook
from webapp.exporters.frame.tables import Document, html, markdown
from webapp.metrics.comparisons.comparisons import ComparisonReport
from webapp.notation import file_day

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


class ReportFormat(Struct, frozen=True):
    """One format: ``render`` makes the file of a report and the day it is dated."""

    render: Callable[[Any, date], bytes]
    extension: str
    media_type: str


def formats(
    document: Callable[[Any, date], Document],
    json: Callable[[Any], bytes],
) -> Mapping[str, ReportFormat]:
    """Return every format of a report by the name that the command line and the page give it."""

    def of(write: Callable[[Document], bytes]) -> Callable[[Any, date], bytes]:
        return lambda report, on: write(document(report, on))

    return MappingProxyType(
        {
            "markdown": ReportFormat(of(markdown), "md", "text/markdown; charset=utf-8"),
            "latex": ReportFormat(of(latex), "tex", "application/x-tex; charset=utf-8"),
            "html": ReportFormat(of(html), "html", "text/html; charset=utf-8"),
            "xlsx": ReportFormat(of(tables_workbook), "xlsx", XLSX),
            "json": ReportFormat(lambda report, _on: json(report), "json", "application/json"),
        }
    )


FORMATS = formats(document, comparison_bytes)


def file_name(report: ComparisonReport, file_format: str, on: date) -> str:
    """Return the name of a report's file: that of the original scripts for a phase.

    Raises ``KeyError`` for an unknown format.
    """
    start = "" if report.phase is None else f"phase{report.phase}_"
    return f"{start}comparison_{file_day(on)}.{FORMATS[file_format].extension}"
