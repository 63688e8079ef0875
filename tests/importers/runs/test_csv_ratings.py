"""The seed is "Evaluation Methodology for RAG Property Chatbot" (V1); 5.2 is its CSV sample."""

from __future__ import annotations

import pytest

from relevansi.i18n import speaking
from relevansi.importers.runs.csv_ratings import RatedFile, read
from relevansi.importers.runs.problems import message
from relevansi.metrics.judging.figures import QueryRow, figures, totals
from relevansi.metrics.judging.queries import QuerySummary, Undefined, why_undefined
from relevansi.records import EmptyOutcome, Problem, QueryState, Severity
from tests.cli.rated_files import HEADER

ORIGINAL_HEADER = HEADER.replace("relevant_count,", "relevant_count,relevant_in_top5,")

SEED_SAMPLE = HEADER + (
    "1,Carikan rumah dijual di daerah cemara,location_simple,5,4,1,0.80,0.80,1.00,1,4,\n"
    "2,Carikan rumah dijual di daerah ringroad,location_simple,5,5,1,1.00,1.00,1.00,1,5,\n"
    "3,apakah ada gudang di KIM?,property_type,0,0,,,,0,1,0,no data exists\n"
    "4,cari rumah di cemara,location_simple,0,0,,,,0,0,0,should have results\n"
    "5,cari rumah harga 1M di cemara,location_price,5,3,2,0.60,0.60,0.50,1,3,\n"
)


def read_text(text: str) -> RatedFile:
    return read("rated.csv", text.encode())


def read_row(cells: str) -> tuple[QueryRow | None, tuple[Problem, ...]]:
    """The row of a file whose line has `cells` from results_count on, and its problems.

    A tenth cell is that of the original page's thirteenth column.
    """
    header = ORIGINAL_HEADER if cells.partition('"')[0].count(",") == 9 else HEADER
    result = read_text(f"{header}7,cari rumah,location,{cells}\n")
    assert {(p.line, p.query_id) for p in result.problems} <= {(2, 7)}
    return next(iter(result.report.rows), None), result.problems


def summary_of(cells: str, *codes: str) -> QuerySummary:
    row, problems = read_row(cells)
    assert [problem.code for problem in problems] == list(codes)
    assert {problem.severity for problem in problems} <= {Severity.WARNING}
    assert row is not None
    return row.summary


def test_the_seeds_sample_gives_the_figures_of_its_section_6_and_no_problem() -> None:
    """(.8 + 1 + .6)/3, (1 + 1 + .5)/3, 4 of 5, 3 of 5, (4 + 5 + 0 + 0 + 3)/5."""
    read_sample = read_text(SEED_SAMPLE)
    summaries = [row.summary for row in read_sample.report.rows]

    assert read_sample.problems == ()
    assert [s.figures["mean_precision_at_5"].value for s in summaries] == [
        0.8,
        1.0,
        None,
        None,
        0.6,
    ]
    assert [s.figures["mean_overall_precision"].value for s in summaries] == [
        0.8,
        1.0,
        None,
        None,
        0.6,
    ]
    assert [s.figures["mrr"].value for s in summaries] == [1.0, 1.0, None, None, 0.5]
    assert [s.figures["mrr_answerable"].value for s in summaries] == [1.0, 1.0, None, 0.0, 0.5]
    assert [s.figures["success_rate"].value for s in summaries] == [1, 1, 1, 0, 1]
    assert [s.quality for s in summaries] == [4, 5, 0, 0, 3]
    assert read_sample.report.rows[3].notes == "should have results"
    result = figures(totals(read_sample.report))
    assert result["mean_precision_at_5"].value == pytest.approx(2.4 / 3)
    assert result["mrr"].value == pytest.approx(2.5 / 3)
    assert result["mrr_answerable"].value == pytest.approx(2.5 / 4)
    assert (result["success_rate"].value, result["coverage"].value) == (0.8, 0.6)
    assert result["mean_response_quality"].value == 2.4


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
    """P@5 4/5, 0/4, 5/5; overall 4/5, 3/8, 0/4, 6/6; RR 1, 0, 1; successes 1, 2, 3 and 6.

    Of 8 with 3 relevant, 0 to 3 may be in the first five, and the first at rank 6 at most.
    """
    by_hand = read_text(BY_HAND)
    result = figures(totals(by_hand.report))

    assert result["mean_precision_at_5"].value == pytest.approx((0.8 + 0 + 1) / 3)
    assert result["mean_precision_at_5"].n == 3
    assert result["mean_overall_precision"].value == pytest.approx((0.8 + 0.375 + 0 + 1) / 4)
    assert result["mrr"].value == pytest.approx((1 + 0 + 1) / 3)
    assert result["mrr_answerable"].value == pytest.approx((1 + 0 + 1 + 0) / 4)
    assert result["success_rate"].value == pytest.approx(4 / 6)
    assert result["success_rate"].n == 6
    assert result["mean_response_quality"].value == pytest.approx(13 / 6)
    assert result["coverage"].value == pytest.approx(5 / 7)
    top, rank = by_hand.problems
    assert (top.line, rank.line, top.code, rank.code) == (3, 3, *["csv_figure_open"] * 2)
    assert (top.details["lowest"], top.details["highest"]) == ("0", "0.6")
    assert (rank.details["lowest"], rank.details["highest"]) == ("0.1667", "1")


