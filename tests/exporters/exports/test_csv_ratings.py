from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from relevansi.exporters.exports.csv_ratings import LONG_COLUMNS, rated_csv
from relevansi.exporters.frame.csv_cells import CsvStyle, csv_bytes
from relevansi.i18n import speaking
from relevansi.importers.runs.csv_ratings import read
from relevansi.importers.runs.prices import content_of
from relevansi.metrics.judging.figures import QueryRow, RunReport, figures, totals
from relevansi.metrics.judging.queries import MEANS, QueryJudgments, summarise
from relevansi.records import CannotTell, QueryState
from tests.exporters.reports import (
    CORRECT_EMPTY,
    FAILED,
    FALSE_NEGATIVE,
    UNCLASSIFIED,
    UNREADABLE,
    report,
    row,
)
from tests.metrics.judging.random_judgments import query_judgments
from tests.metrics.judging.verdicts import listed, verdicts

HEADER = (
    "query_id,question,category,results_count,relevant_count,first_relevant_rank,"
    "overall_precision,precision_at_5,mrr,success,response_quality,notes"
)


@pytest.mark.parametrize(
    ("judged_row", "cells"),
    [
        (row("RRRRN", quality=4), "5,4,1,0.8000,0.8000,1.0000,1,4,"),
        (row("NRR", quality=4), "3,2,2,0.6667,0.6667,0.5000,1,4,"),
        (row("NNRRRRRR", quality=4), "8,6,3,0.7500,0.6000,0.3333,1,4,"),
        (row("NN", quality=4), "2,0,,0.0000,0.0000,0.0000,0,4,"),
        (row("RR.", quality=3, notes="mahal"), "3,,,,,,,3,mahal"),
        (row(UNCLASSIFIED), "0,,,,,,,,"),
        (row(CORRECT_EMPTY), "0,0,,,,0,1,0,no data exists"),
        (row(FALSE_NEGATIVE), "0,0,,,,0,0,0,should have results"),
        (row(CORRECT_EMPTY, notes="KIM tidak ada"), "0,0,,,,0,1,0,KIM tidak ada"),
        (row(FAILED), "0,0,,,,,0,0,call failed"),
        (row(FAILED, notes="timeout"), "0,0,,,,,0,0,call failed; timeout"),
        (row(UNREADABLE, notes="html"), ",,,,,,,,unreadable answer; html"),
        # 2 relevant of 3 decided; both ? are within the first five.
        (row("RURNU"), '5,2,1,0.6667,0.6667,1.0000,1,,"cannot tell: rank 2, 5"'),
        (row("NU", notes="foto?"), "2,0,,0.0000,0.0000,0.0000,,,cannot tell: rank 2; foto?"),
        (row("RR.", notes="unreadable answer"), "3,,,,,,,,own words: unreadable answer"),
        (row("R", notes="=1+1"), "1,1,1,1.0000,1.0000,1.0000,1,,'=1+1"),
    ],
)
def test_a_line_has_counts_and_figures_and_notes_what_its_columns_cannot_hold(
    judged_row: QueryRow, cells: str
) -> None:
    assert rated_csv(report(judged_row)).decode() == f"{HEADER}\n1,cari rumah,location,{cells}\n"


def test_a_row_recomputes_from_its_columns_where_cannot_tell_is_not_relevant() -> None:
    # By hand: 4 of 10, of which 2 in the first five; 0 of 2.
    rows = [
        replace(
            row(letters),
            summary=listed(letters, cannot_tell="not_relevant"),
            verdicts=verdicts(letters),
        )
        for letters in ("NNRNRRRNNU", "NU")
    ]
    lines = rated_csv(replace(report(*rows), cannot_tell="not_relevant")).decode().splitlines()[1:]

    assert [line.removeprefix("1,cari rumah,location,") for line in lines] == [
        "10,4,3,0.4000,0.4000,0.3333,1,,cannot tell (not relevant): rank 10",
        "2,0,,0.0000,0.0000,0.0000,0,,cannot tell (not relevant): rank 2",
    ]


def test_the_excel_style_has_the_same_cells_with_the_decimal_sign_of_the_language() -> None:
    with speaking("id"):
        data = rated_csv(report(row("NRR")), style=CsvStyle.EXCEL)

    assert data.startswith(b"\xef\xbb\xbfquery_id;question;")
    assert data.endswith(b"\n1;cari rumah;location;3;2;2;0,6667;0,6667;0,5000;1;;\n")


