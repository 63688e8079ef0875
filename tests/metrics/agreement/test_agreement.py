"""Claims about agreement: what the references say, what the corners give, and the interval."""

from __future__ import annotations

import pytest

from tests.metrics.agreement import agreement_oracles as oracles
from tests.metrics.agreement.tables import N
from webapp.metrics.agreement import agreement as measures
from webapp.metrics.agreement.agreement import Bootstrap, agreement, cohen_kappa


class TestInterval:
    """The interval is exact: the same for the same data, seed and number of resamples."""

    table = oracles.random_table(7, raters=3, labels=2, missing=0.2, skew=0.3)

    def test_it_says_how_it_was_made(self) -> None:
        found = agreement(self.table, bootstrap=Bootstrap(resamples=50, seed=3)).fleiss

        assert found.bootstrap.method == "percentile bootstrap over items"
        assert (found.bootstrap.seed, found.bootstrap.resamples) == (3, 50)
        assert found.bootstrap.confidence == 0.95

    def test_it_is_the_same_every_time_and_moves_with_the_seed(self) -> None:
        one, again = agreement(self.table).ac1, agreement(self.table).ac1
        other = agreement(self.table, bootstrap=Bootstrap(seed=1)).ac1

        assert one == again
        assert (one.lower, one.upper) != (other.lower, other.upper)

    def test_raw_agreement_of_two_has_the_quantiles_of_the_binomial(self) -> None:
        """Resampling 36 of 40 agreements draws from Binomial(40, 0.9) / 40.

        scipy.stats.binom.ppf([0.025, 0.975], 40, 0.9) = [32, 39].
        """
        table = [[1, 1]] * 36 + [[1, 0]] * 4
        found = agreement(table, bootstrap=Bootstrap(resamples=20000)).raw

        assert (found.lower, found.upper) == (32 / 40, 39 / 40)

    def test_resamples_without_a_value_are_left_out_and_counted(self) -> None:
        """A resample of [1 1], [0 0] has one label in half of the cases."""
        found = cohen_kappa([[1, 1], [0, 0]], bootstrap=Bootstrap(resamples=1000))

        assert (found.value, found.lower, found.upper) == (1.0, 1.0, 1.0)
        assert 400 < found.left_out < 600

    def test_one_item_has_a_value_and_no_interval(self) -> None:
        found = agreement([[1, 1, 0], [1, N, N]]).raw

        assert found.value == pytest.approx(1 / 3)
        assert (found.n, found.lower, found.upper) == (1, None, None)


def test_nothing_heavy_is_loaded() -> None:
    """The serving path must not pay for numpy: the formulas are plain Python."""
    import subprocess
    import sys

    code = (
        "import sys; from webapp.metrics.agreement import report;"
        "print(sorted({'numpy', 'scipy', 'pandas'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
    assert measures.DEFAULT.resamples == 2000
