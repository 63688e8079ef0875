"""Questions that come again: told from the start, never at once, plain to see and in no figure."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import asdict
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from relevansi.db.tables.judging import Event, Judgment, QueryRating, Repeat, RepeatRating, Task
from relevansi.db.tables.people import Rater
from relevansi.db.tables.study import Study
from relevansi.services.judging import stored_summaries
from relevansi.services.judging.answer_ratings import AnswerRating
from relevansi.services.rating import blind_pages, task_judgments, task_order, tasks, workloads
from relevansi.services.rating.blind_pages import TaskStage
from relevansi.services.rating.pool import POOL, REPEAT, TASKS_BETWEEN
from tests.conftest import NOW
from tests.services.rating.blind_raters import Robot, set_study, stored
from tests.services.runs.runs import NO, card, query


@pytest.fixture(name="run_ids")
def _run_ids(session: Session, study: Study) -> list[str]:
    """Two runs of eight questions: cards a, b against b, c; a quarter of eight are two repeats."""
    set_study(session, study, repeat_percent=25)
    lists = {"hybrid": ("a", "b"), "api_only": ("b", "c")}
    return [
        stored(session, study, method, *(query(n, *map(card, slugs)) for n in range(1, 9)))
        for method, slugs in lists.items()
    ]


@pytest.mark.usefixtures("run_ids")
def test_the_number_told_never_changes(session: Session, rater: Rater) -> None:
    robot, places, kinds = Robot(session, rater), [], []
    while (page := robot.next_page()) is not None:
        places.append((page.place.position, page.progress.of, page.progress.finished))
        kinds.append(session.get_one(Task, page.task_id).kind)
        robot.rate(page)

    # Eight questions and two again, each one further than the one before.
    assert places == [(place, 10, place - 1) for place in range(1, 11)]
    assert (kinds.count(POOL), kinds.count(REPEAT)) == (8, 2)
    assert kinds[:3] == [POOL] * 3
    # Ten times three cards and two answers.
    assert workloads.finished_counts(session, rater) == (10, 30, 0, 20)
    assert workloads.pooled_figure(session, rater)[1] == 30


@pytest.mark.usefixtures("run_ids")
def test_a_repeat_looks_like_the_first_time_in_every_stage(session: Session, rater: Rater) -> None:
    rater.study.suggest_quality = True
    robot = Robot(session, rater)
    again = robot.rate_until_a_repeat()
    first = robot.first_time_of(again)

    assert (again.stage, again.answers, first.stage) == (TaskStage.CARDS, (), TaskStage.DONE)
    assert {card.relevance for card in again.cards} == {None}
    assert sorted(card.card.identity for card in again.cards) == ["slug:a", "slug:b", "slug:c"]
    assert not {card.key for card in again.cards} & {card.key for card in first.cards}
    differing = {"task_id", "cards", "answers", "place", "progress", "stage"}
    for name, value in asdict(first).items():
        if name not in differing:
            assert getattr(again, name) == value, name

    for key in [blind_card.key for blind_card in again.cards]:
        task_judgments.judge(session, rater, again.task_id, key, NO, robot.click())
    again = blind_pages.blind_page(session, rater, again.task_id)
    assert again.stage is TaskStage.ANSWERS
    assert [answer.letter for answer in again.answers] == ["A", "B"]
    # Everything was called relevant first (5), nothing now (1).
    assert {answer.suggested for answer in first.answers} == {5}
    assert [(a.quality, a.notes, a.suggested) for a in again.answers] == [(None, "", 1)] * 2


@pytest.mark.usefixtures("run_ids")
def test_a_repeat_shows_as_many_figures_where_answers_are_not_graded(
    session: Session, study: Study, rater: Rater
) -> None:
    set_study(session, study, asks_quality=False, figures="all")
    again = Robot(session, rater).rate_until_a_repeat()

    assert [letter for letter, _ in again.figures] == ["A", "B"]
    assert [summary.results_count for _, summary in again.figures] == [2, 2]
    assert {summary.judged_count for _, summary in again.figures} == {0}


def test_a_repeat_s_figures_begin_at_nothing(session: Session, study: Study, rater: Rater) -> None:
    """Everything is relevant at first and not relevant again; an empty list is in it too."""
    lists = {"hybrid": ("a", "b"), "api_only": ("b", "c"), "vector_only": ()}
    for method, slugs in lists.items():
        queries = (query(number, *map(card, slugs)) for number in range(1, 7))
        stored(session, study, method, *queries)
    set_study(session, study, figures="all", repeat_percent=20)
    robot = Robot(session, rater)
    page = robot.rate_until_a_repeat()
    first = robot.first_time_of(page)
    letters = [letter for letter, _ in page.figures]
    assert letters == [letter for letter, _ in first.figures]
    assert {summary.judged_count for _, summary in page.figures} == {0}
    assert not any(summary.complete for _, summary in page.figures)

    robot.rate(page, NO)
    session.expire_all()
    again = blind_pages.blind_page(session, rater, page.task_id)
    listed = [summary for _, summary in again.figures if summary.results_count]
    assert [summary.figures["mean_precision_at_5"].value for summary in listed] == [0.0, 0.0]
    assert [summary.figures["success_rate"].value for summary in listed] == [0.0, 0.0]
    first = robot.first_time_of(page)
    before = [summary for _, summary in first.figures if summary.results_count]
    assert [summary.figures["mean_precision_at_5"].value for summary in before] == [1.0, 1.0]


def test_a_repeat_changes_no_figure(session: Session, rater: Rater, run_ids: list[str]) -> None:
    def totals() -> list[object]:
        return [
            stored_summaries.by_category(session, rater.id, run_id)["location"].totals
            for run_id in run_ids
        ]

    robot = Robot(session, rater)
    again = robot.rate_until_a_repeat()
    before = totals()
    robot.rate(again, NO, quality=1)
    (answer, _) = blind_pages.blind_page(session, rater, again.task_id).answers
    notes = AnswerRating(notes="again")
    task_judgments.rate(session, rater, again.task_id, answer.key, notes, robot.click())
    session.flush()

    assert set(session.scalars(select(Judgment.verdict))) == {"1"}
    assert set(session.scalars(select(QueryRating.quality))) == {4}
    assert set(session.scalars(select(QueryRating.notes))) == {""}
    assert session.scalars(select(Repeat.verdict)).all() == ["0"] * 3
    assert session.scalars(select(RepeatRating.quality)).all() == [1, 1]
    assert sorted(session.scalars(select(RepeatRating.notes))) == ["", "again"]
    fields = select(Event.field, func.count()).where(Event.task_id == again.task_id)
    counts = sorted(tuple(row) for row in session.execute(fields.group_by(Event.field)))
    assert counts == [("repeat", 3), ("repeat notes", 1), ("repeat quality", 2)]
    assert totals() == before
    assert stored_summaries.check(session) == []
    assert tasks.is_done(session, rater, again.task_id)


def test_a_reason_in_a_repeat_is_apart_from_the_first(
    session: Session, study: Study, rater: Rater
) -> None:
    """It shows on the repeat's own page, so that nothing tells that it is one."""
    set_study(session, study, repeat_percent=100)
    stored(session, study, "hybrid", *(query(n, card(f"c{n}")) for n in range(1, 4)))
    robot = Robot(session, rater)
    again = robot.rate_until_a_repeat()
    robot.rate(again, NO)
    first = robot.first_time_of(again)
    for page, reason in ((first, "price"), (again, "location")):
        task, key = page.task_id, page.cards[0].key
        task_judgments.judge(session, rater, task, key, NO, robot.click())
        [before] = blind_pages.blind_page(session, rater, task).cards
        task_judgments.give_reason(session, rater, task, key, reason, robot.click())
        [after] = blind_pages.blind_page(session, rater, task).cards
        assert (before.reason, after.reason) == (None, reason)

    assert {*session.scalars(select(Judgment.reason))} == {None, "price"}