@pytest.mark.parametrize(
    ("cells", "figures", "codes"),
    [
        ("5,4,1,0.80,0.80,1.00,1,,", (0.8, 0.8, 1.0), ()),  # seed 1.1
        ("8,6,1,0.75,0.80,1.00,1,,", (0.75, 0.8, 1.0), ()),  # seed 1.2
        ("5,2,3,0.40,0.40,0.333,1,,", (0.4, 0.4, 1 / 3), ()),  # seed 1.3, Q2
        ("5,0,,0.00,0.00,0.000,0,,", (0.0, 0.0, 0.0), ()),  # seed 1.3, Q4
        ("12,3,7,0.25,0.00,0.1429,1,,", (0.25, 0.0, 1 / 7), ()),
        ("8,6,3,1,0.75,0.60,1.00,1,4,", (0.75, 0.6, 1.0), ()),  # the thirteenth column says 3
        ("8,6,1,0.75,0.60,1.00,1,4,", (0.75, 0.6, 1.0), ()),  # round(0.60 x 5) = 3 of the first 5
        ("8,0,,,,,,,", (0.0, 0.0, 0.0), ()),
        ("8,8,1,,,,,,", (1.0, 1.0, 1.0), ()),
        ("8,2,6,,,,,,", (0.25, 0.0, 1 / 6), ()),
        ("3,1,1,,,,,,", (1 / 3, 1 / 3, 1.0), ()),
        ("8,4,1,,,,,4,", (0.5, None, 1.0), ("csv_figure_open",)),
        ("8,2,,0.25,,1.00,1,4,", (0.25, None, 1.0), ("csv_figure_open",)),
        ("8,2,,0.25,,0.33,1,4,", (0.25, None, 1 / 3), ("csv_figure_open",)),
        ("8,2,,0.25,,0.1429,1,4,", (0.25, 0.0, 1 / 7), ()),
        ("5,4,,0.80,0.80,0.75,1,4,", (0.8, 0.8, None), ("csv_figure_open",)),  # 1/0.75 is no rank
        ("5,4,0,0.80,0.80,,1,4,", (0.8, 0.8, None), ("csv_figure_open",)),
        ('5,2,1,0.6667,0.6667,1.0,1,4,"cannot tell: rank 2, 4; buram"', (2 / 3, 2 / 3, 1.0), ()),
        ("3,2,1,0.67,0.6667,1.00,1,4,", (2 / 3, 2 / 3, 1.0), ()),
        ("3,2,1,0.667,0.66666666667,1.00,1,4,", (2 / 3, 2 / 3, 1.0), ()),
        ("5.0,4.0,1.0,0.8,0.8,1,1.0,4.5,", (0.8, 0.8, 1.0), ()),
        ("5,,,,,,,3,nanti", (None, None, None), ()),
        ("2,0,,0.0,0.0,0.0,,,cannot tell: rank 2", (0.0, 0.0, 0.0), ()),
    ],
)
def test_counts_give_the_figures_of_a_line_or_leave_them_open(
    cells: str, figures: tuple[float | None, ...], codes: tuple[str, ...]
) -> None:
    summary = summary_of(cells, *codes)
    spans = (
        summary.figures["mean_overall_precision"],
        summary.figures["mean_precision_at_5"],
        summary.figures["mrr"],
    )

    for span, expected in zip(spans, figures, strict=True):
        assert span.value == (None if expected is None else pytest.approx(expected))


