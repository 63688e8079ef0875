from __future__ import annotations

import pytest

from tests.metrics.judging.verdicts import empty, failed, listed, unreadable, verdicts
from webapp.metrics.judging.queries import (
    QUERY_FIGURES,
    QueryJudgments,
    QuerySummary,
    Span,
    Undefined,
    summarise,
    why_undefined,
)
from webapp.records import CannotTell, EmptyOutcome, QueryState, Relevance

CORRECT, MISSED = EmptyOutcome.CORRECT_EMPTY, EmptyOutcome.FALSE_NEGATIVE
NOTHING = Span(None, None, None)


def values(summary: QuerySummary) -> list[float | None]:
    return [summary.span(figure).value for figure in QUERY_FIGURES]


@pytest.mark.parametrize(
    ("summary", "expected"),
    [
        # P@5, overall, RR, answerable RR, success, quality: the rows of seed 5.2
        (listed("RRRRN", 4), [0.8, 0.8, 1.0, 1.0, 1, 4]),
        (listed("RRRRR", 5), [1.0, 1.0, 1.0, 1.0, 1, 5]),
        (empty(CORRECT, 0), [None, None, None, None, 1, 0]),
        (empty(MISSED, 0), [None, None, None, 0.0, 0, 0]),
        (listed("NRRRN", 3), [0.6, 0.6, 0.5, 0.5, 1, 3]),
        # beyond the sample
        (failed(), [None, None, None, None, 0, None]),
        (unreadable(), [None] * 6),
        (empty(), [None] * 6),
        (listed("R."), [None] * 6),
        (listed("UU", 2), [None, None, 0.0, 0.0, None, 2]),
        (listed("UN"), [0.0, 0.0, 0.0, 0.0, None, None]),
    ],
)
def test_values_of_a_query(summary: QuerySummary, expected: list[float | None]) -> None:
    assert values(summary) == expected


NOT_RELEVANT: CannotTell = "not_relevant"


@pytest.mark.parametrize(
    ("letters", "cannot_tell", "expected"),
    [
        # P@5, overall, RR, answerable RR, success: by hand
        ("RRRRNNNRRN", NOT_RELEVANT, [4 / 5, 6 / 10, 1.0, 1.0, 1]),  # without cannot tell the same
        ("RRRRNNNRRN", "left_out", [4 / 5, 6 / 10, 1.0, 1.0, 1]),
        ("NNRNRRRNNU", NOT_RELEVANT, [2 / 5, 4 / 10, 1 / 3, 1 / 3, 1]),
        ("NNRNRRRNNU", "left_out", [2 / 5, 4 / 9, 1 / 3, 1 / 3, 1]),
        ("UNRN", NOT_RELEVANT, [1 / 4, 1 / 4, 1 / 3, 1 / 3, 1]),  # it holds its rank
        ("UNRN", "left_out", [1 / 3, 1 / 3, 1 / 3, 1 / 3, 1]),
        ("UUUUUR", NOT_RELEVANT, [0.0, 1 / 6, 1 / 6, 1 / 6, 1]),
        ("UU", NOT_RELEVANT, [0.0, 0.0, 0.0, 0.0, 0]),
        ("UN", NOT_RELEVANT, [0.0, 0.0, 0.0, 0.0, 0]),
    ],
)
def test_cannot_tell_is_not_relevant_or_left_out_as_the_study_says(
    letters: str, cannot_tell: CannotTell, expected: list[float | None]
) -> None:
    summary = listed(letters, cannot_tell=cannot_tell)

    assert values(summary)[:-1] == expected
    assert summary.unsure_count == letters.count("U")
    assert summary.not_relevant_count == letters.count("N")


def test_cannot_tell_as_not_relevant_is_in_the_bounds_too() -> None:
    summary = listed("UR.N", cannot_tell=NOT_RELEVANT)

    assert summary.overall_precision == Span(None, 1 / 4, 2 / 4)
    assert listed("U.", cannot_tell=NOT_RELEVANT).success == Span(None, 0.0, 1.0)
    assert listed("UUUUU.", cannot_tell=NOT_RELEVANT).precision_at_5 == Span(None, 0.0, 0.0)


