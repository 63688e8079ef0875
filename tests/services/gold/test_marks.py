"""Constraints on the cards that raters see: checked as the run is, decided on for every run."""

from __future__ import annotations

import json
from datetime import timedelta
from fractions import Fraction

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.gold.gold_files import (
    GOLD,
    gold_bytes,
    listing,
    stored_file,
    stored_run,
    v2_file,
)
from tests.services.rating.blind_raters import Robot, set_study
from tests.services.statements import counted
from webapp.db.engine import Database
from webapp.db.tables.evaluations import CardDecision
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study
from webapp.importers.runs import json_runs
from webapp.metrics.gold.constraint_rules import Outcome
from webapp.services.gold import constraints, gold, marks
from webapp.services.gold.constraints import CheckedCard, UnknownListedCard
from webapp.services.gold.decisions import Decision
from webapp.services.gold.marks import CheckedAnswer
from webapp.services.judging import changes
from webapp.services.judging.events import UnknownQuery
from webapp.services.rating import tasks
from webapp.services.runs import imports
from webapp.services.runs.imports import Labels

LATER = NOW + timedelta(days=3)


def answer(session: Session, study: Study, run_id: str, query_id: int = 1) -> CheckedAnswer:
    found = marks.of_answer(session, study, run_id, query_id)
    assert found is not None
    return found


def outcomes(checked: CheckedCard) -> list[str]:
    """Kind, sale or rent, place, price."""
    return [str(check.outcome) for check in checked.evaluation.checks][:4]


def decide(session: Session, rater: Rater, run_id: str, rank: int, *what: str, n: int = 1) -> None:
    subject, outcome, reason = (*what, "")[:3]
    wanted = Decision(0, subject, outcome or None, reason)
    marks.decide_on_answer(session, rater, run_id, n, rank, wanted, NOW)


class Blind:
    """A blind rater's question 1 in a study of two runs that shows marks."""

    def __init__(self, session: Session, rater: Rater) -> None:
        self.session, self.rater = session, rater
        robot = Robot(session, rater)
        page = robot.next_page()
        assert page is not None
        self.task_id = page.task_id
        self.keys = {shown.card.slug: shown.key for shown in page.cards}

    def marks(self) -> dict[str, CheckedCard]:
        """Return the marks by slug."""
        found = marks.of_task(self.session, self.rater, self.task_id)
        return {slug: found[key] for slug, key in self.keys.items() if slug and key in found}

    def decide(self, slug: str, *what: str) -> None:
        subject, outcome, reason = (*what, "")[:3]
        wanted = Decision(0, subject, outcome or None, reason)
        key = self.keys[slug]
        marks.decide_in_task(self.session, self.rater, self.task_id, key, wanted, NOW)


def text_run(session: Session, study: Study) -> str:
    """Store a second run of the same questions of which no file lists the properties.

    It shows "b" and "a" as the first does, and "f" alone.
    """
    shown = [listing("b", price=2_000_000_000), listing("a"), listing("f")]
    document = json.loads(v2_file({1: shown, 2: [], 3: []}))
    for entry in document["results"]:
        del entry["properties"], entry["properties_count"]
    read = json_runs.read(
        "test_results.json", json.dumps(document | {"method": "api_only"}).encode()
    )
    return imports.store(session, study, read, Labels(), NOW).id


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


def test_an_answer_is_checked_as_its_run_is(session: Session, study: Study, run_id: str) -> None:
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


def test_an_answer_is_checked_by_its_text(session: Session, study: Study, text_id: str) -> None:
    found = answer(session, study, text_id)

    assert [outcomes(one)[3] for one in found.cards] == ["fail", "pass", "pass"]
    assert {outcomes(one)[0] for one in found.cards} == {"missing"}  # no kind in any text
    whole = constraints.checked_run(session, study, text_id).report
    assert whole is not None
    assert found.evaluation == whole.queries[0]


def test_an_empty_list_is_not_taken_by_text(session: Session, study: Study, rater: Rater) -> None:
    document = json.loads(v2_file())
    entry = document["results"][1]
    del entry["properties"]
    entry["properties_count"] = 0
    run_id = stored_file(session, study, rater, json.dumps(document).encode())
    whole = constraints.checked_run(session, study, run_id).report
    assert whole is not None

    assert whole.queries[1].cards == ()  # its text shows two, its run is listed
    assert answer(session, study, run_id, 2).evaluation == whole.queries[1]


def test_nothing_to_check_without_gold(session: Session, study: Study, rater: Rater) -> None:
    found = stored_run(session, study, rater, with_gold=False)
    seen = [changes.state(session, study)]
    assert not marks.has_gold(session, found.id)
    assert marks.of_answer(session, study, found.id, 1) is None
    one = gold_bytes(questions=GOLD["questions"][:1])
    gold.import_file(session, rater, found.question_set_id, "one.json", one, NOW)
    seen.append(changes.state(session, study))

    assert marks.has_gold(session, found.id)
    assert marks.of_answer(session, study, found.id, 1) is not None
    assert marks.of_answer(session, study, found.id, 2) is None
    with pytest.raises(UnknownQuery):
        marks.of_answer(session, study, found.id, 9)
    with pytest.raises(UnknownListedCard):
        decide(session, rater, found.id, 1, "card", "pass", n=2)
    decide(session, rater, found.id, 1, "card", "pass")
    seen.append(changes.state(session, study))
    assert len(set(seen)) == 3


