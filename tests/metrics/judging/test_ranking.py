from __future__ import annotations

import pytest

from tests.metrics.judging.verdicts import verdicts
from webapp.metrics.judging import queries
from webapp.metrics.judging.queries import EXPLANATIONS, Undefined
from webapp.records import QueryState


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
def test_precision_at_5_divides_by_what_is_decided_in_the_first_five(
    letters: str, expected: float | Undefined
) -> None:
    assert queries.precision_at(verdicts(letters)) == expected


def test_precision_at_another_cutoff_counts_that_many_ranks() -> None:
    assert queries.precision_at(verdicts("RNRN"), cutoff=3) == 2 / 3


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
def test_overall_precision_divides_by_what_is_decided_in_the_whole_list(
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
def test_reciprocal_rank_is_one_over_the_first_relevant_rank(
    letters: str, expected: float | Undefined
) -> None:
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


def test_the_suggestion_counts_cannot_tell_as_the_study_does() -> None:
    counted = queries.counted(verdicts("RRUU"), cannot_tell="not_relevant")

    assert queries.suggested_quality(QueryState.RESULTS, counted) == 3  # 2 of 4


@pytest.mark.parametrize(
    ("state", "grade"),
    [(QueryState.EMPTY, 0), (QueryState.FAILED, 0), (QueryState.UNREADABLE, None)],
)
def test_suggested_quality_without_results_is_0_unless_the_answer_is_unreadable(
    state: QueryState, grade: int | None
) -> None:
    assert queries.suggested_quality(state, ()) == grade


def test_every_reason_is_explained() -> None:
    assert set(EXPLANATIONS) == set(Undefined)