@pytest.mark.parametrize(
    ("summary", "figure", "lower", "upper"),
    [
        (listed("R.N."), "precision_at_5", 1 / 4, 3 / 4),
        (listed("RRRRR.."), "precision_at_5", 1.0, 1.0),  # what is open lies below rank 5
        (listed("RRRRR.."), "overall_precision", 5 / 7, 1.0),
        (listed("N.R"), "reciprocal_rank", 1 / 3, 1 / 2),
        (listed("N.R"), "success", 1.0, 1.0),
        (listed("U."), "success", None, 1.0),  # not relevant would leave it undefined
        (listed("U."), "overall_precision", 0.0, 1.0),
        (listed("UUUUU."), "precision_at_5", None, None),
        (empty(), "success", 0.0, 1.0),
        (empty(), "answerable_reciprocal_rank", 0.0, None),
        (empty(), "reciprocal_rank", None, None),
        (listed("R."), "response_quality", 0.0, 5.0),
        (failed(), "success", 0.0, 0.0),
        (failed(), "response_quality", 0.0, 5.0),
        (unreadable(), "success", None, None),
        (unreadable(), "response_quality", None, None),
    ],
)
def test_bounds_of_a_query_are_what_the_finished_rating_can_reach(
    summary: QuerySummary, figure: str, lower: float | None, upper: float | None
) -> None:
    span = summary.span(figure)

    assert (span.lower, span.upper) == (lower, upper)


def test_counts_keep_the_kinds_of_verdict_apart() -> None:
    summary = listed("NUR.R")

    assert summary.results_count == 5
    assert summary.judged_count == 4
    assert summary.relevant_count == 2
    assert summary.not_relevant_count == 1
    assert summary.unsure_count == 1
    assert summary.first_relevant_rank == 3


@pytest.mark.parametrize(
    ("summary", "complete"),
    [
        (listed("RNU"), True),  # cannot tell counts as judged, quality is not part of it
        (listed("RN."), False),
        (empty(CORRECT), True),
        (empty(MISSED), True),
        (empty(quality=0), False),
        (failed(), True),
        (unreadable(), False),
    ],
)
def test_a_query_is_complete_when_nothing_about_its_results_is_open(
    summary: QuerySummary, complete: bool
) -> None:
    assert summary.complete is complete


def test_a_rated_quality_has_its_value_before_the_query_is_complete() -> None:
    assert listed("R.", 4).response_quality == Span.settled(4.0)


def test_the_outcome_of_a_question_says_nothing_about_a_list_with_results() -> None:
    judgments = QueryJudgments(QueryState.RESULTS, verdicts("NN"), empty_outcome=CORRECT)

    found = summarise(judgments, cannot_tell="left_out")

    assert found.empty_outcome is None
    assert found.success == Span.settled(0.0)


@pytest.mark.parametrize(
    ("summary", "figure", "reason"),
    [
        (listed("R"), "success", None),
        (listed("R."), "precision_at_5", Undefined.INCOMPLETE),
        (listed("UU"), "precision_at_5", Undefined.NOTHING_DECIDED),
        (listed("UUUUUR"), "precision_at_5", Undefined.NOTHING_DECIDED),
        (listed("NU"), "success", Undefined.CANNOT_TELL),
        (listed("R"), "response_quality", Undefined.UNRATED),
        (empty(), "overall_precision", Undefined.NO_RESULTS),
        (empty(), "reciprocal_rank", Undefined.NO_RESULTS),
        (empty(), "success", Undefined.UNCLASSIFIED),
        (empty(), "answerable_reciprocal_rank", Undefined.UNCLASSIFIED),
        (empty(CORRECT), "answerable_reciprocal_rank", Undefined.CORRECT_EMPTY),
        (empty(MISSED), "answerable_reciprocal_rank", None),
        (failed(), "reciprocal_rank", Undefined.FAILED),
        (failed(), "success", None),
        (failed(), "response_quality", Undefined.UNRATED),
        (unreadable(), "success", Undefined.UNREADABLE),
        (unreadable(), "response_quality", Undefined.UNREADABLE),
    ],
)
def test_a_missing_value_says_why(
    summary: QuerySummary, figure: str, reason: Undefined | None
) -> None:
    assert why_undefined(summary, figure) is reason


@pytest.mark.parametrize(
    ("state", "letters"),
    [(QueryState.RESULTS, ""), (QueryState.EMPTY, "R"), (QueryState.FAILED, ".")],
)
def test_verdicts_and_state_must_agree(state: QueryState, letters: str) -> None:
    with pytest.raises(ValueError, match="verdicts for a query in state"):
        QueryJudgments(state, verdicts(letters))


@pytest.mark.parametrize("quality", [-1, 5.5, float("nan")])
def test_a_quality_outside_the_rubric_is_refused(quality: float) -> None:
    with pytest.raises(ValueError, match="not within 0 to 5"):
        QueryJudgments(QueryState.RESULTS, (Relevance.RELEVANT,), quality=quality)
