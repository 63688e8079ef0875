"""The cells of a rated CSV: numbers within their ranges, and notes taken apart."""

from __future__ import annotations

import pytest

from tests.importers.runs.rated_csv import SEED_SAMPLE, one, only_problem, read_text
from webapp.records import EmptyOutcome, QueryState


def test_a_semicolon_file_may_have_decimal_commas() -> None:
    text = SEED_SAMPLE.replace(",", ";").replace(".", ",")

    assert read_text(text) == read_text(SEED_SAMPLE)


@pytest.mark.parametrize("blank", ["", "N/A", "n/a", "-", " ", "NaN"])
def test_what_is_not_applicable_may_be_written_in_words(blank: str) -> None:
    row, problems = one(f"0,0,{blank},{blank},{blank},{blank},1,{blank},")

    assert problems == ()
    assert row.summary.empty_outcome is EmptyOutcome.CORRECT_EMPTY
    assert row.summary.quality is None


def test_whole_numbers_may_have_decimals_of_zero() -> None:
    row, problems = one("5.0,4.0,1.0,0.8,0.8,1,1.0,4.5,")

    assert problems == ()
    assert (row.summary.relevant_count, row.summary.quality) == (4, 4.5)


@pytest.mark.parametrize(
    ("notes", "words"), [("call failed", ""), ("Call failed; timeout", "timeout")]
)
def test_a_call_that_failed_is_told_by_its_notes_and_blank_mrr(notes: str, words: str) -> None:
    row, problems = one(f"0,0,,,,,0,0,{notes}")

    assert problems == ()
    assert (row.summary.state, row.notes) == (QueryState.FAILED, words)
    assert (row.summary.success.value, row.summary.reciprocal_rank.value) == (0, None)


def test_an_empty_list_may_be_noted_like_a_failed_call() -> None:
    row, _ = one("0,0,,,,0,0,0,call failed")

    assert (row.summary.state, row.notes) == (QueryState.EMPTY, "call failed")


@pytest.mark.parametrize("count", ["", "6"])
def test_an_unreadable_answer_is_told_by_its_notes(count: str) -> None:
    row, problems = one(f"{count},,,,,,,,unreadable answer; html")

    assert problems == ()
    assert (row.summary.state, row.notes) == (QueryState.UNREADABLE, "html")


def test_the_raters_words_marked_as_such_name_no_state() -> None:
    row, _ = one("6,,,,,,,,own words: unreadable answer")

    assert (row.summary.state, row.notes) == (QueryState.RESULTS, "unreadable answer")


def test_results_that_cannot_be_told_are_no_part_of_a_precision() -> None:
    """RUNUR: 2 of 3 decided."""
    row, problems = one('5,2,1,0.6667,0.6667,1.0,1,4,"cannot tell: rank 2, 4; foto buram"')

    assert problems == ()
    assert (row.summary.unsure_count, row.notes) == (2, "foto buram")
    assert row.summary.overall_precision.value == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("cells", "code", "column"),
    [
        ("5,6,1,1.00,1.00,1.00,1,4,", "csv_above_results", "relevant_count"),
        ("5,4,6,0.80,0.80,0.17,1,4,", "csv_above_results", "first_relevant_rank"),
        ("5,4,1,0.80,1.20,1.00,1,4,", "csv_out_of_range", "precision_at_5"),
        ("5,4,1,-0.8,0.80,1.00,1,4,", "csv_out_of_range", "overall_precision"),
        ("5,4,1,0.80,0.80,1.01,1,4,", "csv_out_of_range", "mrr"),
        ("5,4,1,0.80,0.80,1.00,2,4,", "csv_out_of_range", "success"),
        ("5,4,1,0.80,0.80,1.00,0.5,4,", "csv_not_whole", "success"),
        ("5,4,1,0.80,0.80,1.00,1,6,", "csv_out_of_range", "response_quality"),
        ("5,-4,1,0.80,0.80,1.00,1,4,", "csv_out_of_range", "relevant_count"),
        ("99999999,4,1,0.80,0.80,1.00,1,4,", "csv_out_of_range", "results_count"),
        ("5,4.5,1,0.80,0.80,1.00,1,4,", "csv_not_whole", "relevant_count"),
        ("lima,4,1,0.80,0.80,1.00,1,4,", "csv_not_a_number", "results_count"),
        (",4,1,0.80,0.80,1.00,1,4,", "csv_value_missing", "results_count"),
    ],
)
def test_a_value_that_cannot_be_is_an_error_in_its_column(
    cells: str, code: str, column: str
) -> None:
    problem = only_problem(cells)

    assert (problem.code, problem.details["column"]) == (code, column)