def test_what_is_left_open_has_bounds_and_says_why() -> None:
    """8 results, 4 relevant, the first at rank 1: 1 to 4 of them are among the first five."""
    summary = summary_of("8,4,1,,,,,4,", "csv_figure_open")
    judged = figures(totals(read_text(HEADER + "1,q,c,8,4,1,,,,,,\n").report))

    assert summary.figures["mean_precision_at_5"] == (None, 0.2, 0.8)
    assert why_undefined(summary, "mean_precision_at_5") is Undefined.LEFT_OPEN
    assert judged["mean_precision_at_5"].why_undefined is Undefined.LEFT_OPEN
    assert (judged["composite"].why_undefined, judged["mrr"].value) == (
        Undefined.LEFT_OPEN,
        1.0,
    )
    assert summary_of("5,,,,,,,3,nanti").figures["mean_precision_at_5"] == (None, 0.0, 1.0)
    # Success is undefined while the only hope cannot be told.
    assert (
        summary_of("2,0,,0.0,0.0,0.0,,,cannot tell: rank 2").figures["success_rate"].value is None
    )


@pytest.mark.parametrize(
    ("cells", "state", "notes", "outcome"),
    [
        ("0,,,,,,,,", "empty", "", None),
        ("0,,,,,,,0,tidak ada datanya", "empty", "tidak ada datanya", None),
        ("0,,,,,,,0,no data exists? should have results?", "empty", "no data", None),
        ("0,0,,,,0,0,0,call failed", "empty", "call failed", "false_negative"),
        ("0,0,,,,,0,0,call failed", "failed", "", None),
        ("0,0,,,,,0,0,Call failed; timeout", "failed", "timeout", None),
        (",,,,,,,,unreadable answer; html", "unreadable", "html", None),
        ("6,,,,,,,,unreadable answer; html", "unreadable", "html", None),
        ("6,,,,,,,,own words: unreadable answer", "results", "unreadable answer", None),
        ("2,1,1,,,,,,cannot tell: rank 0", "results", "cannot tell: rank 0", None),
        *((f"0,0,{x},{x},{x},{x},1,{x},", "empty", "", "correct_empty") for x in ("N/A", "-", " ")),
        ("1,1,1,,,,,,'=1+1", "results", "=1+1", None),
        ("1,1,1,,,,,,'biasa", "results", "'biasa", None),
    ],
)
def test_numbers_and_notes_give_the_state_the_own_words_and_the_outcome(
    cells: str, state: str, notes: str, outcome: str | None
) -> None:
    row, problems = read_row(cells)

    assert row is not None
    assert problems == ()
    assert (row.summary.state, row.summary.unsure_count) == (QueryState(state), 0)
    assert row.notes.startswith(notes) if notes else not row.notes
    assert row.summary.empty_outcome == (EmptyOutcome(outcome) if outcome else None)


