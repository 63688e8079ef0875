"""By effect: raters are given what can still change an order, each another question."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.rating.blind_raters import Robot, set_study, stored
from tests.services.runs.runs import card, query
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Question, Study
from webapp.services.planning import rules, settled
from webapp.services.planning.next_question import AFTERWARDS, GO_ON, STOP
from webapp.services.planning.rules import RuleKind
from webapp.services.rating import blind_page, shares, tasks
from webapp.services.runs import reports
from webapp.services.study import studies


@pytest.fixture(name="set_id")
def _set_id(session: Session, study: Study) -> int:
    """Two runs: question 1 shows the same in both, 2 one card of several, 3 only its own."""
    set_study(session, study, repeat_percent=0)
    stored(
        session, study, "api_only",
        query(1, card("same")), query(2, card("x"), card("y")), query(3, card("a")),
    )  # fmt: skip
    stored(
        session, study, "hybrid",
        query(1, card("same")), query(2, card("x"), card("z")), query(3, card("h")),
    )  # fmt: skip
    (one,) = rules.question_sets(session, study)
    return one.id


def choose(session: Session, rater: Rater, set_id: int, afterwards: str = GO_ON) -> None:
    settings = {AFTERWARDS: afterwards}
    rules.choose(session, rater, set_id, RuleKind.BY_EFFECT, NOW, settings=settings, seed=1)


def next_position(session: Session, rater: Rater, minute: int = 0) -> int | None:
    """Return the position of the question that the rater is given now."""
    task = tasks.next_task(session, rater, NOW + timedelta(minutes=minute))
    return session.get_one(Question, task.question_id).position if task else None


def given(session: Session, rater: Rater) -> list[int]:
    """Rate until nothing is asked; return the positions in the order of giving."""
    robot, found = Robot(session, rater), []
    while (page := robot.next_page()) is not None:
        task = tasks.find(session, rater, page.task_id)
        found.append(session.get_one(Question, task.question_id).position)
        robot.rate(page)
    return found


def test_the_question_that_moves_most_comes_first(
    session: Session, rater: Rater, set_id: int
) -> None:
    assert next_position(session, rater) == 1  # the usual order
    choose(session, rater, set_id)
    second = studies.add_rater(session, rater.study, "Ani", NOW)
    assert given(session, second) == [3, 2, 1]


def test_two_raters_are_given_different_questions_and_neither_waits(
    session: Session, rater: Rater, set_id: int
) -> None:
    set_study(session, rater.study, overlap=1)
    choose(session, rater, set_id)
    others = [
        studies.add_rater(session, rater.study, name, NOW) for name in ("Ani", "Budi", "Cici")
    ]

    assert [next_position(session, one) for one in (rater, *others)] == [3, 2, 1, None]


def test_a_question_that_another_has_in_hand_comes_last_and_not_never(
    session: Session, rater: Rater, set_id: int
) -> None:
    choose(session, rater, set_id)
    other = studies.add_rater(session, rater.study, "Ani", NOW)
    assert next_position(session, rater) == 3
    assert given(session, other)[0] == 2
    assert sorted(given(session, studies.add_rater(session, rater.study, "Budi", NOW))) == [1, 2, 3]


def test_once_all_is_settled_nothing_is_asked_where_the_owner_chose_so(
    session: Session, rater: Rater, set_id: int
) -> None:
    choose(session, rater, set_id, STOP)

    # Everything is relevant: the runs are equal in 3 and in 2, and 1 is the same in both.
    assert given(session, rater) == [3, 2]

    (run, other) = settled.runs_of(session, rater.study, set_id)
    rule = reports.rule_of(session, rater.study)
    found = settled.settled_orders(session, rater.study, [run, other], ["a", "b"], rule)
    assert found.is_settled
    assert shares.progress(session, rater).left == 1
    rules.end(session, set_id, NOW)
    assert next_position(session, rater, 99) == 1  # the owner goes on


def test_ties_follow_the_seed(session: Session, study: Study, rater: Rater) -> None:
    set_study(session, study, repeat_percent=0)
    for method in ("hybrid", "api_only"):
        stored(session, study, method, *[query(n, card(f"{method}{n}")) for n in range(1, 7)])
    (one,) = rules.question_sets(session, study)
    firsts = set()
    for seed in range(6):
        rules.choose(session, rater, one.id, RuleKind.BY_EFFECT, NOW, seed=seed)
        share = shares.of_rater(session, rater)
        unit = tasks.next_unit(session, rater, share.free)
        assert unit == tasks.next_unit(session, rater, reversed(share.free))
        assert unit is not None
        firsts.add(unit.question_id)
    assert len(firsts) > 1


def test_a_question_set_without_the_rule_keeps_its_order(
    session: Session, rater: Rater, set_id: int
) -> None:
    stored(session, rater.study, "hybrid", query(1, card("n"), text="Another set"))
    choose(session, rater, set_id)
    share = shares.of_rater(session, rater)
    first = tasks.next_unit(session, rater, share.free)
    assert first is not None
    assert session.get_one(Question, first.question_id).question_set_id != set_id


def test_no_running_mean_is_shown_while_the_order_depends_on_verdicts(
    session: Session, rater: Rater, set_id: int
) -> None:
    set_study(session, rater.study, figures="all")
    page = Robot(session, rater).next_page()
    assert page is not None
    assert page.figure is not None
    choose(session, rater, set_id)
    page = blind_page.blind_page(session, rater, page.task_id)
    assert page.figure is None
    assert page.figures  # those of the question alone stay
    rules.end(session, set_id, NOW)
    assert blind_page.blind_page(session, rater, page.task_id).figure is not None
