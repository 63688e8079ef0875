"""The intervals of version 1.0.0 are reckoned as that version did; the numbers are its own."""

from __future__ import annotations

import pytest

from webapp.metrics.comparisons.significance import Resampling
from webapp.metrics.planning.assisted import assisted_mean
from webapp.metrics.planning.former_intervals import formerly_assisted, formerly_sampled
from webapp.metrics.planning.sampling import Stratum

BY_VERSION_1_0_0 = [
    ([Stratum(8, (1.0, 1.0, 0.5, 1.0))], (0.5836440553414075, 0.9770620726159658)),
    (
        [Stratum(6, (0.2, 0.8, None, 0.4)), Stratum(4, (1.0, 0.6)), Stratum(2, (0.0,))],
        (0.1572717720121618, 0.8296150477955665),
    ),
    ([Stratum(50, (0.0,) * 5)], (0.0, 0.0)),
    ([Stratum(2, (0.25, 0.75))], (0.5, 0.5)),
]


@pytest.mark.parametrize(("strata", "expected"), BY_VERSION_1_0_0)
def test_a_sample_has_the_interval_that_version_gave(
    strata: list[Stratum], expected: tuple[float, float]
) -> None:
    found = formerly_sampled(strata, Resampling(resamples=200)).interval
    assert (found.lower, found.upper) == pytest.approx(expected, rel=1e-12)


def test_one_question_had_none() -> None:
    assert formerly_sampled([Stratum(8, (1.0,))], Resampling()).interval.lower is None


def test_people_with_a_machines_help_had_the_interval_of_ppi_python() -> None:
    # ppi-python 0.2.3, see test_assisted: "two questions sampled".
    found = formerly_assisted(assisted_mean([1, 0.5], [0.8, 0.4], [0.2, 0.4, 0.6]))
    assert found.assisted is not None
    assert found.alone is not None
    assert (found.assisted.lower, found.assisted.upper) == pytest.approx(
        (0.4197401183411581, 0.8494906508896113), rel=1e-9
    )
    assert (found.alone.lower, found.alone.upper) == pytest.approx(
        (0.40352404391258057, 1.0964759560874193), rel=1e-9
    )
