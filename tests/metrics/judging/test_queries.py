from __future__ import annotations

import pytest

from tests.metrics.judging.verdicts import empty, failed, listed, unreadable, verdicts
from webapp.metrics.judging import queries
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


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        ("RRRRN", 4 / 5),  # seed 1.1: 4 relevant of 5
        ("RRRNN" + "RRR", 3 / 5),  # only the first five of eight
        ("RN", 1 / 2),  # seed 1.1, note: shorter than 5, divided by its length
        ("R", 1.0),
        ("NNNNNR", 0.0),  # the relevant one is at rank 6
        ("RUNUU" + "R", 1 / 2),  # decided among five: R, N
        ("R.N..", 1 / 2),  # unjudged is not decided
        ("UUUUU" + "R", Undefined.NOTHING_DECIDED),
        ("UUUUU" + "UR", Undefined.NOTHING_DECIDED),
        (".....", Undefined.NOTHING_DECIDED),
        ("", Undefined.NO_RESULTS),
    ],
)
def test_precision_at_5_divides_by_the_decided(letters: str, expected: float | Undefined) -> None:
    assert queries.precision_at(verdicts(letters)) == expected


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        ("RRRRRRNN", 6 / 8),  # seed 1.2: 6 relevant of 8
        ("NNNNNR", 1 / 6),
        ("RUUN", 1 / 2),
        ("NN", 0.0),
        ("UU", Undefined.NOTHING_DECIDED),
        ("", Undefined.NO_RESULTS),
    ],
)
def test_overall_precision_divides_by_the_decided(
    letters: str, expected: float | Undefined
) -> None:
    assert queries.precision(verdicts(letters)) == expected


def test_a_cutoff_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="cutoff 0"):
        queries.precision_at(verdicts("RN"), cutoff=0)


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        ("RNN", 1.0),  # seed 1.3: Q1 first at 1, Q2 at 3, Q3 at 2, Q4 nowhere
        ("NNR", 1 / 3),
        ("NRR", 1 / 2),
        ("NNN", 0.0),
        ("N" * 12 + "R", 1 / 13),  # the whole list, however long
        ("UR", 1 / 2),  # cannot tell takes up its rank
        (".R", 1 / 2),
        ("UU", 0.0),
        ("", Undefined.NO_RESULTS),
    ],
)
def test_reciprocal_rank_is_one_over_the_rank(letters: str, expected: float | Undefined) -> None:
    assert queries.reciprocal_rank(verdicts(letters)) == expected


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        ("NNR", 1.0),
        ("NN", 0.0),
        ("UUR", 1.0),
        ("NU", Undefined.CANNOT_TELL),
        ("U.", Undefined.CANNOT_TELL),
        ("N.", Undefined.INCOMPLETE),
        (".R", 1.0),
        ("", Undefined.NO_RESULTS),
    ],
)
def test_success_needs_one_relevant_result(letters: str, expected: float | Undefined) -> None:
    assert queries.success(verdicts(letters)) == expected


@pytest.mark.parametrize(
    ("letters", "grade"),
    [
        ("NNN", 1),  # 0 %
        ("RNNN", 2),  # 25 %
        ("R" * 49 + "N" * 51, 2),  # 49 %
        ("RN", 3),  # 50 %
        ("R" * 7 + "N" * 3, 3),  # 70 %
        ("R" * 14 + "N" * 6, 3),  # 70 %
        ("R" * 71 + "N" * 29, 4),  # 71 %
        ("RRRN", 4),  # 75 %
        ("RRR", 5),  # 100 %
        ("RRUU", 5),  # all that is decided
        ("UU", None),
        ("RR.", None),
    ],
)
def test_suggested_quality_follows_the_rubric_to_its_edges(letters: str, grade: int | None) -> None:
    assert queries.suggested_quality(QueryState.RESULTS, verdicts(letters)) == grade


@pytest.mark.parametrize(
    ("state", "grade"),
    [(QueryState.EMPTY, 0), (QueryState.FAILED, 0), (QueryState.UNREADABLE, None)],
)
def test_suggested_quality_without_results_is_0(state: QueryState, grade: int | None) -> None:
    assert queries.suggested_quality(state, ()) == grade
