"""Dev sets are drawn in proportion, repeatably, and named by their content."""

from __future__ import annotations

from collections import Counter

import pytest

from webapp.metrics.evaluations import json_answers
from webapp.metrics.evaluations.json_answers import TooFewQuestions

TOPICS = ["rumah"] * 503 + ["ruko"] * 301 + ["tanah"] * 196


def test_topics_share_the_set_in_proportion_by_the_largest_remainder() -> None:
    """50.3, 30.1 and 19.6 of 100: the one left over goes to tanah."""
    assert json_answers.shares(TOPICS, 100) == {"rumah": 50, "ruko": 30, "tanah": 20}


def test_equal_remainders_go_to_the_topics_that_come_first() -> None:
    assert json_answers.shares(["b", "a", "c"], 2) == {"b": 1, "a": 1, "c": 0}


def test_a_drawn_set_has_these_shares_in_the_order_of_the_file() -> None:
    drawn = json_answers.draw_dev_set(TOPICS, 100, seed=42)

    assert drawn == sorted(set(drawn))
    assert Counter(TOPICS[position] for position in drawn) == json_answers.shares(TOPICS, 100)


def test_the_same_seed_draws_the_same_and_another_draws_others() -> None:
    assert json_answers.draw_dev_set(TOPICS, 100, seed=42) == json_answers.draw_dev_set(
        TOPICS, 100, seed=42
    )
    assert json_answers.draw_dev_set(TOPICS, 100, seed=42) != json_answers.draw_dev_set(
        TOPICS, 100, seed=43
    )


def test_all_questions_can_be_drawn_and_no_more() -> None:
    assert json_answers.draw_dev_set(["a", "b"], 2, seed=1) == [0, 1]
    with pytest.raises(TooFewQuestions):
        json_answers.draw_dev_set(["a", "b"], 3, seed=1)
