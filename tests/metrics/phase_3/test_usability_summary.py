from __future__ import annotations

import numpy as np
import pytest
from scipy import stats  # type: ignore[import-untyped]

from webapp.metrics.comparisons.significance import NO_INTERVAL
from webapp.metrics.phase_3.usability import adjective, grade, student_quantile, usability_summary


@pytest.mark.parametrize("degrees", [*range(1, 31), 99, 250])
@pytest.mark.parametrize("share", [0.9, 0.95, 0.975, 0.995])
def test_student_s_quantile_is_scipys(share: float, degrees: int) -> None:
    assert student_quantile(share, degrees) == pytest.approx(stats.t.ppf(share, degrees), rel=1e-9)


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
