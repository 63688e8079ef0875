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
from webapp.metrics.judging.queries import Undefined
from webapp.records import EmptyOutcome, QueryState

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
