"""Blind raters judge each distinct thing once, whichever runs showed it, and never too often."""

from __future__ import annotations

import hmac
from dataclasses import replace
from hashlib import sha256
from threading import Thread

import pytest
from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.rating.blind_raters import NO, YES, Robot, set_study, stored
from tests.services.runs.runs import card, click, query
from webapp.db.engine import Database
from webapp.db.tables.judging import Judgment, QueryRating
from webapp.db.tables.people import Rater
from webapp.db.tables.rating import Task
from webapp.db.tables.runs import Query
from webapp.db.tables.study import Study
from webapp.records import EmptyOutcome, QueryState
from webapp.services.judging import live_metrics
from webapp.services.judging.judgments import AnswerRating, NotToJudge
from webapp.services.rating import blind_page, progress, task_cards, tasks
from webapp.services.rating.blind_page import BlindPage, TaskStage
from webapp.services.rating.progress import Progress
from webapp.services.rating.task_cards import UnknownTask
from webapp.services.rating.tasks import JudgedPlace
from webapp.services.study import studies

METHODS = ("hybrid", "api_only", "vector_only")


@pytest.fixture(name="runs")
def _runs(session: Session, study: Study) -> list[str]:
    """Three runs: shared and own cards, an emptiness, a follow-up, a changed price."""
    lists = {
        "hybrid": [query(1, card("a", price=1), card("b")), query(2, card("x")), query(3)],
        "api_only": [query(1, card("b"), card("c")), query(2), query(3)],
        "vector_only": [query(1, card("a", price=2)), query(2, card("x")), query(3, card("y"))],
    }
    return [
        stored(session, study, method, *lists[method], query(4, card("z"), context_dependent=True))
        for method in METHODS
    ]


def judged(session: Session, rater: Rater) -> int:
    rows = select(func.count()).select_from(Judgment).where(Judgment.rater_id == rater.id)
    return session.scalar(rows) or 0


def test_the_verdicts_asked_are_the_distinct_judged_things(
    session: Session, study: Study, rater: Rater, runs: list[str]
) -> None:
    set_study(session, study, repeat_percent=0)
    Robot(session, rater).rate_all()

    # Question 1: a (two prices), b, c; 2: x and its emptiness; 3: y and its emptiness;
    # 4 depends on its conversation: z once for each of the three runs.
    assert judged(session, rater) == 4 + 2 + 2 + 3
    for run_id in runs:
        standings = live_metrics.by_category(session, rater.id, run_id)
        assert all(standing.open_queries == 0 for standing in standings.values())
    assert live_metrics.check(session) == []
    assert tasks.next_task(session, rater, NOW) is None


@pytest.mark.usefixtures("runs")
def test_names_and_order_of_blind_cards_follow_from_the_secret_alone(
    session: Session, study: Study, rater: Rater
) -> None:
    """A seed of 31 bits was found from one page's names, and named the run of every answer."""
    task = tasks.next_task(session, rater, NOW)
    assert task is not None
    shown = [(card.key, card.position) for card in page_of(session, rater, task).cards]

    study.order_seed += 1
    assert [(card.key, card.position) for card in page_of(session, rater, task).cards] == shown
    assert len(bytes.fromhex(study.order_secret)) * 8 >= 128
    study.order_secret = "5" * 64
    other = {card.key for card in page_of(session, rater, task).cards}
    assert other.isdisjoint(key for key, _ in shown)
    thing = tasks.things(session, task)[0]
    message = f"cards/{rater.id}/pool/{thing.id}".encode()
    assert task_cards.key(task, thing.id) == hmac.new(b"5" * 64, message, "sha256").hexdigest()[:16]


@pytest.mark.usefixtures("runs")
def test_a_question_given_before_studies_had_a_secret_keeps_its_cards_where_they_are(
    session: Session, study: Study, rater: Rater
) -> None:
    study.order_seed = 7
    task = tasks.next_task(session, rater, NOW)
    assert task is not None
    task.keeps_seed_order = True
    page = page_of(session, rater, task)
    by_seed = sorted(
        sha256(f"7/{rater.id}/{thing.id}".encode()).hexdigest()[:16]
        for thing in tasks.things(session, task)
    )

    assert [card.key for card in page.cards] == by_seed
    judged = tasks.judge(session, rater, task.id, by_seed[1], YES, click("first"))
    assert judged == JudgedPlace(2, YES)
    Robot(session, rater).rate_all()
    kept = session.scalars(select(Task.id).where(Task.keeps_seed_order)).all()
    assert kept == [task.id]


def page_of(session: Session, rater: Rater, task: Task) -> BlindPage:
    session.flush()
    return blind_page.blind_page(session, rater, task.id)


def test_a_page_names_no_run_no_method_and_no_rank(
    session: Session, rater: Rater, runs: list[str]
) -> None:
    task = tasks.next_task(session, rater, NOW)
    assert task is not None
    text = repr(blind_page.blind_page(session, rater, task.id))

    for word in (*runs, *METHODS, "rank", "test_results"):
        assert word not in text


