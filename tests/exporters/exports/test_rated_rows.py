"""The cells of a rated line: counts, figures, and notes that say what the columns cannot."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.exporters.exports.rated_lines import line
from tests.exporters.reports import (
    CORRECT_EMPTY,
    FAILED,
    FALSE_NEGATIVE,
    UNCLASSIFIED,
    UNREADABLE,
    report,
    row,
)
from tests.metrics.judging.verdicts import listed, verdicts
from webapp.exporters.exports.csv_ratings import rated_csv
from webapp.metrics.judging.figures import QueryRow


@pytest.mark.parametrize(
    ("letters", "cells"),
    [
        ("RRRRN", "5,4,1,0.8000,0.8000,1.0000,1,4,\n"),
        ("NRR", "3,2,2,0.6667,0.6667,0.5000,1,4,\n"),
        ("NNRRRRRR", "8,6,3,0.7500,0.6000,0.3333,1,4,\n"),
        ("NN", "2,0,,0.0000,0.0000,0.0000,0,4,\n"),
    ],
)
def test_a_judged_list_gives_its_counts_and_figures(letters: str, cells: str) -> None:
    assert line(row(letters, quality=4)) == cells


def test_an_incomplete_query_has_no_figures_but_its_grade() -> None:
    assert line(row("RR.", quality=3, notes="mahal")) == "3,,,,,,,3,mahal\n"


def test_an_unclassified_empty_list_has_no_figures() -> None:
    assert line(row(UNCLASSIFIED)) == "0,,,,,,,,\n"


def test_an_empty_list_has_mrr_0_and_says_in_the_notes_what_it_is() -> None:
    assert line(row(CORRECT_EMPTY)) == "0,0,,,,0,1,0,no data exists\n"
    assert line(row(FALSE_NEGATIVE)) == "0,0,,,,0,0,0,should have results\n"


def test_the_raters_own_words_on_an_empty_list_stand_alone() -> None:
    assert line(row(CORRECT_EMPTY, notes="KIM tidak ada")) == "0,0,,,,0,1,0,KIM tidak ada\n"


def test_a_failed_call_is_no_success_and_has_no_mrr() -> None:
    assert line(row(FAILED)) == "0,0,,,,,0,0,call failed\n"
    assert line(row(FAILED, notes="timeout")) == "0,0,,,,,0,0,call failed; timeout\n"


def test_an_unreadable_answer_has_nothing_but_its_notes() -> None:
    assert line(row(UNREADABLE, notes="html")) == ",,,,,,,,unreadable answer; html\n"


def test_results_that_cannot_be_told_are_named_by_rank() -> None:
    # 2 relevant of 3 decided; both ? are within the first five.
    assert line(row("RURNU")) == '5,2,1,0.6667,0.6667,1.0000,1,,"cannot tell: rank 2, 5"\n'


def test_a_row_recomputes_from_its_columns_where_cannot_tell_is_not_relevant() -> None:
    # By hand: 4 of 10, of which 2 in the first five; 0 of 2.
    summaries = [listed(said, cannot_tell="not_relevant") for said in ("NNRNRRRNNU", "NU")]
    rows = [
        QueryRow(1, "cari rumah", "location", "", summary, verdicts(said))
        for summary, said in zip(summaries, ("NNRNRRRNNU", "NU"), strict=True)
    ]
    lines = rated_csv(replace(report(*rows), cannot_tell="not_relevant")).decode().splitlines()[1:]

    assert [one.removeprefix("1,cari rumah,location,") for one in lines] == [
        "10,4,3,0.4000,0.4000,0.3333,1,,cannot tell (not relevant): rank 10",
        "2,0,,0.0000,0.0000,0.0000,0,,cannot tell (not relevant): rank 2",
    ]


def test_success_is_blank_while_a_result_cannot_be_told_and_none_is_relevant() -> None:
    assert (
        line(row("NU", notes="foto?")) == "2,0,,0.0000,0.0000,0.0000,,,cannot tell: rank 2; foto?\n"
    )


def test_words_that_would_read_as_ours_are_marked_as_the_raters() -> None:
    assert line(row("RR.", notes="unreadable answer")).endswith(",own words: unreadable answer\n")


def test_a_row_without_the_verdicts_it_needs_is_refused() -> None:
    with pytest.raises(ValueError, match="query 1 lacks its verdicts"):
        rated_csv(report(replace(row("RU"), verdicts=())))