def test_empties_and_other_prices_come_again(session: Session, study: Study, rater: Rater) -> None:
    cards = {
        "hybrid": [card("a", price=1)],
        "api_only": [card("a", price=2)],
        "vector_only": [],
    }
    for method, shown_cards in cards.items():
        stored(session, study, method, *(query(n, *shown_cards) for n in range(1, 6)))
    set_study(session, study, repeat_percent=20)
    robot = Robot(session, rater)
    again = robot.rate_until_a_repeat()

    assert again.asks_emptiness
    assert again.empty_outcome is None
    assert [blind_card.earlier for blind_card in again.cards] == [None, None]
    first, second = again.cards
    task_judgments.judge(session, rater, again.task_id, first.key, NO, robot.click())
    session.flush()
    _, second = blind_pages.blind_page(session, rater, again.task_id).cards
    assert second.earlier is not None
    assert (second.earlier.relevance, len(second.earlier.differing)) == (NO, 1)
    robot.rate(blind_pages.blind_page(session, rater, again.task_id))
    page = blind_pages.blind_page(session, rater, again.task_id)
    assert (page.stage, page.empty_outcome) == (TaskStage.DONE, "false_negative")


@pytest.fixture(name="study_of_nine")
def _study_of_nine(session: Session, study: Study) -> None:
    """Two runs of nine questions, of which three come again."""
    for method in ("hybrid", "api_only"):
        stored(session, study, method, *(query(n, card("a")) for n in range(1, 10)))
    set_study(session, study, repeat_percent=33)