@pytest.mark.parametrize(
    ("cells", "column", "stored", "computed"),
    [
        ("5,4,1,0.90,0.80,1.00,1,4,", "overall_precision", "0.9", "0.8"),
        ("5,4,1,0.80,0.60,1.00,1,4,", "precision_at_5", "0.6", "0.8"),
        ("8,6,1,0.75,0.73,1.00,1,4,", "precision_at_5", "0.73", "0.8"),
        ("5,4,2,0.80,0.80,1.00,1,4,", "mrr", "1", "0.5"),
        ("5,4,1,0.80,0.80,1.00,0,4,", "success", "0", "1"),
        ("5,0,,0.00,0.00,0.00,1,4,", "success", "1", "0"),
        ("0,0,,,,1,1,4,", "mrr", "1", "-"),
        ("3,2,1,0.6666,0.6667,1.00,1,4,", "overall_precision", "0.6666", "0.6667"),
        ("4,3,2,1,0.75,0.75,1.00,1,4,", "relevant_in_top5", "2", "3"),
        ("0,0,,,,0,1,0,should have results", "notes", "should have results", "success 1"),
        ("0,0,,,,0,0,0,no data exists", "notes", "no data exists", "success 0"),
    ],
)
def test_a_figure_that_contradicts_the_counts_is_reported_and_recomputed(
    cells: str, column: str, stored: str, computed: str
) -> None:
    _, (result,) = read_row(cells)

    assert (result.code, result.severity) == ("csv_contradiction", Severity.WARNING)
    assert result.details == {"column": column, "given": stored, "computed": computed}


def test_other_remarks_on_a_line_that_is_kept() -> None:
    _, (aside,) = read_row("5,,,0.80,,1.00,1,4,")
    assert aside.code == "csv_figures_without_count"
    assert aside.details == {"columns": "overall_precision, mrr, success"}
    _, problems = read_row("5,4,,0.80,0.80,0.20,1,4,")
    assert [p.code for p in problems] == ["csv_figure_open", "csv_contradiction"]
    assert problems[1].details == {"column": "mrr", "given": "0.2", "computed": "0.5 - 1"}
    # A row of zeros of the original page may be unrated.
    assert summary_of("8,0,0,,0.00,0.00,0.00,0,,", "csv_perhaps_unrated").complete
    assert summary_of("8,0,0,,0.00,0.00,0.00,0,1,").complete
    assert summary_of("8,0,0,,0.00,0.00,0.00,0,,salah semua").complete


@pytest.mark.parametrize(
    ("cells", "code", "column"),
    [
        ("5,4,1,0.80,1.20,1.00,1,4,", "csv_number_wrong", "precision_at_5"),
        ("5,4,1,-0.8,0.80,1.00,1,4,", "csv_number_wrong", "overall_precision"),
        ("5,4,1,0.80,0.80,1.01,1,4,", "csv_number_wrong", "mrr"),
        ("5,4,1,0.80,0.80,1.00,0.5,4,", "csv_number_wrong", "success"),
        ("5,4,1,0.80,0.80,1.00,1,6,", "csv_number_wrong", "response_quality"),
        ("99999999,4,1,0.80,0.80,1.00,1,4,", "csv_number_wrong", "results_count"),
        ("5,4.5,1,0.80,0.80,1.00,1,4,", "csv_number_wrong", "relevant_count"),
        ("lima,4,1,0.80,0.80,1.00,1,4,", "csv_number_wrong", "results_count"),
        (",4,1,0.80,0.80,1.00,1,4,", "csv_value_missing", "results_count"),
        ("5,6,1,1.00,1.00,1.00,1,4,", "csv_impossible_list", None),
        ("5,4,6,0.80,0.80,0.17,1,4,", "csv_impossible_list", None),
        ("0,1,1,,,,1,4,", "csv_impossible_list", None),
        ("5,0,2,0.00,0.00,0.00,0,4,", "csv_impossible_list", None),
        ("2,1,1,,,,,,cannot tell: rank 3", "csv_impossible_list", None),
        ("8,2,1,0.25,0.80,1.00,1,4,", "csv_impossible_list", None),  # 4 of the first 5, 2 in all
        ("8,6,1,0.75,0.20,1.00,1,4,", "csv_impossible_list", None),  # 5 more in ranks 6 to 8
        ("8,2,6,0.25,0.40,0.17,1,4,", "csv_impossible_list", None),  # 2 before the first one
        ("5,4,3,0.80,0.80,0.33,1,4,", "csv_impossible_list", None),  # 4 in ranks 3 to 5
        ("5,4,1,,,,1,4,cannot tell: rank 1", "csv_impossible_list", None),
    ],
)
def test_a_line_that_cannot_be_is_an_error_with_its_column(
    cells: str, code: str, column: str | None
) -> None:
    row, (problem,) = read_row(cells)

    assert (row, problem.severity) == (None, Severity.ERROR)
    assert (problem.code, problem.details.get("column")) == (code, column)


