"""A comparison as a file: every format with how it is made, its ending and its media type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType

from webapp.exporters.comparisons.html import comparison_html
from webapp.exporters.comparisons.json_file import comparison_bytes
from webapp.exporters.comparisons.latex import comparison_latex
from webapp.exporters.comparisons.markdown import comparison_markdown
from webapp.exporters.comparisons.xlsx import comparison_xlsx
from webapp.metrics.comparisons.report import ComparisonReport
from webapp.notation import file_day

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


@dataclass(frozen=True, slots=True)
class ReportFormat:
    """One format: ``render`` makes the file of a report and the day it is dated."""

    render: Callable[[ComparisonReport, date], bytes]
    extension: str
    media_type: str


FORMATS: Mapping[str, ReportFormat] = MappingProxyType(
    {
        "markdown": ReportFormat(comparison_markdown, "md", "text/markdown; charset=utf-8"),
        "latex": ReportFormat(comparison_latex, "tex", "application/x-tex; charset=utf-8"),
        "html": ReportFormat(comparison_html, "html", "text/html; charset=utf-8"),
        "xlsx": ReportFormat(comparison_xlsx, "xlsx", XLSX),
        "json": ReportFormat(comparison_bytes, "json", "application/json"),
    }
)
"""Every format by the name that the command line and the page give it."""


def file_name(report: ComparisonReport, file_format: str, on: date) -> str:
    """Return the name of a report's file: that of the original scripts for a phase.

    Raises ``KeyError`` for a format that is none.
    """
    start = "" if report.phase is None else f"phase{report.phase}_"
    return f"{start}comparison_{file_day(on)}.{FORMATS[file_format].extension}"
