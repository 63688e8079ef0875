"""Blind raters judge each distinct thing once, whichever runs showed it, and never too often."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.rating.blind_raters import NO, YES, Robot, set_study, stored
from tests.services.runs.runs import card, click, query
from webapp.db.tables.judging import QueryRating
from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Query
from webapp.db.tables.study import Study
from webapp.records import EmptyOutcome, QueryState
from webapp.services.judging import events, live_metrics
from webapp.services.judging.events import AnswerRating
from webapp.services.rating import blind_page, shares, tasks
from webapp.services.rating.blind_page import TaskStage
from webapp.services.rating.shares import Progress
from webapp.services.study import studies


def test_a_question_is_done_once_every_readable_answer_has_its_quality(
    session: Session, study: Study, rater: Rater
) -> None:
    """A list, two empty lists that say something different, a failed call, an unreadable one."""
    set_study(session, study, repeat_percent=0)
    states = {
        "hybrid": None, "api_only": QueryState.EMPTY, "vector_only": QueryState.EMPTY,
        "failing": QueryState.FAILED, "garbled": QueryState.UNREADABLE,
    }  # fmt: skip
    for method, state in states.items():
        cards = [card("a")] if state is None else []
        text = f"As {method} puts it"
        stored(session, study, method, replace(query(1, *cards, state=state), response=text))
    task = tasks.next_task(session, rater, NOW)
    assert task is not None
    (shown,) = blind_page.blind_page(session, rater, task.id).cards
    tasks.judge(session, rater, task.id, shown.key, YES, click("e1"))
    assert blind_page.blind_page(session, rater, task.id).stage is TaskStage.EMPTINESS
    outcome = AnswerRating(empty_outcome=EmptyOutcome.FALSE_NEGATIVE)
    tasks.rate(session, rater, task.id, None, outcome, click("e2"))

    page = blind_page.blind_page(session, rater, task.id)

    assert {answer.suggested for answer in page.answers} == {None}
    set_study(session, study, suggest_quality=True)
    page = blind_page.blind_page(session, rater, task.id)
    assert page.stage is TaskStage.ANSWERS
    assert [answer.letter for answer in page.answers] == ["A", "B", "C", "D"]
    assert {(answer.before, answer.suggested) for answer in page.answers} == {
        ("As hybrid puts it", 5),
        ("As api_only puts it", 0),
        ("As vector_only puts it", 0),
        ("As failing puts it", 0),
    }
    for left, answer in zip((4, 3, 2, 1), page.answers, strict=True):
        assert not tasks.is_done(session, rater, task.id)
        assert tasks.ahead(session, rater, NOW, 1) == [task]
        found = shares.progress(session, rater)
        assert found == Progress(0, 1, open_judgments=0, unrated=left, questions=1)
        tasks.rate(session, rater, task.id, answer.key, AnswerRating(quality=0), click(answer.key))
    assert blind_page.blind_page(session, rater, task.id).stage is TaskStage.DONE
    assert tasks.is_done(session, rater, task.id)
    assert tasks.next_task(session, rater, NOW) is None


def test_questions_without_any_card_ask_for_the_quality_of_their_answers(
    session: Session, study: Study, rater: Rater
) -> None:
    """The first is empty in both runs; of the second, both calls failed."""
    set_study(session, study, repeat_percent=0)
    for method in ("hybrid", "api_only"):
        stored(session, study, method, query(1), query(2, state=QueryState.FAILED))
    robot = Robot(session, rater)
    empty = robot.next_page()
    assert empty is not None
    assert (empty.stage, empty.answers) == (TaskStage.EMPTINESS, ())
    robot.rate(empty)

    failed = robot.next_page()

    assert failed is not None
    assert (failed.stage, failed.asks_emptiness) == (TaskStage.ANSWERS, False)
    assert [answer.suggested for answer in failed.answers] == [None, None]
    assert failed.progress == Progress(done=1, of=2, open_judgments=0, unrated=2, questions=2)
    robot.rate(failed)
    assert robot.next_page() is None


def test_a_question_finished_on_the_page_of_its_run_is_done_and_not_shown_again(
    session: Session, study: Study, rater: Rater
) -> None:
    """As where a rated file is imported before the study is rated blind."""
    set_study(session, study, repeat_percent=0)
    run_id = stored(session, study, "hybrid", *(query(n, card(f"c{n}")) for n in (1, 2, 3)))
    for question in (1, 3):
        events.judge(session, rater, run_id, question, 1, YES, click(f"v{question}"))
    events.rate(session, rater, run_id, 1, AnswerRating(quality=4), click("q1"))
    before = shares.progress(session, rater)
    assert before == Progress(done=1, of=3, open_judgments=1, unrated=2, questions=3)

    robot = Robot(session, rater)
    shown: list[str] = []
    while (page := robot.next_page()) is not None:
        assert page.progress == before or shown
        shown.append(page.question)
        robot.rate(page)

    assert sorted(shown) == ["Question 2", "Question 3"]
    done = Progress(3, 3, open_judgments=0, unrated=0, questions=3)
    assert shares.progress(session, rater) == done
    assert len(tasks.given_to(session, rater)) == 3


def test_a_quality_that_an_empty_answer_misses_opens_a_finished_question_again(
    session: Session, study: Study, rater: Rater
) -> None:
    """As in a study that was rated before empty answers were asked for theirs."""
    set_study(session, study, repeat_percent=0)
    stored(session, study, "hybrid", query(1), query(2, card("a")))
    Robot(session, rater).rate_all()
    empty = select(Query.id).where(Query.state == str(QueryState.EMPTY))
    session.execute(delete(QueryRating).where(QueryRating.query_key.in_(empty)))
    live_metrics.refresh(session, [rater.id], Query.id.in_(empty))

    page = Robot(session, rater).next_page()

    assert page is not None
    assert (page.question, page.stage) == ("Question 1", TaskStage.ANSWERS)
    assert page.progress == Progress(done=1, of=2, open_judgments=0, unrated=1, questions=2)


def test_the_order_is_shuffled_for_each_rater_and_stays_when_a_run_is_added(
    session: Session, study: Study, rater: Rater
) -> None:
    many = [card(f"c{number}") for number in range(12)]
    stored(session, study, "hybrid", query(1, *many))
    other = studies.add_rater(session, study, "Budi", NOW)
    pages = []
    for one in (rater, other):
        task = tasks.next_task(session, one, NOW)
        assert task is not None
        pages.append(blind_page.blind_page(session, one, task.id))
    orders = [[shown.card.slug for shown in page.cards] for page in pages]

    assert sorted(orders[0], key=str) == sorted(orders[1], key=str)
    assert orders[0] != orders[1]
    assert orders[0] != [shown.slug for shown in many]
    stored(session, study, "api_only", query(1, card("new"), *many))
    again = blind_page.blind_page(session, rater, pages[0].task_id)
    assert [shown.card.slug for shown in again.cards if shown.card.slug != "new"] == orders[0]


@pytest.mark.usefixtures("runs")
def test_where_every_rater_gets_everything_the_next_questions_are_given_ahead(
    session: Session, study: Study, rater: Rater
) -> None:
    """At most three open at once, in the order of giving, the same when asked for again."""
    set_study(session, study, repeat_percent=0)
    first = tasks.next_task(session, rater, NOW)
    ahead = tasks.ahead(session, rater, NOW, 3)

    assert ahead[0] is first
    assert len(ahead) == 3
    assert tasks.ahead(session, rater, NOW, 3) == ahead
    assert tasks.given_to(session, rater) == [task.id for task in ahead]


@pytest.mark.usefixtures("runs")
def test_nothing_that_others_could_be_given_is_taken_ahead(
    session: Session, study: Study, rater: Rater
) -> None:
    set_study(session, study, overlap=1, repeat_percent=0)
    first = tasks.next_task(session, rater, NOW)

    assert tasks.ahead(session, rater, NOW, 3) == [first]


def test_what_others_have_rated_is_left_to_do_for_each_rater(
    session: Session,
    study: Study,
    rater: Rater,
    runs: list[str],  # noqa: ARG001
) -> None:
    """Neither a verdict nor a quality of somebody else closes a task."""
    set_study(session, study, repeat_percent=0)
    other = studies.add_rater(session, study, "Budi", NOW)
    task = tasks.next_task(session, other, NOW)
    assert task is not None
    Robot(session, rater).rate_all()

    assert not tasks.is_done(session, other, task.id)
    for shown in blind_page.blind_page(session, other, task.id).cards:
        tasks.judge(session, other, task.id, shown.key, YES, click(shown.key))
    page = blind_page.blind_page(session, other, task.id)
    assert (page.stage, page.progress.done) == (TaskStage.ANSWERS, 0)
    assert tasks.next_task(session, other, NOW) is task
    for answer in page.answers:
        tasks.rate(session, other, task.id, answer.key, AnswerRating(quality=3), click(answer.key))
    assert tasks.is_done(session, other, task.id)


def test_undo_takes_back_the_latest_change_of_any_task(
    session: Session,
    rater: Rater,
    runs: list[str],  # noqa: ARG001
) -> None:
    task = tasks.next_task(session, rater, NOW)
    assert task is not None
    first, second, *_ = blind_page.blind_page(session, rater, task.id).cards
    tasks.judge(session, rater, task.id, first.key, YES, click("e1"))
    tasks.judge(session, rater, task.id, second.key, NO, click("e2", minute=1))

    assert tasks.undo(session, rater, click("u1", minute=2)) == task.id
    shown = blind_page.blind_page(session, rater, task.id).cards
    assert [entry.relevance for entry in shown[:2]] == [YES, None]
    tasks.undo(session, rater, click("u2", minute=3))
    assert tasks.undo(session, rater, click("u3", minute=4)) is None
