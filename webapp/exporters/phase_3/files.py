"""Phase 3 as a file: every format of its summary, and all that was given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from types import MappingProxyType

from msgspec import Struct

from webapp.exporters.comparisons import html as comparison_html
from webapp.exporters.comparisons.files import XLSX, formats
from webapp.exporters.phase_3 import chart
from webapp.exporters.phase_3.json_file import user_study_bytes
from webapp.exporters.phase_3.rows import COLUMNS, csv_file, xlsx_file
from webapp.exporters.phase_3.tables import document
from webapp.metrics.phase_3.user_study import UserStudyReport
from webapp.notation import file_day

CSV = "text/csv; charset=utf-8"


class Data(Struct, frozen=True):
    """One file of all that was given: how it is made and its media type."""

    render: Callable[[UserStudyReport], bytes]
    media_type: str


def html(report: UserStudyReport, on: date) -> bytes:
    """Return the summary with its picture as one HTML file."""
    return comparison_html.html(document(report, on), {"summary": [chart.drawing(report)]})


FORMATS = formats(document, html, user_study_bytes)
"""Every format of the summary by the name that the command line and the page give it."""


def _csv(name: str) -> Data:
    return Data(lambda report: csv_file(report, name), CSV)


DATA: Mapping[str, Data] = MappingProxyType(
    {
        **{f"{name}.csv": _csv(name) for name in COLUMNS},
        "phase3.xlsx": Data(xlsx_file, XLSX),
        "phase3.json": Data(user_study_bytes, "application/json"),
    }
)
"""Every file of the participants' data, by its name."""


def file_name(file_format: str, on: date) -> str:
    """Return the name of a summary's file; raises ``KeyError`` for an unknown format."""
    return f"phase3_summary_{file_day(on)}.{FORMATS[file_format].extension}"
