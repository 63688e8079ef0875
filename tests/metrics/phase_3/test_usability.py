"""The System Usability Scale is scored as it was published, and only when it is whole."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from webapp.metrics.comparisons.significance import NO_INTERVAL
from webapp.metrics.phase_3.user_study import (
    ITEMS,
    adjective,
    grade,
    usability_score,
    usability_summary,
)
from webapp.records import USABILITY_ITEMS

ANSWERS = st.lists(st.integers(1, 5), min_size=10, max_size=10)


@pytest.mark.parametrize(
    ("answers", "score"),
    [
        # odd items give answer - 1, even ones 5 - answer; their sum times 2.5
        ([5, 1] * 5, 100.0),  # (4 + 4) * 5 * 2.5
        ([1, 5] * 5, 0.0),
        ([3, 3] * 5, 50.0),  # (2 + 2) * 5 * 2.5
        ([5, 5] * 5, 50.0),  # agreeing to everything is not praise: (4 + 0) * 5 * 2.5
        ([4, 2, 5, 1, 4, 3, 4, 2, 3, 4], 70.0),  # 3+3+4+4+3+2+3+3+2+1 = 28
        ([2, 1, 1, 1, 1, 1, 1, 1, 1, 1], 52.5),  # 1 + 5 * 4 = 21
    ],
)
def test_the_score_is_that_of_the_published_rule(answers: list[int], score: float) -> None:
    assert usability_score(answers) == score


@pytest.mark.parametrize("place", range(10))
def test_one_item_without_an_answer_leaves_no_score(place: int) -> None:
    answers: list[int | None] = [3] * 10
    answers[place] = None

    assert usability_score(answers) is None


@given(ANSWERS)
def test_the_score_lies_within_0_and_100_in_steps_of_two_and_a_half(answers: list[int]) -> None:
    score = usability_score(answers)

    assert isinstance(score, float)
    assert 0 <= score <= 100
    assert score / 2.5 == round(score / 2.5)


@given(ANSWERS)
def test_answering_the_other_way_round_turns_the_score_round(answers: list[int]) -> None:
    turned = usability_score([6 - answer for answer in answers])

    assert turned == 100 - usability_score(answers)  # type: ignore[operator]


def test_there_are_ten_items_each_with_a_place_to_be_stored() -> None:
    assert len(set(ITEMS)) == len(USABILITY_ITEMS) == 10


@pytest.mark.parametrize("size", [2, 3, 5, 10, 31])
def test_the_interval_is_scipys_within_the_scale(size: int) -> None:
    scores = [float(x) for x in np.random.default_rng(size).integers(10, 36, size) * 2.5]
    low, high = stats.t.interval(0.95, size - 1, loc=np.mean(scores), scale=stats.sem(scores))

    found = usability_summary(scores)

    assert found.mean == pytest.approx(np.mean(scores))
    assert found.interval.lower == pytest.approx(max(0, low), rel=1e-9)
    assert found.interval.upper == pytest.approx(min(100, high), rel=1e-9)
    assert found.n == size


def test_no_score_has_no_mean_and_one_no_interval() -> None:
    nobody, one = usability_summary([]), usability_summary([72.5])

    assert (nobody.n, nobody.mean, nobody.adjective, nobody.grade) == (0, None, None, None)
    assert nobody.interval == one.interval == NO_INTERVAL
    assert (one.n, one.mean, one.adjective, one.grade) == (1, 72.5, "good", "C")


@pytest.mark.parametrize(
    ("mean", "word", "letter"),
    [
        (0, "worst imaginable", "F"),
        (12.5, "worst imaginable", "F"),
        (20, "awful", "F"),
        (35.7, "poor", "F"),
        (59.9, "OK", "F"),
        (60, "OK", "D"),
        (71.4, "good", "C"),
        (80, "excellent", "B"),
        (85.5, "excellent", "B"),
        (90, "best imaginable", "A"),
        (100, "best imaginable", "A"),
    ],
)
def test_a_mean_is_called_by_the_nearest_adjective_and_its_grade(
    mean: float, word: str, letter: str
) -> None:
    # Bangor et al. 2009: 12.5, 20.3, 35.7, 50.9, 71.4, 85.5, 90.9; grades at 60, 70, 80, 90.
    assert (adjective(mean), grade(mean)) == (word, letter)