def test_a_decision_holds_wherever_the_same_card_was_listed(
    session: Session, study: Study, rater: Rater, run_id: str, text_id: str
) -> None:
    """In the first run "b" is second, in the other first."""
    decide(session, rater, run_id, 2, "price", "pass", "typing error")

    assert outcomes(answer(session, study, text_id).by_rank[1])[3] == "pass"
    assert outcomes(answer(session, study, text_id).by_rank[2])[3] == "pass"  # "a": computed
    assert session.scalar(select(func.count()).select_from(CardDecision)) == 2


def test_a_blind_rater_sees_each_card_once_by_the_run_that_knows_most_of_it(blind: Blind) -> None:
    found = blind.marks()

    assert {slug: outcomes(one) for slug, one in found.items()} == {
        "a": ["pass", "pass", "pass", "pass"],  # by its text alone its kind would be missing
        "b": ["pass", "pass", "pass", "fail"],
        "c": ["missing", "pass", "fail", "pass"],
        "f": ["missing", "missing", "missing", "pass"],
    }


def test_a_reason_that_was_not_given_blind_is_kept_from_a_blind_rater(
    session: Session, rater: Rater, blind: Blind, run_id: str
) -> None:
    """It may name a run, a method or a file. The latest decision on any run's card counts."""
    owner_s = Decision(1, "price", "pass", "hybrid misreads it")
    constraints.decide(session, rater, run_id, 1, owner_s, NOW)
    (step,) = blind.marks()["b"].steps

    assert (step.outcome, step.by, step.reason) == ("pass", rater.name, "")
    assert outcomes(blind.marks()["b"])[3] == "pass"
    constraints.decide(session, rater, run_id, 1, Decision(1, "price", "fail", "it is not"), NOW)
    assert outcomes(blind.marks()["b"])[3] == "fail"


def test_a_repeat_shows_no_decision_of_the_first_time_and_takes_it_anew(
    session: Session, study: Study, rater: Rater, blind: Blind
) -> None:
    robot = Robot(session, rater)
    blind.decide("b", "price", "pass", "typing error")
    robot.rate_all()
    set_study(session, study, repeat_percent=100)
    again = tasks.next_task(session, rater, LATER)
    while again is not None and again.question.text != GOLD["questions"][0]["question"]:
        page = robot.next_page()
        assert page is not None
        robot.rate(page)
        again = tasks.next_task(session, rater, LATER)
    assert again is not None

    (key,) = [
        tasks.key(again, thing.id)
        for thing in tasks.things(session, again)
        if (thing.card or {})["slug"] == "b"
    ]
    (found,) = [marks.of_task(session, rater, again.id)[key]]
    assert (outcomes(found)[3], found.steps) == ("fail", ())
    wanted = Decision(0, "price", "pass", "typing error")
    marks.decide_in_task(session, rater, again.id, key, wanted, LATER)
    assert outcomes(marks.of_task(session, rater, again.id)[key])[3] == "pass"


def test_statements_stay(session: Session, study: Study, database: Database, blind: Blind) -> None:
    def cost() -> int:
        session.expire_all()
        with counted(database) as statements:
            assert blind.marks()
        return len(statements)

    before = cost()
    blind.decide("b", "price", "pass", "x")
    blind.decide("a", "price", "fail", "x")
    assert cost() == before
    set_study(session, study, badges_while_blind=False)
    with counted(database) as statements:
        assert blind.marks() == {}
    assert statements == []


def test_decisions_out_and_in(session: Session, study: Study, rater: Rater, run_id: str) -> None:
    decide(session, rater, run_id, 2, "price", "pass", "typing error")
    decide(session, rater, run_id, 3, "location", "na", "“beside” the gate\nof Cemara")
    decide(session, rater, run_id, 1, "card", "pass", "near a school", n=2)
    decide(session, rater, run_id, 2, "card", "", "to be asked", n=2)
    file = constraints.manual_document(session, study, run_id, NOW)
    assert file["constraint_overrides"] == {"1": {"1": {"price": "pass"}, "2": {"location": "na"}}}
    assert file["override_reasons"]["1"]["1"] == {"price": "typing error"}
    assert file["manual_evaluations"] == {
        "2": {
            "0": {"result": "pass", "comment": "near a school"},
            "1": {"result": "pending", "comment": "to be asked"},
        }
    }
    for rank, subject, n in ((2, "price", 1), (3, "location", 1), (1, "card", 2), (2, "card", 2)):
        decide(session, rater, run_id, rank, subject, "", n=n)
    assert constraints.manual_document(session, study, run_id, NOW)["override_reasons"] == {}

    data = json.dumps(file).encode()
    for new in (4, 0):
        taken = constraints.import_manual(session, rater, run_id, "m.json", data, NOW)
        assert taken == (new, 4, ())
    assert constraints.manual_document(session, study, run_id, NOW) == file
    assert answer(session, study, run_id).cards[1].evaluation.checks[3].outcome == Outcome.PASS
