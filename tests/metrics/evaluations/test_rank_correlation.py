from __future__ import annotations

import random

import pytest
from scipy import stats  # type: ignore[import-untyped]

from webapp.metrics.comparisons.significance import Bootstrap
from webapp.metrics.evaluations.rank_correlation import NoCorrelation, rank_correlation

FEW = Bootstrap(resamples=200)


@pytest.mark.parametrize("seed", range(8))
def test_correlations_are_those_of_scipy_ties_included(seed: int) -> None:
    draw = random.Random(seed)
    pairs = [(round(draw.random(), 1), float(draw.randrange(6))) for _ in range(30)]
    x, y = zip(*pairs, strict=True)

    found = rank_correlation(pairs, bootstrap=FEW)

    assert found.spearman.value == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)
    assert found.kendall_tau_b.value == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)


def test_an_interval_holds_its_value_and_no_order_of_the_items_moves_it() -> None:
    draw = random.Random(3)
    pairs = [(x := draw.random(), round(5 * (x + draw.random()) / 2)) for _ in range(25)]
    shuffled = draw.sample(pairs, k=25)

    found = rank_correlation(pairs, bootstrap=FEW)

    assert found == rank_correlation(shuffled, bootstrap=FEW)
    for one in (found.spearman, found.kendall_tau_b):
        assert one.lower is not None
        assert one.upper is not None
        assert one.value is not None
        assert -1 <= one.lower <= one.value <= one.upper <= 1


def test_very_few_items_have_no_interval() -> None:
    found = rank_correlation([(0.1, 1), (0.2, 2), (0.3, 3), (0.4, 4)], bootstrap=FEW)

    assert found.spearman.value == pytest.approx(1)
    assert (found.spearman.lower, found.kendall_tau_b.upper) == (None, None)


def test_a_resample_is_worth_what_scipy_makes_of_the_items_drawn() -> None:
    import numpy as np

    from webapp.metrics.evaluations.rank_correlation import _rho, _tau

    x, y = np.array([0.1, 0.4, 0.4, 0.9, 0.2]), np.array([0.0, 3.0, 2.0, 5.0, 2.0])
    times = np.array([[2.0, 0.0, 1.0, 1.0, 1.0]])
    drawn = np.repeat(np.arange(5), times[0].astype(int))

    rho = stats.spearmanr(x[drawn], y[drawn]).statistic
    tau = stats.kendalltau(x[drawn], y[drawn]).statistic

    assert _rho(x, y, times)[0] == pytest.approx(rho, abs=1e-12)
    assert _tau(x, y, times)[0] == pytest.approx(tau, abs=1e-12)


@pytest.mark.parametrize(
    ("pairs", "why"),
    [
        ([], NoCorrelation.TOO_FEW),
        ([(0.5, 3)], NoCorrelation.TOO_FEW),
        ([(0.5, 3), (0.5, 4)], NoCorrelation.ONE_MACHINE_VALUE),
        ([(0.5, 3), (0.6, 3)], NoCorrelation.ONE_GRADE),
    ],
)
def test_no_order_is_not_a_correlation_of_zero(
    pairs: list[tuple[float, float]], why: NoCorrelation
) -> None:
    found = rank_correlation(pairs)

    assert found.why_undefined is why
    assert found.spearman.value is None
    assert found.kendall_tau_b.value is None
