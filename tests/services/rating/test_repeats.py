"""A question that is asked again looks like any other and changes no verdict."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import asdict
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from tests.services.rating.blind_raters import NO, Robot, set_study, stored
from tests.services.runs.runs import card, query
from webapp.db.tables.judging import Event, Judgment, QueryRating, Repeat, RepeatRating, Task
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study
from webapp.records import ReadQuery
from webapp.services.judging import live_metrics
from webapp.services.judging.events import AnswerRating
from webapp.services.rating import pages, pool, shares, tasks
from webapp.services.rating.pages import BlindPage, TaskStage
from webapp.services.rating.pool import POOL, REPEAT, Unit


def questions(*methods: tuple[str, ...], of: int) -> list[list[ReadQuery]]:
    return [
        [query(number, *(card(slug) for slug in slugs)) for number in range(1, of + 1)]
        for slugs in methods
    ]


@pytest.fixture(name="run_ids")
def _run_ids(session: Session, study: Study) -> list[str]:
    """Two runs of twelve questions: cards a, b against b, c; 17 % of twelve are two repeats."""
    lists = questions(("a", "b"), ("b", "c"), of=12)
    set_study(session, study, repeat_percent=17)
    return [
        stored(session, study, method, *queries)
        for method, queries in zip(("hybrid", "api_only"), lists, strict=True)
    ]


def kind(session: Session, page: BlindPage) -> str:
    return session.get_one(Task, page.task_id).kind


def rate_until_a_repeat(session: Session, robot: Robot) -> BlindPage:
    while (page := robot.next_page()) is not None:
        if kind(session, page) == REPEAT:
            return page
        robot.rate(page)
    raise AssertionError("nothing was asked again")


def test_the_number_told_never_changes(session: Session, rater: Rater, run_ids: list[str]) -> None:
    assert len(run_ids) == 2
    robot, told, kinds = Robot(session, rater), [], []
    while (page := robot.next_page()) is not None:
        told.append((page.place.position, page.progress.of, page.progress.done))
        kinds.append(kind(session, page))
        robot.rate(page)

    # Twelve questions and two again, each one further than the one before.
    assert told == [(place, 14, place - 1) for place in range(1, 15)]
    assert (kinds.count(POOL), kinds.count(REPEAT)) == (12, 2)
    assert kinds[:3] == [POOL] * 3
    after = shares.progress(session, rater)
    assert (after.done, after.of, after.open_judgments, after.unrated) == (14, 14, 0, 0)


@pytest.mark.usefixtures("run_ids")
def test_a_repeat_looks_like_the_first_time_in_every_stage(session: Session, rater: Rater) -> None:
    rater.study.suggest_quality = True
    robot = Robot(session, rater)
    again = rate_until_a_repeat(session, robot)
    twin = session.scalar(
        select(Task.id).where(
            Task.kind == POOL, Task.question_id == session.get_one(Task, again.task_id).question_id
        )
    )
    assert twin is not None
    first = pages.blind_page(session, rater, twin)

    assert (again.stage, again.answers, first.stage) == (TaskStage.CARDS, (), TaskStage.DONE)
    assert {shown.relevance for shown in again.cards} == {None}
    assert sorted(shown.card.slug or "" for shown in again.cards) == ["a", "b", "c"]
    assert not {shown.key for shown in again.cards} & {shown.key for shown in first.cards}
    told = {"task_id", "cards", "answers", "place", "progress", "stage"}
    for name, shown_first in asdict(first).items():
        if name not in told:
            assert getattr(again, name) == shown_first, name

    for shown in again.cards:
        tasks.judge(session, rater, again.task_id, shown.key, NO, robot.click())
    again = pages.blind_page(session, rater, again.task_id)
    assert again.stage is TaskStage.ANSWERS
    assert [answer.letter for answer in again.answers] == ["A", "B"]
    # Everything was called relevant first (5), nothing now (1).
    assert {answer.suggested for answer in first.answers} == {5}
    assert [(a.quality, a.notes, a.suggested) for a in again.answers] == [(None, "", 1)] * 2


def test_a_repeat_changes_no_figure(session: Session, rater: Rater, run_ids: list[str]) -> None:
    robot = Robot(session, rater)
    again = rate_until_a_repeat(session, robot)
    before = [
        live_metrics.by_category(session, rater.id, run_id)["location"].totals for run_id in run_ids
    ]
    robot.rate(again, NO, quality=1)
    (answer, _) = pages.blind_page(session, rater, again.task_id).answers
    tasks.rate(
        session, rater, again.task_id, answer.key, AnswerRating(notes="again"), robot.click()
    )
    session.flush()

    assert set(session.scalars(select(Judgment.verdict))) == {"1"}
    assert set(session.scalars(select(QueryRating.quality))) == {4}
    assert set(session.scalars(select(QueryRating.notes))) == {""}
    assert session.scalars(select(Repeat.verdict)).all() == ["0"] * 3
    assert session.scalars(select(RepeatRating.quality)).all() == [1, 1]
    assert sorted(session.scalars(select(RepeatRating.notes))) == ["", "again"]
    said = select(Event.field, func.count()).where(Event.task_id == again.task_id)
    counts = sorted(tuple(row) for row in session.execute(said.group_by(Event.field)))
    assert counts == [("repeat", 3), ("repeat notes", 1), ("repeat quality", 2)]
    after = [
        live_metrics.by_category(session, rater.id, run_id)["location"].totals for run_id in run_ids
    ]
    assert after == before
    assert live_metrics.check(session) == []
    assert tasks.is_done(session, rater, again.task_id)


def test_empties_and_other_prices_come_again(session: Session, study: Study, rater: Rater) -> None:
    lists = {
        "hybrid": [query(number, card("a", price=1)) for number in range(1, 6)],
        "api_only": [query(number, card("a", price=2)) for number in range(1, 6)],
        "vector_only": [query(number) for number in range(1, 6)],
    }
    for method, queries in lists.items():
        stored(session, study, method, *queries)
    set_study(session, study, repeat_percent=20)
    robot = Robot(session, rater)
    again = rate_until_a_repeat(session, robot)

    assert again.asks_emptiness
    assert again.empty_outcome is None
    assert [shown.earlier for shown in again.cards] == [None, None]
    first, second = again.cards
    tasks.judge(session, rater, again.task_id, first.key, NO, robot.click())
    session.flush()
    _, second = pages.blind_page(session, rater, again.task_id).cards
    assert second.earlier is not None
    assert (second.earlier.relevance, len(second.earlier.differing)) == (NO, 1)
    robot.rate(pages.blind_page(session, rater, again.task_id))
    page = pages.blind_page(session, rater, again.task_id)
    assert (page.stage, page.empty_outcome) == (TaskStage.DONE, "false_negative")


@pytest.mark.usefixtures("run_ids")
def test_the_end_counts_as_the_rater_was_told(session: Session, rater: Rater) -> None:
    Robot(session, rater).rate_all()

    # Twelve questions of three cards and two answers, two of them again.
    assert shares.done(session, rater) == (14, 42, 0, 28)
    assert shares.pooled_figure(session, rater)[1] == 42


def plan_of(rater: Rater, in_order: Sequence[Unit], again: Sequence[Unit] = ()) -> dict[Unit, int]:
    return pool.planned(rater, in_order, set(in_order), set(again))


@pytest.mark.parametrize("percent", [0, 5, 33, 100])
@pytest.mark.parametrize("size", [0, 1, 2, 3, 7, 30])
def test_the_plan_holds_from_the_first_question_to_the_last(size: int, percent: int) -> None:
    """Walked through for many seeds: as planned at first, never too soon, all of it at the end."""
    for seed in range(20):
        rater = Rater(id=7, study=Study(order_secret=f"{seed:064x}", repeat_percent=percent))
        free = [Unit(number) for number in range(size)]
        given: list[Unit] = []
        again: list[Unit] = []
        walk: list[Unit] = []
        promised = plan_of(rater, free)
        assert len(promised) == pool.count(size, percent)
        while True:
            plan = plan_of(rater, [*given, *free], again)
            assert plan == {unit: after for unit, after in promised.items() if unit not in again}
            unit = next(iter(plan), None)
            if unit is not None and plan[unit] <= len(given):
                assert len(walk) - walk.index(unit) > pool.TASKS_BETWEEN
                again.append(unit)
            elif free:
                unit = free.pop(0)
                given.append(unit)
            else:
                break
            walk.append(unit)
        assert len(again) == len(promised)


def test_the_share_of_another_rater_draws_other_questions() -> None:
    study = Study(order_secret=f"{1:064x}", repeat_percent=10)
    free = [Unit(number) for number in range(60)]
    plans = [plan_of(Rater(id=number, study=study), free).keys() for number in (1, 2)]

    assert [len(plan) for plan in plans] == [6, 6]
    assert plans[0] != plans[1]


def test_a_question_whose_run_was_deleted_is_not_asked_again() -> None:
    rater = Rater(id=7, study=Study(order_secret=f"{3:064x}", repeat_percent=100))
    in_order = [Unit(number) for number in range(8)]
    left = set(in_order[3:])

    plan = pool.planned(rater, in_order, left, set())

    assert set(plan) == {Unit(3), Unit(4), Unit(5)}
