"""The usability scale is scored as published; figures over people as drawing people gives them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st

from relevansi.metrics.intervals import NO_INTERVAL, estimate_interval, mean_interval
from relevansi.metrics.judging.figures import Sum
from relevansi.metrics.phase_3.user_study import (
    adjective,
    clustered_mean,
    grade,
    usability_score,
    usability_summary,
)

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


@pytest.mark.parametrize("size", [2, 3, 5, 10, 31])
def test_the_interval_is_scipys_within_the_scale(size: int) -> None:
    scores = [float(x) for x in np.random.default_rng(size).integers(10, 36, size) * 2.5]
    low, high = scipy.stats.t.interval(
        0.95, size - 1, loc=np.mean(scores), scale=scipy.stats.sem(scores)
    )

    result = usability_summary(scores)

    assert result.mean == pytest.approx(np.mean(scores))
    assert result.interval.lower == pytest.approx(max(0, low), rel=1e-9)
    assert result.interval.upper == pytest.approx(min(100, high), rel=1e-9)
    assert result.n == size


def test_equal_scores_are_no_point() -> None:
    interval = usability_summary([72.5] * 5).interval
    assert interval.lower is not None
    assert interval.upper is not None
    assert interval.lower < 72.5 < interval.upper


def test_no_score_has_no_mean_and_one_no_interval() -> None:
    nobody, single = usability_summary([]), usability_summary([72.5])

    assert (nobody.n, nobody.mean, nobody.adjective, nobody.grade) == (0, None, None, None)
    assert nobody.interval == single.interval == NO_INTERVAL
    assert (single.n, single.mean, single.adjective, single.grade) == (1, 72.5, "good", "C")


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
def test_a_mean_has_the_nearest_adjective_and_grade(mean: float, word: str, letter: str) -> None:
    # Bangor et al. 2009: 12.5, 20.3, 35.7, 50.9, 71.4, 85.5, 90.9; grades at 60, 70, 80, 90.
    assert (adjective(mean), grade(mean)) == (word, letter)


def sums(values_by_person: list[list[float]]) -> list[Sum]:
    return [Sum(sum(values), len(values)) for values in values_by_person]


def test_people_who_differ_give_a_wider_interval_than_their_questions_would() -> None:
    # Five people: three always served well, two never; ten questions each.
    values_by_person = [[1.0] * 10] * 3 + [[0.0] * 10] * 2
    naive = mean_interval([x for values in values_by_person for x in values])

    result = clustered_mean(sums(values_by_person))

    # Wilson, scipy.stats.binomtest: 30 of 50, and 3 of 5.
    assert (naive.lower, naive.upper) == pytest.approx((0.461814, 0.723916), abs=1e-6)
    interval = result.interval.lower, result.interval.upper
    assert interval == pytest.approx((0.230724, 0.882379), abs=1e-6)
    assert (result.clusters, result.n) == (5, 50)


def test_the_units_of_the_interval_are_people_and_each_counts_by_their_questions() -> None:
    # Ratio estimate: (2 + 0) / (4 + 1) = 0.4; residuals 2 - 1.6 and 0 - 0.4, times 2 / 5.
    result = clustered_mean([Sum(2.0, 4), Sum(0.0, 1)])
    assert result.value == 0.4
    assert result.interval == estimate_interval(0.4, 2 * 0.4**2 * 2 / 5**2, 2)


SHARES = st.floats(0, 1, allow_nan=False)
PEOPLE = st.lists(st.lists(SHARES, min_size=1, max_size=10), min_size=2, max_size=12)


@given(st.lists(SHARES, min_size=2, max_size=30))
def test_where_each_asked_one_question_the_interval_is_the_plain_one(values: list[float]) -> None:
    plain = mean_interval(values)

    interval = clustered_mean([Sum(value, 1) for value in values]).interval
    assert (interval.lower, interval.upper) == pytest.approx((plain.lower, plain.upper))


@given(PEOPLE)
def test_giving_each_answer_twice_or_nothing_changes_no_interval(people: list[list[float]]) -> None:
    once = clustered_mean(sums(people))
    twice = clustered_mean([Sum(2 * sum(person), 2 * len(person)) for person in people])

    interval = once.interval.lower, once.interval.upper
    assert (twice.interval.lower, twice.interval.upper) == pytest.approx(interval)
    assert twice.value == pytest.approx(once.value)
    assert twice.clusters == once.clusters
    assert twice.n == 2 * once.n
    assert clustered_mean([Sum(), *sums(people), Sum()]) == once
    alone = clustered_mean(sums(people[:1]))
    assert (alone.interval, alone.clusters) == (NO_INTERVAL, 1)