def gaps(rated: list[tuple[int, str]]) -> list[int]:
    """How many tasks after its first time each question came again."""
    first = {question: place for place, (question, kind) in enumerate(rated) if kind == POOL}
    return [
        place - first[question] for place, (question, kind) in enumerate(rated) if kind == REPEAT
    ]


@pytest.mark.usefixtures("study_of_nine")
@pytest.mark.parametrize("seed", [0, 1])
def test_repeats_hold_if_put_off(session: Session, study: Study, rater: Rater, seed: int) -> None:
    """Nine questions and three again: told from the start, all reached, never too soon."""
    study.order_secret = f"{seed:064x}"
    robot, totals, late = Robot(session, rater), set(), 0
    rated: list[tuple[int, str]] = []
    while (page := robot.next_page()) is not None:
        totals.add(page.progress.of)
        task = session.get_one(Task, page.task_id)
        if not page.is_put_off and late < 4 and (len(rated) + late) % 2 == seed:
            late += 1
            tasks.put_off(session, rater, task.id, NOW + timedelta(hours=1, minutes=robot.clicks))
            continue
        robot.rate(page)
        rated.append((task.question_id, task.kind))

    assert totals == {12}
    assert (len(rated), len(gaps(rated)), late) == (12, 3, 4)
    assert min(gaps(rated)) > TASKS_BETWEEN
    assert session.scalars(select(Task).where(tasks.is_open(study))).all() == []


@pytest.mark.usefixtures("study_of_nine")
def test_nothing_comes_again_at_once(session: Session, rater: Rater) -> None:
    """All are walked past first, so that every repetition is due; what was just rated waits."""
    task_id = None
    for minute in range(9):
        now = NOW + timedelta(hours=1, minutes=minute)
        task_id = task_order.onward(session, rater, now, task_order.EVERYTHING, task_id)
        assert task_id is not None
        assert blind_pages.blind_page(session, rater, task_id).place.position == minute + 1
    robot, rated = Robot(session, rater), []
    while (page := robot.next_page()) is not None:
        task = session.get_one(Task, page.task_id)
        assert page.progress.of == 12
        robot.rate(page)
        rated.append((task.question_id, task.kind))

    assert (len(rated), len(gaps(rated))) == (12, 3)
    assert min(gaps(rated)) > TASKS_BETWEEN
