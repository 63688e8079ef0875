"""Machine against people: held to scikit-learn and scipy, and undefined with a reason."""

from __future__ import annotations

import random

import pytest
from scipy import stats  # type: ignore[import-untyped]
from sklearn.metrics import (  # type: ignore[import-untyped]
    cohen_kappa_score,
    precision_score,
    recall_score,
)

from webapp.metrics.agreement.coefficients import NoAgreement
from webapp.metrics.agreement.machine_agreement import NoShare, binary_agreement
from webapp.metrics.comparisons.resampling import Bootstrap
from webapp.metrics.evaluations.rank_correlation import NoCorrelation, rank_correlation

FEW = Bootstrap(resamples=200)


@pytest.mark.parametrize("seed", range(8))
def test_kappa_precision_and_recall_are_those_of_scikit_learn(seed: int) -> None:
    draw = random.Random(seed)
    pairs = [(draw.random() < 0.6, draw.random() < 0.5) for _ in range(40)]
    machine, people = zip(*pairs, strict=True)

    found = binary_agreement(pairs, bootstrap=FEW)

    assert found.n == 40
    assert found.kappa.value == pytest.approx(cohen_kappa_score(machine, people), abs=1e-12)
    assert found.precision == pytest.approx(precision_score(people, machine), abs=1e-12)
    assert found.recall == pytest.approx(recall_score(people, machine), abs=1e-12)
    assert found.agreed == pytest.approx(sum(a == b for a, b in pairs) / 40)


def test_the_table_counts_who_passed_what() -> None:
    found = binary_agreement([(True, True), (True, False), (False, True), (False, False)] * 2)

    assert (found.both, found.machine_only, found.people_only, found.neither) == (2, 2, 2, 2)


def test_what_has_no_value_says_why() -> None:
    nothing = binary_agreement([])
    refused = binary_agreement([(False, False), (False, False)], bootstrap=FEW)

    assert nothing.agreed is None
    assert nothing.kappa.why_undefined is NoAgreement.NO_SHARED_ITEM
    assert refused.precision is NoShare.MACHINE_PASSED_NOTHING
    assert refused.recall is NoShare.PERSON_PASSED_NOTHING
    assert refused.kappa.why_undefined is NoAgreement.ONE_LABEL


@pytest.mark.parametrize("seed", range(8))
def test_correlations_are_those_of_scipy_ties_included(seed: int) -> None:
    draw = random.Random(seed)
    pairs = [(round(draw.random(), 1), float(draw.randrange(6))) for _ in range(30)]
    x, y = zip(*pairs, strict=True)

    found = rank_correlation(pairs, bootstrap=FEW)

    assert found.spearman.value == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)
    assert found.kendall.value == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)


def test_an_interval_holds_its_value_and_no_order_of_the_items_moves_it() -> None:
    draw = random.Random(3)
    pairs = [(x := draw.random(), round(5 * (x + draw.random()) / 2)) for _ in range(25)]
    shuffled = draw.sample(pairs, k=25)

    found = rank_correlation(pairs, bootstrap=FEW)

    assert found == rank_correlation(shuffled, bootstrap=FEW)
    for one in (found.spearman, found.kendall):
        assert one.lower is not None
        assert one.upper is not None
        assert one.value is not None
        assert -1 <= one.lower <= one.value <= one.upper <= 1


def test_very_few_items_have_no_interval() -> None:
    found = rank_correlation([(0.1, 1), (0.2, 2), (0.3, 3), (0.4, 4)], bootstrap=FEW)

    assert found.spearman.value == pytest.approx(1)
    assert (found.spearman.lower, found.kendall.upper) == (None, None)


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
    assert found.kendall.value is None
