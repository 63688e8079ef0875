"""Claims about the rated CSV that hold for every report: what is written is what is read."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.metrics.judging.random_judgments import query_judgments
from webapp.exporters.exports.csv_ratings import rated_csv
from webapp.exporters.frame.csv_cells import CsvStyle
from webapp.importers.runs.csv_ratings import read
from webapp.importers.runs.prices import said
from webapp.metrics.judging.figures import QueryRow, RunReport, figures, totals
from webapp.metrics.judging.queries import QUERY_FIGURES, QueryJudgments, summarise
from webapp.records import CannotTell, QueryState

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
    """The notes, or none where they only say that there is nothing, as "-" does."""
    return notes if said(notes) else ""


def row(query_id: int, judgments: QueryJudgments, notes: str, cannot_tell: CannotTell) -> QueryRow:
    summary = summarise(judgments, cannot_tell=cannot_tell)
    return QueryRow(query_id, notes, "c", notes, summary, judgments.verdicts)


@st.composite
def reports(draw: st.DrawFn) -> RunReport:
    """Reports of up to six queries in any state, with notes that look like the file's own."""
    cannot_tell = draw(st.sampled_from(get_args(CannotTell)))
    listed = draw(st.lists(st.tuples(query_judgments(), words), max_size=6))
    rows = tuple(row(n, *one, cannot_tell) for n, one in enumerate(listed, 1))
    return RunReport("r1", "rater Ani", rows, cannot_tell=cannot_tell)


def read_again(report: RunReport, style: CsvStyle) -> RunReport:
    found = read("r1", rated_csv(report, style=style), rule=report.rule)
    assert found.problems == ()
    return found.report


@given(reports(), styles)
def test_an_exported_report_reads_without_a_problem_and_with_the_same_words(
    report: RunReport, style: CsvStyle
) -> None:
    for written, again in zip(report.rows, read_again(report, style).rows, strict=True):
        assert (again.query_id, again.question) == (written.query_id, written.question)
        if written.notes or not written.summary.empty_outcome:
            assert again.notes == noted(written.notes)


@given(reports(), styles)
def test_an_exported_report_reads_with_the_same_counts_and_values(
    report: RunReport, style: CsvStyle
) -> None:
    for written, again in zip(report.rows, read_again(report, style).rows, strict=True):
        one, other = written.summary, again.summary
        assert other.state is one.state
        assert (other.complete, other.results_count) == (one.complete, one.results_count)
        assert (other.empty_outcome, other.unsure_count) == (one.empty_outcome, one.unsure_count)
        if one.state is not QueryState.UNREADABLE:
            assert other.quality == one.quality
        for figure in QUERY_FIGURES:
            assert other.span(figure).value == pytest.approx(one.span(figure).value)
        if one.complete:
            assert other.relevant_count == one.relevant_count
            assert other.first_relevant_rank == one.first_relevant_rank


@given(reports(), styles)
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


@given(reports())
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
