"""A rule of rating is chosen before the first verdict, kept with its seed, logged and ended."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.rating.blind_raters import stored
from tests.services.runs.runs import YES, card, click, query
from webapp.db.tables.people import LogEntry, Rater
from webapp.db.tables.study import Study
from webapp.services.judging import events
from webapp.services.planning import rules
from webapp.services.planning.rules import ChosenTooLate, NoRule, RuleKind, UnknownPlan

LATER = NOW + timedelta(hours=1)


def test_a_rule_is_kept_with_its_seed_and_logged(
    session: Session, study: Study, rater: Rater
) -> None:
    stored(session, study, "hybrid", query(1, card("a")))
    (one,) = rules.question_sets(session, study)
    assert rules.in_force(session, one.id) is None

    rules.choose(session, rater, one.id, RuleKind.FIXED, NOW, settings={"size": 10}, seed=7)

    rule = rules.in_force(session, one.id)
    assert rule is not None
    assert (rule.kind, rule.settings, rule.seed) == ("fixed", {"size": 10}, 7)
    assert (rule.verdicts_before, rule.rater_id, rule.chosen_at) == (0, rater.id, NOW)
    (entry,) = session.scalars(select(LogEntry).where(LogEntry.action == "set rating rule"))
    assert (entry.old, entry.new, entry.at) == (None, "fixed", NOW)
    assert entry.subject == f"question set {one.id}, rule {rule.id}, seed 7"


def test_another_rule_takes_the_place_of_the_one_in_force(
    session: Session, study: Study, rater: Rater
) -> None:
    stored(session, study, "hybrid", query(1, card("a")))
    (one,) = rules.question_sets(session, study)
    rules.choose(session, rater, one.id, RuleKind.FIXED, NOW)

    chosen = rules.choose(session, rater, one.id, RuleKind.MACHINE_HELP, LATER)

    first, second = rules.every(session, one.id)
    assert (first.ended_at, first.outcome, first.verdicts_at_end) == (LATER, "replaced", 0)
    assert rules.in_force(session, one.id) is chosen
    assert first.seed != second.seed  # drawn


def test_after_the_first_verdict_only_a_machines_help_can_be_chosen_and_says_so(
    session: Session, study: Study, rater: Rater
) -> None:
    run_id = stored(session, study, "hybrid", query(1, card("a")))
    (one,) = rules.question_sets(session, study)
    events.judge(session, rater, run_id, 1, 1, YES, click("first"))

    with pytest.raises(ChosenTooLate):
        rules.choose(session, rater, one.id, RuleKind.FIXED, LATER)
    assert rules.choose(session, rater, one.id, RuleKind.MACHINE_HELP, LATER).verdicts_before == 1


def test_a_machines_verdict_closes_no_choice(session: Session, study: Study) -> None:
    run_id = stored(session, study, "hybrid", query(1, card("a")))
    owner = study_owner(session, study)
    machine = Rater(study=study, name="judge", is_machine=True, created_at=NOW)
    session.add(machine)
    session.flush()
    events.judge(session, machine, run_id, 1, 1, YES, click("machine"))
    (one,) = rules.question_sets(session, study)

    assert rules.choose(session, owner, one.id, RuleKind.FIXED, NOW).verdicts_before == 0


def test_a_verdict_on_another_question_set_closes_no_choice(
    session: Session, study: Study, rater: Rater
) -> None:
    judged = stored(session, study, "hybrid", query(1, card("a")))
    stored(session, study, "hybrid", query(1, card("a"), text="Something else"))
    events.judge(session, rater, judged, 1, 1, YES, click("first"))
    first, second = rules.question_sets(session, study)

    assert rules.verdicts(session, first.id) == 1
    assert rules.choose(session, rater, second.id, RuleKind.FIXED, NOW).verdicts_before == 0


def test_a_rule_is_ended_once_with_the_verdicts_so_far(
    session: Session, study: Study, rater: Rater
) -> None:
    run_id = stored(session, study, "hybrid", query(1, card("a")))
    (one,) = rules.question_sets(session, study)
    rules.choose(session, rater, one.id, RuleKind.FIXED, NOW)
    events.judge(session, rater, run_id, 1, 1, YES, click("first"))

    ended = rules.end(session, one.id, LATER)

    assert (ended.ended_at, ended.outcome, ended.verdicts_at_end) == (LATER, "stopped", 1)
    assert rules.in_force(session, one.id) is None
    with pytest.raises(NoRule):
        rules.end(session, one.id, LATER)
    entries = session.scalars(select(LogEntry).where(LogEntry.action == "set rating rule"))
    assert [(entry.old, entry.new) for entry in entries] == [
        (None, "fixed"),
        ("fixed", None),
    ]


def test_a_rule_follows_its_questions_into_a_larger_set(
    session: Session, study: Study, rater: Rater
) -> None:
    stored(session, study, "hybrid", query(1, card("a")))
    stored(session, study, "hybrid", query(1, card("b"), text="Question 2"))
    _, second = rules.question_sets(session, study)
    rules.choose(session, rater, second.id, RuleKind.FIXED, NOW)

    stored(session, study, "api_only", query(1, card("a")), query(2, card("b")))

    (whole,) = rules.question_sets(session, study)
    rule = rules.in_force(session, whole.id)
    assert rule is not None
    assert rule.kind == "fixed"


def test_another_study_s_question_set_is_unknown(session: Session, study: Study) -> None:
    with pytest.raises(UnknownPlan):
        rules.question_set(session, study, 99)


def study_owner(session: Session, study: Study) -> Rater:
    return session.scalars(select(Rater).where(Rater.study_id == study.id)).one()
