"""A blind rater goes on, back, to new questions and past those put off, as the rules allow."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.rating.blind_raters import Robot, set_study, stored
from tests.services.runs.runs import card, query
from webapp.db.tables.judging import Task
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study
from webapp.services.rating import blind_page, shares, tasks
from webapp.services.rating.blind_page import BlindPage
from webapp.services.rating.pool import REPEAT, TASKS_BETWEEN, QueryFilter
from webapp.services.rating.tasks import UnknownTask
from webapp.services.study import studies

CATEGORIES = ("area", "price", "area", "price", "area")


@pytest.fixture(name="study_of_five")
def _study_of_five(session: Session, study: Study) -> None:
    """Two runs of five questions, in order, of two categories by turns; nothing is asked again."""
    for method in ("hybrid", "api_only"):
        queries = (
            query(number, card(f"{method}{number}"), category=category)
            for number, category in enumerate(CATEGORIES, start=1)
        )
        stored(session, study, method, *queries)
    set_study(session, study, repeat_percent=0, shuffle_questions=False)


def at(minutes: int) -> datetime:
    return NOW + timedelta(hours=1, minutes=minutes)


def onward(
    session: Session,
    rater: Rater,
    minutes: int,
    after: BlindPage | None = None,
    wanted: QueryFilter = tasks.EVERYTHING,
) -> BlindPage:
    """Return the page that the rater is led to."""
    task_id = after.task_id if after else None
    found = tasks.onward(session, rater, at(minutes), wanted, task_id)
    assert found is not None
    return blind_page.blind_page(session, rater, found, wanted)


def number(page: BlindPage) -> int:
    """Return which question of the set a page asks: its cards are named by it."""
    return int((page.cards[0].card.slug or "")[-1])


@pytest.mark.usefixtures("study_of_five")
def test_going_on_from_the_newest_question_gives_a_new_one_until_there_is_none(
    session: Session, rater: Rater
) -> None:
    """Though nothing was said yet; then it leads to what is open."""
    pages = [onward(session, rater, 0)]
    while pages[-1].place.leads_further:
        assert pages[-1].place.next is None
        pages.append(onward(session, rater, len(pages), pages[-1]))

    assert [number(page) for page in pages] == [1, 2, 3, 4, 5]
    assert onward(session, rater, 9, pages[-1]).task_id == pages[0].task_id
    assert onward(session, rater, 9, pages[1]).task_id == pages[2].task_id
    again = blind_page.blind_page(session, rater, pages[2].task_id).place
    assert (again.position, again.previous, again.next, again.leads_further) == (
        3,
        pages[1].task_id,
        pages[3].task_id,
        False,
    )


@pytest.mark.usefixtures("study_of_five")
def test_going_on_takes_nothing_that_the_overlap_leaves_to_others(
    session: Session, study: Study, rater: Rater
) -> None:
    set_study(session, study, overlap=1)
    other = studies.add_rater(session, study, "Budi", NOW)
    page = onward(session, rater, 0)
    for minute in range(1, 4):
        page = onward(session, rater, minute, page)
    theirs = onward(session, other, 5)

    assert (number(page), number(theirs)) == (4, 5)
    assert not theirs.place.leads_further
    assert onward(session, other, 6, theirs).task_id == theirs.task_id
    assert not blind_page.blind_page(session, rater, page.task_id).place.leads_further


@pytest.mark.usefixtures("study_of_five")
def test_a_question_put_off_comes_again_after_the_others_and_keeps_nobody_waiting(
    session: Session, study: Study, rater: Rater
) -> None:
    """The first and the third are put off, the third last; another rater is given all five."""
    robot, order = Robot(session, rater), []
    first = onward(session, rater, 0)
    tasks.put_off(session, rater, first.task_id, at(1))
    while (page := robot.next_page()) is not None:
        if number(page) == 3 and not page.is_put_off:
            tasks.put_off(session, rater, page.task_id, at(2))
            continue
        order.append((number(page), page.is_put_off))
        robot.rate(page)

    assert order == [(2, False), (4, False), (5, False), (1, True), (3, True)]
    assert shares.progress(session, rater).left == 0
    assert not blind_page.blind_page(session, rater, first.task_id).is_put_off
    other = studies.add_rater(session, study, "Budi", NOW)
    assert not onward(session, other, 9).is_put_off
    with pytest.raises(UnknownTask):
        tasks.put_off(session, other, first.task_id, at(9))


@pytest.mark.usefixtures("study_of_five")
def test_a_question_put_off_is_rated_by_going_back_to_it(session: Session, rater: Rater) -> None:
    robot = Robot(session, rater)
    first = onward(session, rater, 0)
    tasks.put_off(session, rater, first.task_id, at(1))
    second = onward(session, rater, 2)
    assert second.place.previous == first.task_id

    robot.rate(blind_page.blind_page(session, rater, first.task_id))

    assert tasks.is_done(session, rater, first.task_id)
    assert onward(session, rater, 3).task_id == second.task_id


@pytest.mark.usefixtures("study_of_five")
def test_what_is_kept_ahead_begins_with_what_is_not_put_off(session: Session, rater: Rater) -> None:
    first = onward(session, rater, 0)
    tasks.put_off(session, rater, first.task_id, at(1))

    found = tasks.ahead(session, rater, at(2), 3)

    pages = [blind_page.blind_page(session, rater, task.id) for task in found]
    assert [number(page) for page in pages] == [2, 3, 4]


@pytest.mark.usefixtures("study_of_five")
def test_a_filter_leads_through_its_category_and_what_is_open(
    session: Session, rater: Rater
) -> None:
    """Questions 2 and 4 are about prices; 2 is rated, then 4 is all that is open there."""
    prices, left = QueryFilter(category="price"), QueryFilter(only_open=True)
    first = onward(session, rater, 0)
    assert first.categories == ("area", "price")
    second = onward(session, rater, 1, wanted=prices)
    assert number(second) == 2
    assert (second.place.previous, second.place.leads_further) == (None, True)
    fourth = onward(session, rater, 2, second, prices)
    assert number(fourth) == 4
    assert (fourth.place.previous, fourth.place.leads_further) == (second.task_id, False)

    robot = Robot(session, rater)
    robot.rate(second)
    page = blind_page.blind_page(session, rater, fourth.task_id, left)
    assert page.place.previous == first.task_id
    assert onward(session, rater, 3, wanted=prices).task_id == fourth.task_id
    robot.rate(fourth)
    page = blind_page.blind_page(session, rater, fourth.task_id, prices)
    assert not page.place.is_left
    assert onward(session, rater, 4, wanted=prices).task_id == second.task_id
    assert tasks.onward(session, rater, at(5), QueryFilter(category="nowhere")) is None


@pytest.mark.parametrize(
    ("database", "seed"),
    [*(("sqlite", seed) for seed in range(6)), ("postgresql", 0), ("postgresql", 1)],
    indirect=["database"],
)  # the orders differ by the seed and not by the engine
def test_hidden_repeats_hold_whatever_is_put_off(
    session: Session, study: Study, rater: Rater, seed: int
) -> None:
    """Nine questions and three again: told from the start, all reached, never too soon."""
    for method in ("hybrid", "api_only"):
        stored(session, study, method, *(query(place, card("a")) for place in range(1, 10)))
    set_study(session, study, repeat_percent=33)
    study.order_secret = f"{seed:064x}"
    robot, told, late = Robot(session, rater), set(), 0
    rated: list[tuple[int, str]] = []
    while (page := robot.next_page()) is not None:
        told.add(page.progress.of)
        task = session.get_one(Task, page.task_id)
        if not page.is_put_off and late < 4 and (len(rated) + late) % 2 == seed % 2:
            late += 1
            tasks.put_off(session, rater, task.id, at(robot.clicks))
            continue
        robot.rate(page)
        rated.append((task.question_id, task.kind))

    assert told == {12}
    assert (len(rated), late) == (12, 4)
    for place, (question, kind) in enumerate(rated):
        if kind == REPEAT:
            first = next(at for at, (other, _) in enumerate(rated) if other == question)
            assert place - first > TASKS_BETWEEN
    assert session.scalars(select(Task).where(tasks.is_open(study))).all() == []


def test_nothing_is_asked_again_right_after_its_rater_came_back_to_it(
    session: Session, study: Study, rater: Rater
) -> None:
    """All are walked past first, so that every repetition is due; what was just rated waits."""
    for method in ("hybrid", "api_only"):
        stored(session, study, method, *(query(place, card("a")) for place in range(1, 10)))
    set_study(session, study, repeat_percent=33)
    page = onward(session, rater, 0)
    for place in range(1, 9):
        assert page.place.position == place
        page = onward(session, rater, place, page)
    robot, rated = Robot(session, rater), []
    while (shown := robot.next_page()) is not None:
        task = session.get_one(Task, shown.task_id)
        assert shown.progress.of == 12
        robot.rate(shown)
        rated.append((task.question_id, task.kind))

    assert len(rated) == 12
    again = [place for place, (_, kind) in enumerate(rated) if kind == REPEAT]
    for place in again:
        first = next(at for at, (other, _) in enumerate(rated) if other == rated[place][0])
        assert place - first > TASKS_BETWEEN