def test_the_long_form_has_one_line_per_result_with_stable_ids() -> None:
    rows = [("r1", "Ani", 4, 1, "slug:rumah-a", 1, "=A", "unsure", None, "=B; C", "=D")]

    assert csv_bytes([LONG_COLUMNS, *rows]).decode() == (
        "run,rater,query_id,rank,property,content,title,relevance,provenance,evidence,reason\n"
        "r1,Ani,4,1,slug:rumah-a,1,'=A,unsure,,'=B; C,'=D\n"
    )


marks = (
    "call failed",
    "unreadable answer",
    "cannot tell: rank 1",
    "cannot tell (not relevant): rank 1",
    "own words: ",
    "=",
    "'",
    "; ",
    "-",
)
texts = st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), max_size=20)
words = st.lists(texts | st.sampled_from(marks), max_size=3).map("".join)
styles = st.sampled_from(tuple(CsvStyle))


def noted(notes: str) -> str:
    return notes if content_of(notes) else ""


def drawn_row(
    query_id: int, judgments: QueryJudgments, notes: str, cannot_tell: CannotTell
) -> QueryRow:
    summary = summarise(judgments, cannot_tell=cannot_tell)
    return QueryRow(query_id, notes, "c", notes, summary, judgments.verdicts)


@st.composite
def drawn_reports(draw: st.DrawFn) -> RunReport:
    cannot_tell = draw(st.sampled_from(get_args(CannotTell)))
    listed = draw(st.lists(st.tuples(query_judgments(), words), max_size=6))
    rows = tuple(drawn_row(n, *judged, cannot_tell) for n, judged in enumerate(listed, 1))
    return RunReport("r1", "rater Ani", rows, cannot_tell=cannot_tell)


def read_again(report: RunReport, style: CsvStyle) -> RunReport:
    result = read("r1", rated_csv(report, style=style))
    assert result.problems == ()
    return replace(result.report, rule=report.rule)


@given(drawn_reports(), styles)
def test_an_exported_report_reads_with_the_same_words_counts_and_values(
    report: RunReport, style: CsvStyle
) -> None:
    for written, again in zip(report.rows, read_again(report, style).rows, strict=True):
        before, after = written.summary, again.summary
        assert (again.query_id, again.question) == (written.query_id, written.question)
        if written.notes or not before.empty_outcome:
            assert again.notes == noted(written.notes)
        assert after.state is before.state
        assert (after.complete, after.results_count) == (before.complete, before.results_count)
        assert (after.empty_outcome, after.unsure_count) == (
            before.empty_outcome,
            before.unsure_count,
        )
        if before.state is not QueryState.UNREADABLE:
            assert after.quality == before.quality
        for figure in MEANS:
            assert after.figures[figure].value == pytest.approx(before.figures[figure].value)
        if before.complete:
            assert after.relevant_count == before.relevant_count
            assert after.first_relevant_rank == before.first_relevant_rank


@given(drawn_reports(), styles)
def test_an_exported_report_has_the_same_run_figures_within_its_own_bounds(
    report: RunReport, style: CsvStyle
) -> None:
    """Verdicts on queries that are not complete are not in the file: bounds only widen."""
    before, after = figures(totals(report)), figures(totals(read_again(report, style)))

    for name, written in before.items():
        again = after[name]
        assert again.n == written.n
        assert again.value == pytest.approx(written.value)
        if written.lower is not None and written.upper is not None:
            assert again.lower is not None
            assert again.upper is not None
            assert again.lower <= written.lower + 1e-9
            assert again.upper >= written.upper - 1e-9


@given(drawn_reports())
def test_writing_what_was_read_gives_the_same_file(report: RunReport) -> None:
    """A note that only says that there is nothing is not a note, in any rater's words."""
    rows = tuple(replace(row, notes=noted(row.notes)) for row in report.rows)
    data = rated_csv(replace(report, rows=rows))

    assert rated_csv(read("r1", data).report) == data


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_no_file_makes_the_reader_raise(data: bytes) -> None:
    read("any.csv", data)


@given(st.lists(st.text(st.sampled_from('0123456789.,-N/"\n '), max_size=4), min_size=13))
def test_no_row_makes_the_reader_raise(cells: list[str]) -> None:
    header = (
        "query_id,results_count,relevant_count,first_relevant_rank,relevant_in_top5,"
        "overall_precision,precision_at_5,mrr,success,response_quality,notes\n"
    )
    read("any.csv", (header + ",".join(cells[:11])).encode())
