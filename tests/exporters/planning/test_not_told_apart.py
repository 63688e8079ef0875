"""A comparison says which differences its questions could have shown."""

from __future__ import annotations

from msgspec.structs import replace

from webapp.exporters.planning import not_told_apart
from webapp.i18n import speaking
from webapp.metrics.comparisons.differences import Difference, PairedValues
from webapp.metrics.comparisons.differences import tested as compared
from webapp.metrics.comparisons.significance import Resampling


def difference(figure: str = "mrr", deviation: float | None = 0.28, n: int = 30) -> Difference:
    values = tuple((0.5, 0.5) for _ in range(n))
    (found,) = compared([PairedValues(figure, "a", "b", values, None)], Resampling(100))
    return replace(found, deviation=deviation)


def test_the_smallest_difference_is_that_of_the_plan() -> None:
    # statsmodels: 0.1482, see tests/metrics/planning/test_power.py.
    with speaking("en"):
        said = not_told_apart.of_one(difference(), 0.05)
        assert said == "30 questions can show differences from 0.15 up (power 80%)."
        said = not_told_apart.of_all([difference(), difference("success_rate", 0.5)], 0.05)
    assert said == (
        "which have a power of 80% to show a difference of 0.15 on MRR and 0.26 on Success rate"
    )


def test_of_several_pairs_the_one_that_varies_most_counts() -> None:
    with speaking("en"):
        said = not_told_apart.of_all([difference(), difference(deviation=0.56)], 0.05)
    assert "0.30 on MRR" in said
    assert "0.15" not in said


def test_where_nothing_varies_nothing_is_said() -> None:
    for still in (difference(deviation=None), difference(deviation=0.0)):
        assert not_told_apart.of_one(still, 0.05) == ""
        assert not_told_apart.of_all([still], 0.05) == ""
