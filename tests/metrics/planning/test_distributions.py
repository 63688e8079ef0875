"""Student's t, the non-central t and chi-square equal scipy's."""

from __future__ import annotations

import math

import pytest
from scipy import stats  # type: ignore[import-untyped]

from webapp.metrics.planning import distributions

DEGREES = (1, 2, 5, 29, 99, 999)
SHARES = (0.001, 0.025, 0.2, 0.5, 0.8, 0.975, 0.9995)


@pytest.mark.parametrize("df", DEGREES)
def test_quantiles_equal_scipys(df: int) -> None:
    for p in SHARES:
        t, x = distributions.t_quantile(p, df), distributions.chi_square_quantile(p, df)
        assert t == pytest.approx(stats.t.ppf(p, df), rel=1e-10, abs=1e-12)
        assert x == pytest.approx(stats.chi2.ppf(p, df), rel=1e-10)


@pytest.mark.parametrize("df", DEGREES)
def test_the_non_central_t_equals_scipys(df: int) -> None:
    for t in (-3, 0, 0.5, 2.04, 12.7, 63):
        for shift in (-2, 0, 0.3, 2.8, 6, 20, 45):
            expected = stats.nct.cdf(t, df, shift)
            if math.isnan(expected):  # scipy's own end, where the probability is all but 0
                assert shift - t > 8
                expected = 0
            found = distributions.noncentral_t_cdf(t, df, shift)
            assert found == pytest.approx(expected, abs=1e-10)


def test_the_incomplete_functions_end_where_they_should() -> None:
    assert distributions.incomplete_beta(2, 3, 0) == 0
    assert distributions.incomplete_beta(2, 3, 1) == 1
    assert distributions.incomplete_gamma(2, 0) == 0
    # P(1, x) = 1 - exp(-x), by the series and by the fraction.
    for x in (0.5, 9.0):
        assert distributions.incomplete_gamma(1, x) == pytest.approx(1 - math.exp(-x), abs=1e-14)
