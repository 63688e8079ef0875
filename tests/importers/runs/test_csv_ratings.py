"""The seed is "Evaluation Methodology for RAG Property Chatbot" (V1); 5.2 is its CSV sample."""

from __future__ import annotations

import pytest

from tests.importers.runs.rated_csv import (
    HEADER,
    ORIGINAL_HEADER,
    SEED_SAMPLE,
    one,
    only_problem,
    read_text,
    warning,
)
from webapp.i18n import speaking
from webapp.importers.runs.csv_ratings import MESSAGES, read
from webapp.importers.runs.problems import message
from webapp.metrics.judging.figures import figures, totals
from webapp.metrics.judging.queries import Undefined, why_undefined
from webapp.records import EmptyOutcome, QueryState, Severity

# --- The seed's own numbers ------------------------------------------------------------


def test_the_seeds_sample_gives_the_seeds_figures_and_no_problem() -> None:
    found = read_text(SEED_SAMPLE)

    assert found.problems == ()
    summaries = [row.summary for row in found.report.rows]
    assert [s.precision_at_5.value for s in summaries] == [0.8, 1.0, None, None, 0.6]
    assert [s.overall_precision.value for s in summaries] == [0.8, 1.0, None, None, 0.6]
    assert [s.reciprocal_rank.value for s in summaries] == [1.0, 1.0, None, None, 0.5]
    assert [s.answerable_reciprocal_rank.value for s in summaries] == [1.0, 1.0, None, 0.0, 0.5]
    assert [s.success.value for s in summaries] == [1, 1, 1, 0, 1]
    assert [s.quality for s in summaries] == [4, 5, 0, 0, 3]


def test_the_seeds_sample_gives_the_run_figures_of_its_section_6() -> None:
    """(.8 + 1 + .6)/3, (1 + 1 + .5)/3, 4 of 5, 3 of 5, (4 + 5 + 0 + 0 + 3)/5."""
    found = figures(totals(read_text(SEED_SAMPLE).report))

    assert found["mean_precision_at_5"].value == pytest.approx(2.4 / 3)
    assert found["mrr"].value == pytest.approx(2.5 / 3)
    assert found["mrr_answerable"].value == pytest.approx(2.5 / 4)
    assert (found["success_rate"].value, found["coverage"].value) == (0.8, 0.6)
    assert found["mean_response_quality"].value == 2.4


def test_the_outcome_of_an_empty_list_comes_from_success() -> None:
    rows = read_text(SEED_SAMPLE).report.rows

    assert rows[2].summary.empty_outcome is EmptyOutcome.CORRECT_EMPTY
    assert rows[3].summary.empty_outcome is EmptyOutcome.FALSE_NEGATIVE
    assert rows[3].notes == "should have results"


def test_the_seeds_four_reciprocal_ranks_average_to_its_mrr() -> None:
    """Seed 1.3: (1 + 0.333 + 0.5 + 0) / 4 = 0.458."""
    text = HEADER + "".join(
        f"{n},q,c,5,{relevant},{rank},,,,,,\n"
        for n, (relevant, rank) in enumerate([(2, 1), (2, 3), (2, 2), (0, "")])
    )

    assert figures(totals(read_text(text).report))["mrr"].value == pytest.approx(0.458, abs=5e-4)


# --- Filled in by hand -----------------------------------------------------------------

BY_HAND = HEADER + (
    "1,rumah di cemara,location,5,4,1,,,,,4,\n"
    "2,rumah di ringroad,location,8,3,,,,,,3,\n"
    "3,gudang di KIM,type,0,,,,,,,0,no data exists\n"
    "4,rumah di cemara,location,0,,,,,,,0,Seharusnya ada hasil\n"
    "5,ruko,type,4,0,,,,,,1,\n"
    "6,tanah,type,6,6,,,,,,5,\n"
    "7,villa,type,3,,,,,,,,\n"
)
"""Counts, quality and notes are typed, the automatic columns blank; question 7 is not rated."""


def test_a_file_filled_in_by_hand_yields_what_its_counts_decide() -> None:
    """P@5 4/5, 0/4, 5/5; overall 4/5, 3/8, 0/4, 6/6; RR 1, 0, 1; successes 1, 2, 3 and 6."""
    found = figures(totals(read_text(BY_HAND).report))

    assert found["mean_precision_at_5"].value == pytest.approx((0.8 + 0 + 1) / 3)
    assert found["mean_precision_at_5"].n == 3
    assert found["mean_overall_precision"].value == pytest.approx((0.8 + 0.375 + 0 + 1) / 4)
    assert found["mrr"].value == pytest.approx((1 + 0 + 1) / 3)
    assert found["mrr_answerable"].value == pytest.approx((1 + 0 + 1 + 0) / 4)
    assert found["success_rate"].value == pytest.approx(4 / 6)
    assert found["success_rate"].n == 6
    assert found["mean_response_quality"].value == pytest.approx(13 / 6)
    assert found["coverage"].value == pytest.approx(5 / 7)


