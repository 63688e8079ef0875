from __future__ import annotations

import numpy as np
import pytest

from webapp.metrics.comparisons.significance import NO_INTERVAL, Resampling, mean_intervals
from webapp.metrics.judging.figures import Sum
from webapp.metrics.phase_3.user_study import TOO_FEW_CLUSTERS, clustered_mean

SETTINGS = Resampling()


def answers(people: int, seed: int) -> list[list[float]]:
    """Return what a few people gave: some find it good, some do not, each to some questions."""
    drawn = np.random.default_rng(seed)
    return [
        [
            float(x)
            for x in np.clip(
                drawn.normal(drawn.uniform(0.1, 0.9), 0.15, drawn.integers(1, 11)), 0, 1
            )
        ]
        for _ in range(people)
    ]


def sums(given: list[list[float]]) -> list[Sum]:
    return [Sum(sum(values), len(values)) for values in given]


@pytest.mark.parametrize(("people", "seed"), [(2, 1), (5, 2), (10, 3), (25, 4)])
def test_the_interval_is_that_of_drawing_people_with_all_they_gave(people: int, seed: int) -> None:
    given = answers(people, seed)
    drawn = np.random.default_rng(seed + 100)
    who = drawn.integers(0, people, (40_000, people))
    total, count = (np.array([made(values) for values in given]) for made in (sum, len))
    theirs = total[who].sum(axis=1) / count[who].sum(axis=1)
    low, high = np.quantile(theirs, [0.025, 0.975])

    found = clustered_mean(sums(given), SETTINGS)

    # A 2.5 % quantile of 10,000 draws has a standard error of about 0.03 standard deviations.
    tolerance = 5 * 0.03 * float(np.std(theirs))
    assert found.value == pytest.approx(np.concatenate(given).mean())
    assert found.interval.lower == pytest.approx(low, abs=tolerance)
    assert found.interval.upper == pytest.approx(high, abs=tolerance)
    assert (found.clusters, found.n) == (people, sum(map(len, given)))


def test_people_who_differ_give_a_wider_interval_than_their_questions_would() -> None:
    # Five people: three always served well, two never; ten questions each.
    given = [[1.0] * 10] * 3 + [[0.0] * 10] * 2
    (naive,) = mean_intervals([[x for values in given for x in values]], SETTINGS)

    found = clustered_mean(sums(given), SETTINGS)

    # 0.6 over 50 questions: sd 0.49 / sqrt(50) = 0.07, so about 0.46 to 0.74. Over 5 people
    # sd 0.49 / sqrt(5) = 0.22: of five draws 0 or 1 are good in 8.7 %, 5 in 7.8 %.
    assert naive.lower == pytest.approx(0.46, abs=0.021)
    assert naive.upper == pytest.approx(0.74, abs=0.021)
    assert (found.interval.lower, found.interval.upper) == (0.2, 1.0)


def test_below_two_people_there_is_no_interval_and_a_reason() -> None:
    nobody, one = clustered_mean([], SETTINGS), clustered_mean([Sum(2.0, 4), Sum()], SETTINGS)

    assert (nobody.value, nobody.clusters, nobody.n) == (None, 0, 0)
    assert (one.value, one.clusters, one.n) == (0.5, 1, 4)
    assert nobody.interval == one.interval == NO_INTERVAL
    assert nobody.why_no_interval == one.why_no_interval == TOO_FEW_CLUSTERS


def test_who_has_no_value_changes_nothing() -> None:
    with_values = [Sum(1.0, 2), Sum(2.0, 3), Sum(0.0, 1)]

    found = clustered_mean([Sum(), *with_values, Sum()], SETTINGS)

    assert found == clustered_mean(with_values, SETTINGS)
    assert found.why_no_interval is None
