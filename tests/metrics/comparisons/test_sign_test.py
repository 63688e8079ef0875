"""The sign test against scipy, and at its edges."""

from __future__ import annotations

import pytest
from scipy.stats import binomtest  # type: ignore[import-untyped]

from webapp.metrics.comparisons.differences import sign_test


@pytest.mark.parametrize("n", [0, 1, 2, 5, 20, 21, 44, 301])
def test_the_sign_test_is_the_exact_binomial_test_of_scipy(n: int) -> None:
    for one in range(n + 1):
        expected = binomtest(one, n).pvalue if n else 1.0
        assert sign_test(one, n - one) == pytest.approx(expected, abs=1e-12)


def test_very_many_cases_do_not_overflow() -> None:
    assert sign_test(2000, 3000) < 1e-40