def test_it_says_by_line_which_figures_the_counts_leave_open() -> None:
    """Of 8 with 3 relevant, 0 to 3 may be in the first five, and the first at rank 6 at most."""
    problems = read_text(BY_HAND).problems

    assert [(p.line, p.code, p.details) for p in problems] == [
        (3, "csv_top_open", {"lowest": "0", "highest": "0.6"}),
        (3, "csv_rank_open", {"lowest": "0.1667", "highest": "1"}),
    ]


def test_the_columns_for_figures_may_be_missing() -> None:
    """Ten columns: no overall_precision, no precision_at_5; then only counts and notes."""
    ten = "query_id,question,category,results_count,relevant_count,first_relevant_rank,"
    text = ten + "mrr,success,response_quality,notes\n1,q,c,5,4,1,1.00,1,4,\n"
    few = "query_id,results_count,relevant_count,notes\n1,5,5,\n2,0,,no data exists\n"

    (row,) = read_text(text).report.rows
    full, empty = read_text(few).report.rows

    assert row.summary.precision_at_5.value == row.summary.overall_precision.value == 0.8
    assert full.summary.reciprocal_rank.value == 1.0  # all relevant, so the first one too
    assert empty.summary.empty_outcome is EmptyOutcome.CORRECT_EMPTY
    assert read_text(text).problems == read_text(few).problems == ()


@pytest.mark.parametrize(
    ("success", "notes"), [("1", "should have results"), ("0", "no data exists, dicek")]
)
def test_success_and_notes_that_contradict_each_other_are_reported(
    success: str, notes: str
) -> None:
    row, (problem,) = one(f'0,0,,,,0,{success},0,"{notes}"')

    assert (problem.line, problem.code) == (2, "csv_outcome_contradiction")
    assert problem.details == {"success": success, "notes": notes}
    assert row.summary.success.value == int(success)


@pytest.mark.parametrize("notes", ["tidak ada datanya", "no data exists? should have results?"])
def test_other_notes_decide_nothing_about_an_empty_list(notes: str) -> None:
    row, problems = one(f'0,,,,,,,0,"{notes}"')

    assert (row.summary.empty_outcome, row.notes, problems) == (None, notes, ())


def test_a_file_that_leaves_every_precision_at_5_open_says_that_and_not_that_it_is_unrated() -> (
    None
):
    found = figures(totals(read_text(HEADER + "1,q,c,8,4,1,,,,,,\n").report))

    assert found["mean_precision_at_5"].why_undefined is Undefined.LEFT_OPEN
    assert found["composite"].why_undefined is Undefined.LEFT_OPEN
    assert found["mrr"].value == 1.0


# --- States ----------------------------------------------------------------------------


def test_a_row_without_counts_is_incomplete_and_between_0_and_1() -> None:
    row, problems = one("5,,,,,,,3,nanti")

    assert problems == ()
    assert (row.summary.complete, row.summary.judged_count, row.summary.quality) == (False, 0, 3)
    span = row.summary.precision_at_5
    assert (span.value, span.lower, span.upper) == (None, 0.0, 1.0)


def test_an_empty_list_without_success_is_unclassified() -> None:
    row, problems = one("0,,,,,,,,")

    assert problems == ()
    assert (row.summary.state, row.summary.complete) == (QueryState.EMPTY, False)


# --- Errors ----------------------------------------------------------------------------


def test_a_bad_line_is_reported_with_its_number_and_the_good_ones_are_kept() -> None:
    """Line 3 opens a note of three lines, so the bad one after it is line 6."""
    text = HEADER + (
        "1,q,c,5,4,1,0.80,0.80,1.00,1,4,\n"
        '2,q,c,5,4,1,0.80,0.80,1.00,1,4,"one\ntwo, ""2""\nthree"\n'
        "3,q,c,5,9,1,0.80,0.80,1.00,1,4,\n"
        "\n"
        "4,q,c,5,4,1,0.80,0.80,1.00,1,4,\n"
    )

    found = read_text(text)

    assert [row.query_id for row in found.report.rows] == [1, 2, 4]
    assert found.report.rows[1].notes == 'one\ntwo, "2"\nthree'
    assert [(p.line, p.query_id, p.code) for p in found.problems] == [(6, 3, "csv_above_results")]


def test_a_query_number_counts_once() -> None:
    found = read_text(HEADER + "1,q,c,5,4,1,,,,,,\n1,q,c,5,5,1,,,,,,\n,q,c,5,5,1,,,,,,\n")

    assert [row.summary.relevant_count for row in found.report.rows] == [4]
    assert [(p.line, p.code) for p in found.problems] == [
        (3, "csv_query_repeated"),
        (4, "csv_value_missing"),
    ]


# --- Contradictions --------------------------------------------------------------------


def test_figures_without_a_count_are_left_aside() -> None:
    found = warning("5,,,0.80,,1.00,1,4,")

    assert found.code == "csv_figures_without_count"
    assert found.details == {"columns": "overall_precision, mrr, success"}


