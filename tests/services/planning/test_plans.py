"""A plan knows the rated pair that varies most, the pool, the raters and their pace."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.rating.blind_raters import stored
from tests.services.runs.runs import NO, YES, card, click, query
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study
from webapp.metrics.planning.plans import RatingPlanWish
from webapp.services.judging import events
from webapp.services.planning import plans, rules
from webapp.services.planning.plans import NotAPair

WISH = RatingPlanWish("mean_precision_at_5", 0.5)


@pytest.fixture(name="runs")
def _runs(session: Session, study: Study, rater: Rater) -> tuple[str, str, str]:
    """Three questions, each with a card per run."""
    said = {"api": (YES, NO, YES), "hybrid": (NO, NO, NO), "vector": (NO, YES, NO)}
    found = []
    for method, verdicts in said.items():
        queries = [query(n, card(f"{method}{n}"), text=f"Question {n}") for n in (1, 2, 3)]
        run_id = stored(session, study, method, *queries)
        for n, verdict in enumerate(verdicts, 1):
            events.judge(session, rater, run_id, n, 1, verdict, click(f"{method}{n}"))
        found.append(run_id)
    return found[0], found[1], found[2]


def test_the_pair_that_varies_most_gives_the_deviation(
    session: Session, study: Study, runs: tuple[str, str, str]
) -> None:
    assert runs
    (one,) = rules.question_sets(session, study)
    found = plans.rating_plan(session, study, one, WISH)

    # api - vector: 1, -1, 1, from their mean 1/3: 2/3, -4/3, 2/3; sqrt(24/9 / 2).
    assert found.spread is not None
    assert found.spread.n == 3
    assert found.spread.mean == pytest.approx(1 / 3)
    assert found.deviation == pytest.approx((4 / 3) ** 0.5)
    assert found.effort is not None
    assert (found.has, found.effort.things, found.effort.answers) == (3, 3.0, 3.0)


def test_a_named_pair_counts_in_either_order_and_another_is_refused(
    session: Session, study: Study, runs: tuple[str, str, str]
) -> None:
    (one,) = rules.question_sets(session, study)
    api, hybrid, _ = runs
    found = plans.rating_plan(session, study, one, WISH, pair=(hybrid, api))

    assert found.spread is not None
    assert found.spread.mean == pytest.approx(2 / 3)  # 1, 0, 1
    for pair in ((api, api), (api, "none")):
        with pytest.raises(NotAPair):
            plans.rating_plan(session, study, one, WISH, pair=pair)


def test_the_work_counts_raters_overlap_and_pace(
    session: Session, study: Study, runs: tuple[str, str, str]
) -> None:
    assert runs
    (one,) = rules.question_sets(session, study)
    alone = plans.effort(session, study, one)
    assert (alone.raters, alone.times) == (1, 1)

    session.add(Rater(study=study, name="Budi", created_at=NOW + timedelta(hours=1)))
    session.add(Rater(study=study, name="Citra", created_at=NOW + timedelta(hours=1)))
    study.overlap = 2
    session.flush()

    shared = plans.effort(session, study, one)
    assert (shared.raters, shared.times) == (3, 2)
    assert shared.verdicts(10) == 60  # 10 x 3 things x 2
    assert plans.effort(session, study, one, raters=1).times == 1


def test_a_study_with_one_run_plans_with_an_entered_deviation_only(
    session: Session, study: Study, rater: Rater
) -> None:
    assert rater
    stored(session, study, "hybrid", query(1, card("a")))
    (one,) = rules.question_sets(session, study)
    assert plans.rating_plan(session, study, one, WISH).deviation is None
    entered = RatingPlanWish("mrr", 0.15, deviation=0.28)
    assert plans.rating_plan(session, study, one, entered).needed == 30
