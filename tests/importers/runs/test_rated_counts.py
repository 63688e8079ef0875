"""Counts of a rated CSV decide its figures, or leave them open."""

from __future__ import annotations

import pytest

from tests.importers.runs.rated_csv import (
    HEADER,
    ORIGINAL_HEADER,
    one,
    only_problem,
    read_text,
    warning,
)
from webapp.metrics.judging.queries import Undefined, why_undefined
from webapp.records import Severity


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ("5,4,1,0.80,0.80,1.00,1,,", (0.8, 0.8, 1.0)),  # seed 1.1
        ("8,6,1,0.75,0.80,1.00,1,,", (0.75, 0.8, 1.0)),  # seed 1.2
        ("5,2,3,0.40,0.40,0.333,1,,", (0.4, 0.4, 1 / 3)),  # seed 1.3, Q2
        ("5,0,,0.00,0.00,0.000,0,,", (0.0, 0.0, 0.0)),  # seed 1.3, Q4
        ("12,3,7,0.25,0.00,0.1429,1,,", (0.25, 0.0, 1 / 7)),
    ],
)
def test_counts_give_precision_and_reciprocal_rank(
    cells: str, expected: tuple[float, float, float]
) -> None:
    row, problems = one(cells)

    assert problems == ()
    summary = row.summary
    assert expected == (
        summary.overall_precision.value,
        summary.precision_at_5.value,
        summary.reciprocal_rank.value,
    )


def test_the_original_pages_thirteenth_column_settles_the_first_five() -> None:
    row, problems = one("8,6,3,1,0.75,0.60,1.00,1,4,", ORIGINAL_HEADER)

    assert problems == ()
    assert row.summary.precision_at_5.value == 0.6


def test_without_it_precision_at_5_does() -> None:
    """round(0.60 x 5) = 3 in the first five, whatever the list behind them."""
    row, problems = one("8,6,1,0.75,0.60,1.00,1,4,")

    assert problems == ()
    assert row.summary.precision_at_5.value == 0.6


@pytest.mark.parametrize(
    ("cells", "precision"),
    [("8,0,,,,,,,", 0.0), ("8,8,1,,,,,,", 1.0), ("8,2,6,,,,,,", 0.0), ("3,1,1,,,,,,", 1 / 3)],
)
def test_a_blank_precision_at_5_is_recomputed_where_the_counts_settle_it(
    cells: str, precision: float
) -> None:
    row, problems = one(cells)

    assert problems == ()
    assert row.summary.precision_at_5.value == pytest.approx(precision)


def test_a_blank_precision_at_5_has_no_value_where_they_do_not_and_the_line_says_so() -> None:
    """8 results, 4 relevant, the first at rank 1: 1 to 4 of them are among the first five."""
    row, (problem,) = one("8,4,1,,,,,4,")

    assert (problem.line, problem.code, problem.severity) == (2, "csv_top_open", Severity.WARNING)
    assert problem.details == {"lowest": "0.2", "highest": "0.8"}
    assert row.summary.precision_at_5 == (None, 0.2, 0.8)
    assert why_undefined(row.summary, "precision_at_5") is Undefined.LEFT_OPEN
    assert row.summary.overall_precision.value == 0.5
    assert (row.summary.reciprocal_rank.value, row.summary.success.value) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("mrr", "rank"), [("1.00", 1), ("0.5", 2), ("0.33", 3), ("0.3333", 3), ("0.1429", 7)]
)
def test_a_blank_first_rank_follows_from_mrr(mrr: str, rank: int) -> None:
    row, problems = one(f"8,2,,0.25,,{mrr},1,4,")

    assert row.summary.first_relevant_rank == rank
    assert [p.code for p in problems if p.code != "csv_top_open"] == []


def test_an_mrr_that_is_no_rank_leaves_a_blank_first_rank_open_and_is_reported() -> None:
    row, problems = one("5,4,,0.80,0.80,0.75,1,4,")

    assert [p.code for p in problems] == ["csv_rank_open"]
    assert row.summary.reciprocal_rank == (None, 0.5, 1.0)
    row, problems = one("5,4,,0.80,0.80,0.20,1,4,")
    assert [p.code for p in problems] == ["csv_rank_open", "csv_contradiction"]
    assert problems[1].details == {"column": "mrr", "given": "0.2", "computed": "0.5 - 1"}