def test_a_row_of_zeros_of_the_original_page_may_be_unrated() -> None:
    zeros = "8,0,0,,0.00,0.00,0.00,0,,"

    assert warning(zeros, ORIGINAL_HEADER).code == "csv_perhaps_unrated"
    assert one("8,0,0,,0.00,0.00,0.00,0,1,", ORIGINAL_HEADER)[1] == ()
    assert one(f"{zeros}salah semua", ORIGINAL_HEADER)[1] == ()


# --- The report ------------------------------------------------------------------------


def test_the_file_names_the_run_and_the_caller_the_rule() -> None:
    plain = read_text(SEED_SAMPLE).report
    named = read("rated.csv", SEED_SAMPLE.encode(), rule="rater Ani").report

    assert (plain.run, plain.rule, named.rule) == ("rated.csv", "rated file", "rater Ani")


def test_every_message_can_be_told_and_names_the_file() -> None:
    found = [
        *read_text("a\n").problems,
        *read_text(HEADER + '1,"\n2,q\n').problems,
        warning("5,4,,0.80,0.80,,1,4,"),
        warning("0,0,,,,0,1,0,should have results"),
        only_problem("5,0,2,0.00,0.00,0.00,0,4,"),
        only_problem("5,4,1,0.80,1.20,1.00,1,4,"),
        only_problem("8,2,1,0.25,0.80,1.00,1,4,"),
        warning("5,4,2,0.80,0.80,1.00,1,4,"),
        warning("5,,,0.80,,1.00,1,4,"),
        *read_text(HEADER + "1,q,c,,,,,,,,,\n1,q,c,x,1.5,,,,,,,\n2,q,c,1,2,1,,,,,,\n").problems,
        *read_text(HEADER + "1,q,c,1,1,1,,,,,,\n1,q,c,1,1,1,,,,,,\n").problems,
        warning("8,4,1,0.50,,1.00,1,4,"),
        warning("8,0,0,,0.00,0.00,0.00,0,,", ORIGINAL_HEADER),
        *read("rated.csv", b"\xff").problems,
    ]
    of_several_files = {"csv_cannot_tell_differs"}
    assert {problem.code for problem in found} == set(MESSAGES) - of_several_files

    with speaking("en"):
        for problem in found:
            assert "rated.csv" in message(problem)


def test_a_message_names_file_line_column_and_remedy() -> None:
    with speaking("en"):
        assert message(only_problem("5,4,1,0.80,1.20,1.00,1,4,")) == (
            "rated.csv, line 2: precision_at_5 is 1.20, so the line is left out. "
            "It must lie between 0 and 1."
        )


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_delimiter_byte_order_mark_and_line_ends_make_no_difference(
    mark: str, ends: str, delimiter: str
) -> None:
    text = mark + SEED_SAMPLE.replace(",", delimiter).replace("\n", ends)

    assert read_text(text) == read_text(SEED_SAMPLE)


def test_columns_go_by_their_names_in_any_order_and_letter_case() -> None:
    text = "Notes,first_relevant_rank,RELEVANT_COUNT, results_count ,query_id\nmahal,2,1,3,9\n"

    (row,) = read_text(text).report.rows

    assert (row.query_id, row.notes, row.question) == (9, "mahal", "")
    assert row.summary.precision_at_5.value == pytest.approx(1 / 3)


def test_formulas_come_back_as_they_were_written() -> None:
    assert one("1,1,1,,,,,,'=1+1")[0].notes == "=1+1"
    assert one("1,1,1,,,,,,'biasa")[0].notes == "'biasa"


def test_an_open_quotation_mark_costs_its_own_line_only() -> None:
    text = HEADER + '1,"q,c,5,4,1,,,,,,\n2,q,c,5,4,1,0.8,0.8,1,1,4,\n3,q,c,5,5,1,1,1,1,1,5,\n'

    found = read_text(text)

    assert [row.query_id for row in found.report.rows] == [2, 3]
    assert [(p.line, p.code) for p in found.problems] == [(2, "csv_broken_record")]


def test_a_line_with_too_many_cells_says_so() -> None:
    found = read_text(HEADER + "1,rumah, murah,c,5,4,1,0.8,0.8,1,1,4,\n")

    (problem,) = found.problems
    assert (problem.code, problem.details) == ("csv_cell_count", {"cells": 13, "columns": 12})


@pytest.mark.parametrize("text", ["", "\n", "a,b\n1,2\n", '{"results": []}', '"'])
def test_another_file_is_told_by_its_missing_columns(text: str) -> None:
    found = read_text(text)

    assert found.report.rows == ()
    assert [p.code for p in found.problems] == ["csv_columns_missing"]


def test_an_endless_first_line_is_no_header_and_is_not_taken_apart() -> None:
    (problem,) = read("rated.csv", b"query_id" + b"," * 100_000 + b"\n1,2\n").problems

    assert problem.code == "csv_columns_missing"
    assert str(problem.details["columns"]).startswith("query_id, ")


def test_bytes_that_are_no_utf_8_are_told_with_their_line() -> None:
    found = read("rated.csv", HEADER.encode() + "1,café,c,5,5,1,,,,,,\n".encode("cp1252"))

    (problem,) = found.problems
    assert (problem.code, problem.line, problem.file) == ("csv_not_utf8", 2, "rated.csv")


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