def test_answers_are_asked_for_only_once_every_card_is_judged(
    session: Session,
    rater: Rater,
    runs: list[str],  # noqa: ARG001
) -> None:
    task = tasks.next_task(session, rater, NOW)
    assert task is not None
    page = blind_page.blind_page(session, rater, task.id)
    assert (page.stage, page.answers) == (TaskStage.CARDS, ())
    for shown in page.cards:
        tasks.judge(session, rater, task.id, shown.key, NO, click(shown.key))

    page = blind_page.blind_page(session, rater, task.id)
    assert page.stage is TaskStage.ANSWERS
    assert [answer.letter for answer in page.answers] == ["A", "B", "C"]


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

    assert page.stage is TaskStage.ANSWERS
    assert [answer.letter for answer in page.answers] == ["A", "B", "C", "D"]
    assert {(answer.response, answer.suggested) for answer in page.answers} == {
        ("As hybrid puts it", 5),
        ("As api_only puts it", 0),
        ("As vector_only puts it", 0),
        ("As failing puts it", 0),
    }
    for left, answer in zip((4, 3, 2, 1), page.answers, strict=True):
        assert not tasks.is_done(session, rater, task.id)
        assert tasks.ahead(session, rater, NOW, 1) == [task]
        assert progress.progress(session, rater) == Progress(0, 1, open_judgments=0, unrated=left)
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
    assert [answer.suggested for answer in failed.answers] == [0, 0]
    assert failed.progress == Progress(done=1, of=2, open_judgments=0, unrated=2)
    robot.rate(failed)
    assert robot.next_page() is None


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
    assert page.progress == Progress(done=1, of=2, open_judgments=0, unrated=1)


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


def test_the_pool_s_depth_leaves_deeper_cards_unjudged_and_counted(
    session: Session, study: Study, rater: Rater
) -> None:
    run_id = stored(session, study, "hybrid", query(1, card("a"), card("b"), card("c")))
    set_study(session, study, pool_depth=2, repeat_percent=0)
    Robot(session, rater).rate_all()

    standing = live_metrics.by_category(session, rater.id, run_id)["location"]
    assert (standing.totals.n_judged, standing.open_judgments) == (2, 1)


def test_a_question_goes_to_no_more_raters_than_the_overlap(
    session: Session,
    study: Study,
    rater: Rater,
    runs: list[str],  # noqa: ARG001
) -> None:
    set_study(session, study, overlap=2, repeat_percent=0)
    everybody = [rater, *(studies.add_rater(session, study, name, NOW) for name in "ABC")]
    for one in everybody:
        Robot(session, one).rate_all()

    given = session.execute(
        select(Task.question_id, Task.run_id, func.count()).group_by(Task.question_id, Task.run_id)
    )
    assert [count for _, _, count in given] == [2] * 6


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


def test_raters_asking_at_the_same_moment_never_exceed_the_overlap(database: Database) -> None:
    with database.writing() as session:
        study = studies.open_or_make(session, NOW)
        set_study(session, study, overlap=1)
        stored(session, study, "hybrid", *(query(number, card("a")) for number in range(1, 9)))
        ids = [studies.add_rater(session, study, name, NOW).id for name in "ABCD"]
        session.commit()

    def ask(rater_id: int) -> None:
        for number in range(3):
            with database.writing() as session:
                one = session.get_one(Rater, rater_id)
                task = tasks.next_task(session, one, NOW)
                if task is not None:
                    page = blind_page.blind_page(session, one, task.id)
                    said = click(f"{rater_id}-{number}")
                    tasks.judge(session, one, task.id, page.cards[0].key, YES, said)
                    (answer,) = blind_page.blind_page(session, one, task.id).answers
                    rated = click(f"{rater_id}-{number}q")
                    tasks.rate(session, one, task.id, answer.key, AnswerRating(quality=1), rated)
                session.commit()

    threads = [Thread(target=ask, args=(rater_id,)) for rater_id in ids]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    with database.reading() as session:
        counts = session.scalars(select(func.count()).select_from(Task).group_by(Task.question_id))
        assert list(counts) == [1] * 8
        assert session.scalar(select(func.count()).select_from(Judgment)) == 8


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


def test_nobody_opens_a_task_of_somebody_else(
    session: Session,
    study: Study,
    rater: Rater,
    runs: list[str],  # noqa: ARG001
) -> None:
    task = tasks.next_task(session, rater, NOW)
    assert task is not None
    other = studies.add_rater(session, study, "Budi", NOW)

    with pytest.raises(UnknownTask):
        blind_page.blind_page(session, other, task.id)
    with pytest.raises(UnknownTask):
        tasks.judge(session, other, task.id, "x", YES, click("e1"))
    with pytest.raises(UnknownTask):
        tasks.judge(session, rater, task.id, "no such card", YES, click("e1"))
    said = AnswerRating(empty_outcome=EmptyOutcome.CORRECT_EMPTY)
    with pytest.raises(NotToJudge):
        tasks.rate(session, rater, task.id, None, said, click("e2"))


def test_progress_counts_what_is_still_to_be_given(
    session: Session,
    study: Study,
    rater: Rater,
    runs: list[str],  # noqa: ARG001
) -> None:
    set_study(session, study, repeat_percent=0)
    before = progress.progress(session, rater)
    assert (before.done, before.of, before.open_judgments) == (0, 6, 11)
    Robot(session, rater).rate_all()

    after = progress.progress(session, rater)
    assert (after.done, after.of, after.open_judgments) == (6, 6, 0)


def test_a_study_is_blind_once_two_runs_compete_unless_the_owner_says_otherwise(
    session: Session, study: Study
) -> None:
    assert not studies.is_blind(session, study)
    stored(session, study, "hybrid", query(1))
    assert not studies.is_blind(session, study)
    stored(session, study, "api_only", query(1, card("a")))
    assert studies.is_blind(session, study)
    set_study(session, study, blind=False)
    assert not studies.is_blind(session, study)
