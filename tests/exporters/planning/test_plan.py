from __future__ import annotations

from msgspec.structs import replace

from webapp.exporters.planning.plan import section, shown_by_all, shown_by_one
from webapp.i18n import speaking
from webapp.metrics.comparisons.differences import Difference, PairedValues
from webapp.metrics.comparisons.differences import tested as compared
from webapp.metrics.comparisons.significance import Resampling
from webapp.metrics.planning.power import RatingEffort, RatingPlan, RatingPlanWish, plan


def _plan(*differences: float) -> RatingPlan:
    wish, effort = RatingPlanWish("mrr", 0.2), RatingEffort(10.0, 3.0, 3, 2, 6.0)
    return plan(wish, effort, has=30, pair=("a", "b"), differences=differences)


def test_a_plan_whose_differences_are_mostly_0_warns_of_its_upper_limit() -> None:
    with speaking("en"):
        said = section(_plan(0, 0, 0, 1, -0.5)).sentences
        other = section(_plan(0, 0, 0.5, 1, -0.5)).sentences
    warning = "3 of these 5 differences are 0. The upper limit is then often too low"
    assert said[-1].startswith(warning)
    assert "(upper 80% limit for normal differences)" in said[0]
    assert not any("differences are 0" in sentence for sentence in other)


def difference(figure: str = "mrr", deviation: float | None = 0.28, n: int = 30) -> Difference:
    values = tuple((0.5, 0.5) for _ in range(n))
    (found,) = compared([PairedValues(figure, "a", "b", values, None)], Resampling(100))
    return replace(found, deviation=deviation)


def test_the_smallest_difference_is_that_of_the_plan() -> None:
    # statsmodels: 0.1482, see tests/metrics/planning/test_power.py.
    with speaking("en"):
        said = shown_by_one(difference(), 0.05)
        assert said == "30 questions can show differences from 0.15 up (power 80%)."
        said = shown_by_all([difference(), difference("success_rate", 0.5)], 0.05)
    assert said == (
        "which have a power of 80% to show a difference of 0.15 on MRR and 0.26 on Success rate"
    )


def test_of_several_pairs_the_one_that_varies_most_counts() -> None:
    with speaking("en"):
        said = shown_by_all([difference(), difference(deviation=0.56)], 0.05)
    assert "0.30 on MRR" in said
    assert "0.15" not in said


def test_where_nothing_varies_nothing_is_said() -> None:
    for still in (difference(deviation=None), difference(deviation=0.0)):
        assert shown_by_one(still, 0.05) == ""
        assert shown_by_all([still], 0.05) == ""
