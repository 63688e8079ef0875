"""Constraints on the cards that raters see: checked as the run is, decided on for every run."""

from __future__ import annotations

import json
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.gold.badged_answers import Blind, answer, decide, outcomes, text_run
from tests.services.gold.gold_files import GOLD, LISTED, gold_bytes, listing, stored_run, v2_file
from tests.services.rating.blind_raters import Robot, set_study
from tests.services.statements import counted
from webapp.db.engine import Database
from webapp.db.tables.evaluations import CardDecision
from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Run
from webapp.db.tables.study import Study
from webapp.exporters.gold.gold_questions import CARD
from webapp.importers.runs import json_runs
from webapp.metrics.gold.constraint_rules import Outcome
from webapp.services.gold import card_badges, card_decisions, constraints, gold
from webapp.services.gold.card_decisions import POOLED, Decision, DecisionReasonMissing
from webapp.services.gold.constraints import UnknownListedCard
from webapp.services.judging import changes
from webapp.services.judging.events import UnknownQuery
from webapp.services.people import raters
from webapp.services.rating import tasks
from webapp.services.rating.tasks import UnknownTask
from webapp.services.runs import imports
from webapp.services.runs.imports import Labels
from webapp.services.study import studies

LATER = NOW + timedelta(days=3)


@pytest.fixture(name="run_id")
def _run_id(session: Session, study: Study, rater: Rater) -> str:
    return stored_run(session, study, rater).id


@pytest.fixture(name="text_id")
def _text_id(session: Session, study: Study, run_id: str) -> str:
    assert run_id
    return text_run(session, study)


@pytest.fixture(name="blind")
def _blind(session: Session, study: Study, rater: Rater, text_id: str) -> Blind:
    assert text_id
    set_study(session, study, badges_while_blind=True, repeat_percent=0)
    return Blind(session, rater)


def test_an_answer_s_badges_are_those_of_the_run_s_evaluation(
    session: Session, study: Study, run_id: str
) -> None:
    found = answer(session, study, run_id)

    assert {rank: outcomes(one) for rank, one in found.by_rank.items()} == {
        1: ["pass", "pass", "pass", "pass"],
        2: ["pass", "pass", "pass", "fail"],
        3: ["missing", "pass", "fail", "pass"],
    }
    assert found.evaluation.mean_cpr == Fraction(3, 4)
    whole = constraints.checked_run(session, study, run_id).report
    assert whole is not None
    assert [answer(session, study, run_id, n).evaluation for n in (1, 2, 3)] == [*whole.queries]


@pytest.mark.real
def test_every_answer_of_the_real_run_is_as_the_whole_run_s_evaluation_has_it(
    session: Session, study: Study, rater: Rater, real_run: Path
) -> None:
    read = json_runs.read("results.json", (real_run / "results.json").read_bytes())
    run_id = imports.store(session, study, read, Labels(), NOW).id
    set_id = session.get_one(Run, run_id).question_set_id
    data = (real_run / "questions_v2.json").read_bytes()
    gold.import_file(session, rater, set_id, "questions_v2.json", data, NOW)
    manual = (real_run / "manual_input.json").read_bytes()
    constraints.import_manual(session, rater, run_id, "manual_input.json", manual, NOW)
    whole = constraints.checked_run(session, study, run_id).report
    assert whole is not None

    for expected in whole.queries:
        found = answer(session, study, run_id, expected.question.query_id)
        assert found.evaluation == expected


def test_a_run_without_listed_properties_is_checked_by_its_text_one_answer_at_a_time(
    session: Session, study: Study, text_id: str
) -> None:
    found = answer(session, study, text_id)

    assert [outcomes(one)[3] for one in found.cards] == ["fail", "pass", "pass"]
    assert {outcomes(one)[0] for one in found.cards} == {"missing"}  # no kind in any text
    whole = constraints.checked_run(session, study, text_id).report
    assert whole is not None
    assert found.evaluation == whole.queries[0]


def test_an_empty_list_of_a_listed_run_is_not_taken_by_its_text(
    session: Session, study: Study, rater: Rater
) -> None:
    document = json.loads(v2_file())
    entry = document["results"][1]
    del entry["properties"]
    entry["properties_count"] = 0
    read = json_runs.read("results.json", json.dumps(document).encode())
    run_id = imports.store(session, study, read, Labels(), NOW).id
    set_id = session.get_one(Run, run_id).question_set_id
    gold.import_file(session, rater, set_id, "gold.json", gold_bytes(), NOW)
    whole = constraints.checked_run(session, study, run_id).report
    assert whole is not None

    assert whole.queries[1].cards == ()  # its text shows two, its run is listed
    assert answer(session, study, run_id, 2).evaluation == whole.queries[1]


