"""Questions judged with the method in sight are asked again; the old verdict counts till then.

Of the first run two cards and a quality are given on its page, then a second run with one more
card makes the study blind.
"""

from __future__ import annotations

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.db.tables.judging import JudgedItem, Judgment, Task
from relevansi.db.tables.people import LogEntry, Rater
from relevansi.db.tables.runs import Query
from relevansi.db.tables.study import Study
from relevansi.services.judging import judgments
from relevansi.services.judging.answer_ratings import AnswerRating
from relevansi.services.judging.verdicts import blindness
from relevansi.services.rating import asked_again, task_judgments, tasks, workloads
from relevansi.services.rating.asked_again import OpenWork
from relevansi.services.study import studies
from tests.conftest import NOW
from tests.services.rating.blind_raters import Robot, current_page, set_study, stored
from tests.services.runs.runs import NO, YES, card, click, query

LATER = NOW.replace(hour=23)


@pytest.fixture(name="first", autouse=True)
def _first(session: Session, study: Study, rater: Rater) -> str:
    set_study(session, study, repeat_percent=0)
    first = stored(session, study, "hybrid", query(1, card("a"), card("b")))
    judgments.judge(session, rater, first, 1, 1, YES, click("a"))
    judgments.judge(session, rater, first, 1, 2, NO, click("b"))
    judgments.rate(session, rater, first, 1, AnswerRating(quality=3), click("q"))
    stored(session, study, "api_only", query(1, card("a"), card("c")))
    Robot(session, rater).rate_all()  # card c, and the quality of the second answer
    return first


def blind_and_open(session: Session, rater: Rater) -> tuple[int, ...]:
    """How many verdicts are blind and how many open, then how many grades."""
    result = blindness(session, Query.id > 0, [rater.id])
    return (
        *(result.verdicts.blind, result.verdicts.open),
        *(result.grades.blind, result.grades.open),
    )


def work(session: Session, rater: Rater) -> tuple[int, ...]:
    result = workloads.progress(session, rater)
    return result.finished, result.of, result.open_judgments, result.unrated


def verdicts(session: Session, rater: Rater) -> list[str | None]:
    rows = select(Judgment.verdict).join(JudgedItem).where(Judgment.rater_id == rater.id)
    return list(session.scalars(rows.order_by(JudgedItem.id)))


def test_open_verdicts_come_again_in_the_task(session: Session, study: Study, rater: Rater) -> None:
    before = verdicts(session, rater)
    assert blind_and_open(session, rater) == (1, 2, 1, 1)
    assert asked_again.askable(session, study) == OpenWork(2, 1, questions=1, raters=1)
    assert tasks.next_task(session, rater, LATER) is None

    assert asked_again.ask(session, study, LATER) == OpenWork(2, 1, questions=1, raters=1)

    assert asked_again.askable(session, study) == OpenWork()
    assert asked_again.waiting(session, study) == OpenWork(2, 1, questions=1, raters=1)
    assert verdicts(session, rater) == before == ["1", "0", "1"]
    assert work(session, rater) == (0, 1, 2, 1)
    assert session.scalars(select(Task.kind)).all() == ["pool"]
    (log_entry,) = session.scalars(select(LogEntry).where(LogEntry.action == "ask again blind"))
    assert log_entry.new == "2 verdicts, 1 grades, 1 raters"

    cards = current_page(session, rater, LATER).cards
    assert sorted(str(card.relevance) for card in cards) == ["1", "None", "None"]


def test_answered_anew_it_is_blind(session: Session, study: Study, rater: Rater) -> None:
    asked_again.ask(session, study, LATER)
    robot = Robot(session, rater)
    robot.clicks = 2000  # minutes: after it was asked again
    page = robot.next_page()
    assert page is not None
    robot.rate(page, NO, quality=2)

    assert robot.next_page() is None
    assert verdicts(session, rater) == ["0", "0", "1"]
    assert blind_and_open(session, rater) == (3, 0, 2, 0)
    assert work(session, rater) == (1, 1, 0, 0)
    assert asked_again.waiting(session, study) == OpenWork()
    with pytest.raises(asked_again.NothingToAskAgain):
        asked_again.ask(session, study, LATER)


def test_the_same_answer_then_counts_as_blind(session: Session, study: Study, rater: Rater) -> None:
    asked_again.ask(session, study, LATER)
    page = current_page(session, rater, LATER)
    key = next(card.key for card in page.cards if card.card.identity == "slug:b")
    task_judgments.judge(session, rater, page.task_id, key, NO, click("again", minute=2000))
    assert blind_and_open(session, rater) == (2, 1, 1, 1)

    assert task_judgments.undo(session, rater, click("back", minute=2001)) == page.task_id

    assert blind_and_open(session, rater) == (1, 2, 1, 1)
    assert verdicts(session, rater) == ["1", "0", "1"]
    assert work(session, rater) == (0, 1, 2, 1)


def test_a_study_that_is_not_blind_asks_nothing_again(session: Session, study: Study) -> None:
    set_study(session, study, blind=False)

    assert asked_again.askable(session, study) == OpenWork()
    with pytest.raises(asked_again.NothingToAskAgain):
        asked_again.ask(session, study, LATER)


def test_only_raters_who_still_judge_are_asked_again(session: Session, study: Study) -> None:
    second_rater = studies.add_rater(session, study, "Siti", NOW)
    run_id = session.scalars(select(Query.run_id).order_by(Query.id)).first()
    assert run_id is not None
    judgments.judge(session, second_rater, run_id, 1, 1, YES, click("s"))
    assert asked_again.askable(session, study) == OpenWork(3, 1, questions=1, raters=2)

    second_rater.removed_at = NOW
    session.flush()

    assert asked_again.askable(session, study) == OpenWork(2, 1, questions=1, raters=1)
