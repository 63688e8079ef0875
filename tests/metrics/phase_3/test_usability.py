"""The System Usability Scale is scored as it was published, and only when it is whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webapp.metrics.judging.queries import Undefined
from webapp.metrics.phase_3.usability import ITEMS, usability_score
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

    assert usability_score(answers) is Undefined.INCOMPLETE


@pytest.mark.parametrize("answers", [[3] * 9, [3] * 11, [0] + [3] * 9, [6] + [3] * 9])
def test_what_is_no_answer_to_the_scale_is_refused(answers: list[int]) -> None:
    with pytest.raises(ValueError, match="answer"):
        usability_score(answers)


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
