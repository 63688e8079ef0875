"""A plan in sentences: what its upper limit supposes, and where that fails."""

from __future__ import annotations

from webapp.exporters.planning.plan import sentences
from webapp.i18n import speaking
from webapp.metrics.planning.plans import RatingEffort, RatingPlan, RatingPlanWish, plan


def _plan(*differences: float) -> RatingPlan:
    wish, effort = RatingPlanWish("mrr", 0.2), RatingEffort(10.0, 3.0, 3, 2, 6.0)
    return plan(wish, effort, has=30, pair=("a", "b"), differences=differences)


def test_a_plan_whose_differences_are_mostly_0_warns_of_its_upper_limit() -> None:
    with speaking("en"):
        said = sentences(_plan(0, 0, 0, 1, -0.5))
        other = sentences(_plan(0, 0, 0.5, 1, -0.5))
    warning = "3 of these 5 differences are 0. The upper limit is then often too low"
    assert said[-1].startswith(warning)
    assert "(upper 80% limit for normal differences)" in said[0]
    assert not any("differences are 0" in sentence for sentence in other)