def test_a_bad_line_is_reported_with_its_number_and_the_good_ones_are_kept() -> None:
    """Line 3 opens a note of three lines, so the bad one after it is line 6."""
    text = HEADER + (
        "1,q,c,5,4,1,0.80,0.80,1.00,1,4,\n"
        '2,q,c,5,4,1,0.80,0.80,1.00,1,4,"one\ntwo, ""2""\nthree"\n'
        "3,q,c,5,9,1,0.80,0.80,1.00,1,4,\n"
        "\n"
        "4,q,c,5,4,1,0.80,0.80,1.00,1,4,\n"
        "4,q,c,5,5,1,,,,,,\n"
        ",q,c,5,5,1,,,,,,\n"
        '5,"q,c,5,4,1,,,,,,\n'
        "6,rumah, murah,c,5,4,1,0.8,0.8,1,1,4,\n"
    )

    result = read_text(text)

    assert [(row.query_id, row.summary.relevant_count) for row in result.report.rows] == [
        (1, 4), (2, 4), (4, 4),
    ]  # fmt: skip
    assert result.report.rows[1].notes == 'one\ntwo, "2"\nthree'
    assert [(p.line, p.query_id, p.code) for p in result.problems] == [
        (6, 3, "csv_impossible_list"),
        (9, 4, "csv_query_repeated"),
        (10, None, "csv_value_missing"),
        (11, None, "csv_broken_record"),
        (12, None, "csv_cell_count"),
    ]
    with speaking("en"):
        assert "rated.csv, line 12 has 13 cells instead of 12" in message(result.problems[-1])


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_delimiter_byte_order_mark_and_line_ends_make_no_difference(
    mark: str, ends: str, delimiter: str
) -> None:
    text = mark + SEED_SAMPLE.replace(",", delimiter).replace("\n", ends)

    assert read_text(text) == read_text(SEED_SAMPLE)
    if delimiter == ";":  # then decimals may have commas
        assert read_text(text.replace(".", ",")) == read_text(SEED_SAMPLE)


def test_columns_go_by_their_names_in_any_order_and_may_be_missing() -> None:
    text = "Notes,first_relevant_rank,RELEVANT_COUNT, results_count ,query_id\nmahal,2,1,3,9\n"
    few = "query_id,results_count,relevant_count,notes\n1,5,5,\n2,0,,no data exists\n"

    (row,) = read_text(text).report.rows
    full, empty = read_text(few).report.rows

    assert (row.query_id, row.notes, row.question) == (9, "mahal", "")
    assert row.summary.figures["mean_precision_at_5"].value == pytest.approx(1 / 3)
    assert full.summary.figures["mrr"].value == 1.0  # all relevant, so the first one too
    assert empty.summary.empty_outcome is EmptyOutcome.CORRECT_EMPTY
    assert read_text(few).problems == ()


@pytest.mark.parametrize(
    "text", ["", "\n", "a,b\n1,2\n", '{"results": []}', '"', f"query_id{',' * 100_000}\n1,2\n"]
)
def test_another_file_is_told_by_its_missing_columns(text: str) -> None:
    result = read_text(text)

    assert result.report.rows == ()
    assert [p.code for p in result.problems] == ["csv_columns_missing"]


def test_a_column_that_is_there_twice_is_refused_by_its_name() -> None:
    """Which of the two counts nobody can know."""
    result = read_text("query_id,results_count,relevant_count,Relevant_Count,,\n1,5,4,1,,\n")

    assert result.report.rows == ()
    assert [(p.code, p.details["columns"]) for p in result.problems] == [
        ("results_columns_twice", "relevant_count")
    ]


def test_bytes_that_are_no_utf_8_are_told_with_their_line() -> None:
    result = read("rated.csv", HEADER.encode() + "1,café,c,5,5,1,,,,,,\n".encode("cp1252"))

    (problem,) = result.problems
    assert (problem.code, problem.line, problem.file) == ("csv_not_utf8", 2, "rated.csv")
