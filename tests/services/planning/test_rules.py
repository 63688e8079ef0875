from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.rating.blind_raters import stored
from tests.services.runs.runs import NO, YES, card, click, query
from webapp.db.tables.people import LogEntry, Rater
from webapp.db.tables.study import Study
from webapp.metrics.planning.power import RatingPlanWish
from webapp.services.judging import events
from webapp.services.planning import plans, samples
from webapp.services.planning.plans import NotAPair
from webapp.services.planning.samples import ChosenTooLate, NoRule, RuleKind

LATER = NOW + timedelta(hours=1)


def test_a_rule_is_chosen_replaced_and_ended_and_each_is_logged(
    session: Session, study: Study, rater: Rater
) -> None:
    run_id = stored(session, study, "hybrid", query(1, card("a")))
    (one,) = samples.question_sets(session, study)
    assert samples.in_force(session, one.id) is None

    samples.choose(session, rater, one.id, RuleKind.FIXED, NOW, settings={"size": 10}, seed=7)
    chosen = samples.choose(session, rater, one.id, RuleKind.MACHINE_HELP, LATER)

    first, second = samples.every(session, one.id)
    assert (first.kind, first.settings, first.seed) == ("fixed", {"size": 10}, 7)
    assert (first.verdicts_before, first.chosen_at) == (0, NOW)
    assert (first.ended_at, first.outcome, first.verdicts_at_end) == (LATER, "replaced", 0)
    assert samples.in_force(session, one.id) is chosen
    assert first.seed != second.seed  # drawn

    events.judge(session, rater, run_id, 1, 1, YES, click("first"))
    ended = samples.end(session, one.id, LATER)
    assert (ended.ended_at, ended.outcome, ended.verdicts_at_end) == (LATER, "stopped", 1)
    with pytest.raises(NoRule):
        samples.end(session, one.id, LATER)
    logged = session.scalars(select(LogEntry).where(LogEntry.action == "set rating rule")).all()
    assert [(entry.old, entry.new) for entry in logged] == [
        (None, "fixed"),
        ("fixed", "machine_help"),
        ("machine_help", None),
    ]
    assert logged[0].subject.endswith("seed 7")


def test_after_a_verdict_of_people_on_its_set_only_a_machines_help_can_be_chosen(
    session: Session, study: Study, rater: Rater
) -> None:
    run_id = stored(session, study, "hybrid", query(1, card("a")))
    other = stored(session, study, "hybrid", query(1, card("a"), text="Something else"))
    machine = Rater(study=study, name="judge", is_machine=True, created_at=NOW)
    session.add(machine)
    session.flush()
    first, second = samples.question_sets(session, study)
    events.judge(session, machine, run_id, 1, 1, YES, click("machine"))
    events.judge(session, rater, other, 1, 1, YES, click("elsewhere"))
    assert samples.choose(session, rater, first.id, RuleKind.FIXED, NOW).verdicts_before == 0

    with pytest.raises(ChosenTooLate):
        samples.choose(session, rater, second.id, RuleKind.FIXED, LATER)
    late = samples.choose(session, rater, second.id, RuleKind.MACHINE_HELP, LATER)
    assert late.verdicts_before == 1


def test_a_rule_follows_its_questions_into_a_larger_set(
    session: Session, study: Study, rater: Rater
) -> None:
    stored(session, study, "hybrid", query(1, card("a")))
    stored(session, study, "hybrid", query(1, card("b"), text="Question 2"))
    _, second = samples.question_sets(session, study)
    samples.choose(session, rater, second.id, RuleKind.FIXED, NOW)

    stored(session, study, "api_only", query(1, card("a")), query(2, card("b")))

    (whole,) = samples.question_sets(session, study)
    rule = samples.in_force(session, whole.id)
    assert rule is not None
    assert rule.kind == "fixed"


WISH = RatingPlanWish("mean_precision_at_5", 0.5)


@pytest.fixture(name="runs")
def _runs(session: Session, study: Study, rater: Rater) -> tuple[str, str, str]:
    said = {"api": (YES, NO, YES), "hybrid": (NO, NO, NO), "vector": (NO, YES, NO)}
    found = []
    for method, verdicts in said.items():
        queries = [query(n, card(f"{method}{n}"), text=f"Question {n}") for n in (1, 2, 3)]
        run_id = stored(session, study, method, *queries)
        for n, verdict in enumerate(verdicts, 1):
            events.judge(session, rater, run_id, n, 1, verdict, click(f"{method}{n}"))
        found.append(run_id)
    return found[0], found[1], found[2]


def test_the_pair_that_varies_most_or_a_named_one_gives_the_deviation(
    session: Session, study: Study, runs: tuple[str, str, str]
) -> None:
    api, hybrid, _ = runs
    (one,) = samples.question_sets(session, study)
    found = plans.rating_plan(session, study, one, WISH)
    named = plans.rating_plan(session, study, one, WISH, pair=(hybrid, api))

    # api - vector: 1, -1, 1, from their mean 1/3: 2/3, -4/3, 2/3; sqrt(24/9 / 2).
    assert found.spread is not None
    assert found.spread.n == 3
    assert found.spread.mean == pytest.approx(1 / 3)
    assert found.deviation == pytest.approx((4 / 3) ** 0.5)
    assert found.effort is not None
    assert (found.has, found.effort.things, found.effort.answers) == (3, 3.0, 3.0)
    assert named.spread is not None
    assert named.spread.mean == pytest.approx(2 / 3)  # 1, 0, 1
    for pair in ((api, api), (api, "none")):
        with pytest.raises(NotAPair):
            plans.rating_plan(session, study, one, WISH, pair=pair)


def test_the_work_counts_raters_overlap_and_pace(
    session: Session, study: Study, runs: tuple[str, str, str]
) -> None:
    assert runs
    (one,) = samples.question_sets(session, study)
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
