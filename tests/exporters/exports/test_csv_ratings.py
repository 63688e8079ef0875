"""Expected precisions are counted by hand from the letters of each list."""

from __future__ import annotations

from tests.exporters.exports.rated_lines import HEADER, line
from tests.exporters.reports import (
    report,
    row,
)
from webapp.exporters.exports.csv_ratings import JudgedResult, long_csv, rated_csv
from webapp.exporters.frame.csv_cells import CsvStyle
from webapp.i18n import speaking
from webapp.records import Relevance


def test_the_header_is_the_original_one() -> None:
    assert rated_csv(report()).decode() == f"{HEADER}\n"


def test_a_formula_in_the_notes_is_neutralised() -> None:
    assert line(row("R", notes="=1+1")).endswith(",'=1+1\n")


def test_the_excel_style_has_the_same_cells_with_the_decimal_sign_of_the_language() -> None:
    with speaking("id"):
        data = rated_csv(report(row("NRR")), style=CsvStyle.EXCEL)

    assert data.startswith(b"\xef\xbb\xbfquery_id;question;")
    assert data.endswith(b"\n1;cari rumah;location;3;2;2;0,6667;0,6667;0,5000;1;;\n")


def test_the_long_form_has_one_line_per_result_with_stable_ids() -> None:
    results = [
        JudgedResult("r1", "Ani", 4, rank, "slug:rumah-a", 1, "Rumah A", verdict)
        for rank, verdict in enumerate((Relevance.RELEVANT, Relevance.UNSURE, None), 1)
    ]

    assert long_csv(results).decode() == (
        "run,rater,query_id,rank,property,content,title,relevance,provenance\n"
        "r1,Ani,4,1,slug:rumah-a,1,Rumah A,1,\n"
        "r1,Ani,4,2,slug:rumah-a,1,Rumah A,unsure,\n"
        "r1,Ani,4,3,slug:rumah-a,1,Rumah A,,\n"
    )