def test_there_is_no_rank_0_that_cannot_be_told() -> None:
    row, _ = one("2,1,1,,,,,,cannot tell: rank 0")

    assert (row.summary.unsure_count, row.notes) == (0, "cannot tell: rank 0")


def test_success_is_undefined_while_the_only_hope_cannot_be_told() -> None:
    row, problems = one("2,0,,0.0,0.0,0.0,,,cannot tell: rank 2")

    assert problems == ()
    assert (row.summary.complete, row.summary.success.value) == (True, None)


def test_an_empty_list_has_neither_relevant_results_nor_their_rank() -> None:
    found = read_text(f"{HEADER}7,cari rumah,location,0,1,1,,,,1,4,\n")

    assert found.report.rows == ()
    assert [problem.code for problem in found.problems] == ["csv_above_results"] * 2


def test_relevant_results_want_a_first_rank_and_a_rank_needs_a_relevant_result() -> None:
    assert warning("5,4,,0.80,0.80,,1,4,").code == "csv_rank_open"
    assert warning("5,4,0,0.80,0.80,,1,4,").code == "csv_rank_open"
    assert only_problem("5,0,2,0.00,0.00,0.00,0,4,").code == "csv_rank_without_relevant"


@pytest.mark.parametrize(
    "cells",
    [
        "8,2,1,0.25,0.80,1.00,1,4,",  # 4 of the first five, but 2 in all
        "8,6,1,0.75,0.20,1.00,1,4,",  # 5 more do not fit into ranks 6 to 8
        "8,2,6,0.25,0.40,0.17,1,4,",  # the first at rank 6, yet 2 before it
        "5,4,3,0.80,0.80,0.33,1,4,",  # 4 do not fit into ranks 3 to 5
        "5,4,1,,,,1,4,cannot tell: rank 1",
    ],
)
def test_counts_that_no_list_has_are_an_error(cells: str) -> None:
    assert only_problem(cells).code == "csv_impossible_list"


def test_a_rank_that_cannot_be_told_lies_within_the_list() -> None:
    assert only_problem("2,1,1,,,,,,cannot tell: rank 3").code == "csv_above_results"


@pytest.mark.parametrize(
    ("cells", "column", "given", "computed"),
    [
        ("5,4,1,0.90,0.80,1.00,1,4,", "overall_precision", "0.9", "0.8"),
        ("5,4,1,0.80,0.60,1.00,1,4,", "precision_at_5", "0.6", "0.8"),
        ("8,6,1,0.75,0.73,1.00,1,4,", "precision_at_5", "0.73", "0.8"),
        ("5,4,2,0.80,0.80,1.00,1,4,", "mrr", "1", "0.5"),
        ("5,4,1,0.80,0.80,1.00,0,4,", "success", "0", "1"),
        ("5,0,,0.00,0.00,0.00,1,4,", "success", "1", "0"),
        ("0,0,,,,1,1,4,", "mrr", "1", "-"),
        ("3,2,1,0.6666,0.6667,1.00,1,4,", "overall_precision", "0.6666", "0.6667"),
    ],
)
def test_a_figure_that_contradicts_the_counts_is_reported_and_recomputed(
    cells: str, column: str, given: str, computed: str
) -> None:
    found = warning(cells)

    assert found.code == "csv_contradiction"
    assert found.details == {"column": column, "given": given, "computed": computed}


@pytest.mark.parametrize("written", ["0.67", "0.6667", "0.667", "0.66666666667"])
def test_rounding_to_two_or_four_decimals_is_no_contradiction(written: str) -> None:
    row, problems = one(f"3,2,1,{written},{written},1.00,1,4,")

    assert problems == ()
    assert row.summary.overall_precision.value == 2 / 3


def test_the_first_five_of_a_short_list_are_all_of_it() -> None:
    found = warning("4,3,2,1,0.75,0.75,1.00,1,4,", ORIGINAL_HEADER)

    assert found.details == {"column": "relevant_in_top5", "given": "2", "computed": "3"}