def test_without_a_gold_question_there_is_nothing_to_check(
    session: Session, study: Study, rater: Rater
) -> None:
    found = stored_run(session, study, rater, with_gold=False)
    assert card_badges.of_answer(session, study, found.id, 1) is None
    one = gold_bytes(questions=GOLD["questions"][:1])
    gold.import_file(session, rater, found.question_set_id, "one.json", one, NOW)

    assert card_badges.of_answer(session, study, found.id, 1) is not None
    assert card_badges.of_answer(session, study, found.id, 2) is None
    with pytest.raises(UnknownQuery):
        card_badges.of_answer(session, study, found.id, 9)


def test_whether_the_questions_of_a_run_have_gold(
    session: Session, study: Study, rater: Rater
) -> None:
    found = stored_run(session, study, rater, with_gold=False)
    assert not card_badges.has_gold(session, found.id)

    gold.import_file(session, rater, found.question_set_id, "g.json", gold_bytes(), NOW)

    assert card_badges.has_gold(session, found.id)
    assert not card_badges.has_gold(session, "no run")


def test_a_decision_on_the_rating_page_moves_the_answer_and_the_run(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    decide(session, rater, run_id, 2, "price", "pass", "typing error")
    found = answer(session, study, run_id)

    assert outcomes(found.by_rank[2]) == ["pass"] * 4
    assert found.evaluation.mean_cpr == Fraction(5, 6)  # (1 + 1 + 1/2) / 3
    whole = constraints.checked_run(session, study, run_id).report
    assert whole is not None
    assert whole.totals.mean_cpr == Fraction(1, 2)  # (1 + 1 + 1/2) / 5
    decide(session, rater, run_id, 2, "price", "")  # as computed
    assert answer(session, study, run_id).evaluation.mean_cpr == Fraction(3, 4)
    assert [step.outcome for step in answer(session, study, run_id).cards[1].steps] == [
        "pass",
        None,
    ]


def test_a_decision_holds_wherever_the_same_card_was_listed(
    session: Session, study: Study, rater: Rater, run_id: str, text_id: str
) -> None:
    """In the first run "b" is second, in the other first."""
    decide(session, rater, run_id, 2, "price", "pass", "typing error")

    assert outcomes(answer(session, study, text_id).by_rank[1])[3] == "pass"
    assert outcomes(answer(session, study, text_id).by_rank[2])[3] == "pass"  # "a": computed
    assert session.scalar(select(func.count()).select_from(CardDecision)) == 2


def test_a_card_listed_twice_in_one_answer_is_decided_on_once(
    session: Session, study: Study, rater: Rater
) -> None:
    twice = [listing("b", price=2_000_000_000)] * 2
    read = json_runs.read("results.json", v2_file(LISTED | {1: [*twice, listing("a")]}))
    run_id = imports.store(session, study, read, Labels(), NOW).id
    set_id = session.get_one(Run, run_id).question_set_id
    gold.import_file(session, rater, set_id, "gold.json", gold_bytes(), NOW)
    decide(session, rater, run_id, 1, "price", "pass", "typing error")

    assert [outcomes(one)[3] for one in answer(session, study, run_id).cards] == ["pass"] * 3


def test_the_latest_of_two_people_stands_and_both_are_kept(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    other = studies.add_rater(session, study, "Budi", NOW)
    decide(session, rater, run_id, 2, "price", "pass", "typing error")
    decide(session, other, run_id, 2, "price", "fail", "no, it says 2 bn")
    found = answer(session, study, run_id).by_rank[2]

    assert found.in_force["price"].by == "Budi"
    assert [(step.by, step.outcome) for step in found.steps] == [
        (rater.name, "pass"),
        ("Budi", "fail"),
    ]
    raters.delete_rater(session, other, NOW)  # who withdraws takes what they decided along
    assert answer(session, study, run_id).by_rank[2].in_force["price"].by == rater.name


def test_a_decision_needs_a_reason_a_card_with_badges_and_a_gold_question(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    with pytest.raises(DecisionReasonMissing):
        decide(session, rater, run_id, 2, "price", "pass", " ")
    with pytest.raises(UnknownListedCard):
        decide(session, rater, run_id, 9, "price", "pass", "x")
    with pytest.raises(UnknownQuery):
        decide(session, rater, run_id, 1, "price", "pass", "x", n=9)
    bare = stored_run(session, study, rater, with_gold=False)
    one = gold_bytes(questions=GOLD["questions"][:1])
    gold.import_file(session, rater, bare.question_set_id, "one.json", one, NOW)
    with pytest.raises(UnknownListedCard):
        decide(session, rater, bare.id, 1, "card", "pass", n=2)

    assert session.scalar(select(func.count()).select_from(CardDecision)) == 0


def test_a_blind_rater_sees_each_card_once_by_the_run_that_knows_most_of_it(blind: Blind) -> None:
    found = blind.badges()

    assert {slug: outcomes(one) for slug, one in found.items()} == {
        "a": ["pass", "pass", "pass", "pass"],  # by its text alone its kind would be missing
        "b": ["pass", "pass", "pass", "fail"],
        "c": ["missing", "pass", "fail", "pass"],
        "f": ["missing", "missing", "missing", "pass"],
    }


def test_switched_off_a_blind_rater_has_no_badges_and_decides_nothing(
    session: Session, study: Study, blind: Blind
) -> None:
    set_study(session, study, badges_while_blind=False)

    assert blind.badges() == {}
    with pytest.raises(UnknownListedCard):
        blind.decide("b", "price", "pass", "typing error")
    assert session.scalar(select(func.count()).select_from(CardDecision)) == 0


def test_a_blind_decision_is_written_for_every_run_and_says_that_it_was_blind(
    session: Session, study: Study, blind: Blind, run_id: str, text_id: str
) -> None:
    blind.decide("b", "price", "pass", "typing error")

    assert outcomes(blind.badges()["b"])[3] == "pass"
    assert len(blind.badges()["b"].steps) == 1  # one decision, though two runs keep it
    for one in (run_id, text_id):
        whole = constraints.checked_run(session, study, one)
        (step,) = (whole.in_force or {}).values()
        assert (step.outcome, step.reason, step.cause) == ("pass", "typing error", POOLED)


def test_a_reason_that_was_not_given_blind_is_kept_from_a_blind_rater(
    session: Session, rater: Rater, blind: Blind, run_id: str
) -> None:
    """It may name a run, a method or a file."""
    owner_s = Decision(1, "price", "pass", "hybrid misreads it")
    constraints.decide(session, rater, run_id, 1, owner_s, NOW)
    (step,) = blind.badges()["b"].steps

    assert (step.outcome, step.by, step.reason) == ("pass", rater.name, "")
    assert outcomes(blind.badges()["b"])[3] == "pass"


def test_the_latest_decision_on_any_run_s_card_stands_for_a_blind_rater(
    session: Session, rater: Rater, blind: Blind, run_id: str
) -> None:
    blind.decide("b", "price", "pass", "typing error")
    last = Decision(1, "price", "fail", "it is not")
    constraints.decide(session, rater, run_id, 1, last, NOW)

    assert outcomes(blind.badges()["b"])[3] == "fail"


def test_a_repeat_shows_no_decision_of_the_first_time_and_takes_it_anew(
    session: Session, study: Study, rater: Rater, blind: Blind
) -> None:
    robot = Robot(session, rater)
    blind.decide("b", "price", "pass", "typing error")
    robot.rate_all()
    set_study(session, study, repeat_percent=100)
    again = tasks.next_task(session, rater, LATER)
    assert again is not None
    texts = {again.question.text}
    while again is not None and GOLD["questions"][0]["question"] not in texts:
        page = robot.next_page()
        assert page is not None
        robot.rate(page)
        again = tasks.next_task(session, rater, LATER)
        texts = {again.question.text} if again else set()
    assert again is not None

    repeat = Blind.__new__(Blind)
    repeat.session, repeat.rater, repeat.task_id = session, rater, again.id
    repeat.keys = {
        str((thing.card or {})["slug"]): tasks.key(again, thing.id)
        for thing in tasks.things(session, again)
    }
    assert outcomes(repeat.badges()["b"])[3] == "fail"
    assert repeat.badges()["b"].steps == ()
    key = repeat.keys["b"]
    wanted = Decision(0, "price", "pass", "typing error")
    card_badges.decide_in_task(session, rater, again.id, key, wanted, LATER)
    assert outcomes(repeat.badges()["b"])[3] == "pass"


def test_only_a_card_of_one_s_own_task_is_decided_on(
    session: Session, study: Study, blind: Blind
) -> None:
    other = studies.add_rater(session, study, "Budi", NOW)
    wanted = Decision(0, "price", "pass", "x")
    with pytest.raises(UnknownTask):
        card_badges.decide_in_task(session, other, blind.task_id, blind.keys["b"], wanted, NOW)
    with pytest.raises(UnknownTask):
        card_badges.decide_in_task(session, blind.rater, blind.task_id, "nothing", wanted, NOW)
    assert session.scalar(select(func.count()).select_from(CardDecision)) == 0


def test_a_manual_question_s_cards_are_passed_blind_for_all_runs(
    session: Session, study: Study, rater: Rater, blind: Blind, run_id: str
) -> None:
    assert blind.badges()
    robot = Robot(session, rater)
    page = robot.next_page()
    while page is not None and page.question != GOLD["questions"][1]["question"]:
        robot.rate(page)
        page = robot.next_page()
    assert page is not None
    badges = card_badges.of_task(session, rater, page.task_id)
    assert all(badges[shown.key].evaluation.pending for shown in page.cards)
    for shown in page.cards:
        wanted = Decision(0, "card", "pass", "near a school")
        card_badges.decide_in_task(session, rater, page.task_id, shown.key, wanted, NOW)

    assert answer(session, study, run_id, 2).evaluation.is_success
    badges = card_badges.of_task(session, rater, page.task_id)
    assert {badges[shown.key].evaluation.passed for shown in page.cards} == {True}


def test_what_is_asked_of_a_blind_page_does_not_grow_with_its_cards(
    session: Session, study: Study, database: Database, blind: Blind
) -> None:
    def cost() -> int:
        session.expire_all()
        with counted(database) as statements:
            assert blind.badges()
        return len(statements)

    before = cost()
    blind.decide("b", "price", "pass", "x")
    blind.decide("a", "price", "fail", "x")
    assert cost() == before
    set_study(session, study, badges_while_blind=False)
    with counted(database) as statements:
        assert blind.badges() == {}
    assert statements == []


def _plain(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key != "timestamp"}


def test_reasons_and_comments_survive_export_and_import(
    session: Session, study: Study, rater: Rater, run_id: str
) -> None:
    decide(session, rater, run_id, 2, "price", "pass", "typing error")
    decide(session, rater, run_id, 3, "location", "na", "“beside” the gate\nof Cemara")
    decide(session, rater, run_id, 1, "card", "pass", "near a school", n=2)
    decide(session, rater, run_id, 2, "card", "", "to be asked", n=2)
    file = constraints.manual_document(session, study, run_id, NOW)
    for place in ((2, "price"), (3, "location")):
        decide(session, rater, run_id, place[0], place[1], "")
    decide(session, rater, run_id, 1, "card", "", n=2)
    decide(session, rater, run_id, 2, "card", "", n=2)
    assert constraints.manual_document(session, study, run_id, NOW)["override_reasons"] == {}

    taken = constraints.import_manual(
        session, rater, run_id, "manual_input.json", json.dumps(file).encode(), NOW
    )

    assert (taken.new, taken.problems) == (4, ())
    assert _plain(constraints.manual_document(session, study, run_id, NOW)) == _plain(file)
    again = constraints.import_manual(
        session, rater, run_id, "manual_input.json", json.dumps(file).encode(), NOW
    )
    assert (again.new, again.problems) == (0, ())
    assert answer(session, study, run_id).cards[1].evaluation.checks[3].outcome == Outcome.PASS


def test_a_version_and_a_decision_change_the_state(
    session: Session, study: Study, rater: Rater
) -> None:
    run = stored_run(session, study, rater, with_gold=False)
    seen = [changes.state(session, study)]
    gold.import_file(session, rater, run.question_set_id, "gold.json", gold_bytes(), NOW)
    seen.append(changes.state(session, study))
    card_decisions.decide(session, rater, run.queries[0], Decision(0, CARD, "pass", ""), NOW)
    seen.append(changes.state(session, study))

    assert changes.state(session, study) == seen[-1]
    assert len(set(seen)) == len(seen)
