"""A rater's workload is what the overlap leaves; what comes again is planned from the start."""

from __future__ import annotations

import hmac
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from random import Random
from threading import Barrier

import pytest
from sqlalchemy.orm import Session

from relevansi.db.caches import LruCache
from relevansi.db.engine import Database
from relevansi.db.tables.people import Rater
from relevansi.db.tables.study import Study
from relevansi.records import EmptyOutcome, QueryState, ReadQuery, Relevance
from relevansi.services.judging.answer_ratings import AnswerRating
from relevansi.services.rating import blind_pages, pool, task_judgments, tasks, workloads
from relevansi.services.rating.pool import Purpose, Unit, commitment, draw
from relevansi.services.rating.workloads import Progress, Workload
from relevansi.services.runs import runs
from relevansi.services.study import assignments, studies
from tests.conftest import NOW
from tests.services.rating.blind_raters import METHODS, Robot, set_study, stored
from tests.services.runs.runs import card, query
from tests.stored_studies import open_study


def test_raters_at_once_keep_the_overlap(database: Database) -> None:
    """Four ask at the same moment, and there are three questions for one rater each."""
    with open_study(database) as (session, study):
        set_study(session, study, overlap=1)
        stored(session, study, "hybrid", *(query(number, card("a")) for number in range(1, 4)))
        rater_ids = [studies.add_rater(session, study, name, NOW).id for name in "ABCD"]
    barrier = Barrier(len(rater_ids))

    def question_of(rater_id: int) -> int | None:
        barrier.wait()
        with database.writing() as session:
            task = tasks.next_task(session, session.get_one(Rater, rater_id), NOW)
            question_id = task.question_id if task else None
            session.commit()
        return question_id

    with ThreadPoolExecutor(len(rater_ids)) as threads:
        question_ids = Counter(threads.map(question_of, rater_ids))

    assert question_ids[None] == 1
    assert set(question_ids.values()) == {1}


def read_anew(
    session: Session, rater: Rater, monkeypatch: pytest.MonkeyPatch
) -> tuple[Workload, Progress]:
    with monkeypatch.context() as uncached:
        uncached.setattr(workloads, "_cache", LruCache[int, object](most=0))
        return workloads.of_rater(session, rater), workloads.progress(session, rater)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.parametrize("overlap", [None, 1])
def test_a_cached_workload_is_the_one_read_anew(
    session: Session,
    study: Study,
    rater: Rater,
    overlap: int | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of two raters, after clicks of either and each thing an owner can do to their questions."""
    draw = Random(f"{overlap}")
    ids = [stored(session, study, method, *some_run(draw)) for method in METHODS]
    set_study(session, study, blind=True, overlap=overlap, repeat_percent=30)
    second_rater = studies.add_rater(session, study, "Ani", NOW)
    robots = [Robot(session, rater), Robot(session, second_rater)]
    questions = [unit.question_id for unit in workloads.of_rater(session, rater).units]
    doings: dict[int, Callable[[], object]] = {
        2: lambda: assignments.assign(session, second_rater, frozenset(questions[::2]), NOW),
        4: lambda: set_study(session, study, pool_depth=1),
        6: lambda: set_study(session, study, shuffle_questions=True),
        8: lambda: runs.delete_run(session, study, ids[-1], NOW),
        10: lambda: set_study(session, study, repeat_percent=60, pool_depth=None),
        12: lambda: stored(session, study, METHODS[-1], *some_run(draw)),
        14: lambda: assignments.assign(session, second_rater, assignments.EVERYTHING, NOW),
    }
    for step in range(17):
        if step in doings:
            doings[step]()
        robot = draw.choice(robots)
        rate_something(session, robot, draw)
        if draw.random() < 0.3 and (task_ids := tasks.ids_of_rater(session, robot.rater)):
            tasks.put_off(session, robot.rater, draw.choice(task_ids), robot.click().received_at)
        if draw.random() < 0.3:
            task_judgments.undo(session, robot.rater, robot.click())
        for robot in robots:
            workload, progress = read_anew(session, robot.rater, monkeypatch)
            cached = workloads.of_rater(session, robot.rater)
            assert cached == workload
            assert list(cached.units) == list(workload.units)
            assert workloads.progress(session, robot.rater) == progress


def test_a_click_rolled_back_is_gone(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_study(database) as (session, study):
        rater_id = studies.add_rater(session, study, "Ani", NOW).id
        stored(session, study, "hybrid", *(query(n, card("a"), card("b")) for n in range(1, 6)))
        Robot(session, session.get_one(Rater, rater_id)).next_page()

    def rate_one(number: int, *, keeps: bool) -> None:
        with database.writing() as session:
            rater = session.get_one(Rater, rater_id)
            robot = Robot(session, rater)
            robot.clicks = 100 * number
            page = robot.next_page()
            assert page is not None
            robot.rate(page)
            assert robot.next_page() is not None
            workloads.of_rater(session, rater)
            if keeps:
                session.commit()

    for number, keeps in enumerate((False, True, False), start=1):
        rate_one(number, keeps=keeps)
        with database.reading() as session:
            rater = session.get_one(Rater, rater_id)
            workload, progress = read_anew(session, rater, monkeypatch)
            assert workloads.of_rater(session, rater) == workload
            assert workloads.progress(session, rater) == progress


def some_run(draw: Random) -> list[ReadQuery]:
    """Return six questions: shared and own cards, other prices, empty lists, follow-ups.

    The answer to the fifth is unreadable, the call of the sixth failed.
    """
    queries = []
    for number in range(1, 7):
        slugs = draw.choices("abcde", k=draw.randrange(5))
        cards = [card(f"{slug}{number}", price=draw.choice((None, 1, 2))) for slug in slugs]
        state = {5: QueryState.UNREADABLE, 6: QueryState.FAILED}.get(number)
        listed = [] if state else cards
        is_follow_up = number in {3, 4}
        queries.append(query(number, *listed, state=state, context_dependent=is_follow_up))
    return queries


def rate_something(session: Session, robot: Robot, draw: Random) -> None:
    task = tasks.next_task(session, robot.rater, robot.click().received_at)
    task_ids = tasks.ids_of_rater(session, robot.rater)
    if not task_ids:
        return
    task_id = draw.choice(task_ids) if task is None or draw.random() < 0.2 else task.id
    page = blind_pages.blind_page(session, robot.rater, task_id)
    verdicts = [None, *Relevance] if draw.random() < 0.3 else list(Relevance)
    for blind_card in page.cards:
        if draw.random() < 0.9:
            verdict = draw.choice(verdicts)
            task_judgments.judge(
                session, robot.rater, task_id, blind_card.key, verdict, robot.click()
            )
    if page.asks_emptiness and draw.random() < 0.9:
        rating = AnswerRating(empty_outcome=draw.choice(list(EmptyOutcome)))
        task_judgments.rate(session, robot.rater, task_id, None, rating, robot.click())
    for answer in blind_pages.blind_page(session, robot.rater, task_id).answers:
        if draw.random() < 0.9:
            rated = AnswerRating(quality=draw.randrange(6))
            task_judgments.rate(session, robot.rater, task_id, answer.key, rated, robot.click())


SECRET = "5" * 64


def test_a_draw_is_the_hmac_of_purpose_and_numbers() -> None:
    message = b"cards/7/pool/12"

    assert draw(SECRET, Purpose.CARDS, 7, "pool", 12) == hmac.digest(
        SECRET.encode(), message, "sha256"
    )


@pytest.mark.parametrize("secret", ["", "5" * 63])
def test_nothing_is_drawn_without_a_whole_secret(secret: str) -> None:
    with pytest.raises(ValueError, match="no secret"):
        draw(secret, Purpose.CARDS, 1)


def test_the_commitment_is_the_hash_of_the_secret_and_does_not_hold_it() -> None:
    assert commitment(SECRET) == sha256(SECRET.encode()).hexdigest()
    assert SECRET not in commitment(SECRET)


def plan_of(rater: Rater, in_order: Sequence[Unit], again: Sequence[Unit] = ()) -> dict[Unit, int]:
    return pool.planned(rater, in_order, set(in_order), set(again))


@pytest.mark.parametrize("percent", [0, 5, 33, 100])
@pytest.mark.parametrize("size", [0, 1, 2, 3, 7, 30])
def test_the_plan_holds_from_the_first_question_to_the_last(size: int, percent: int) -> None:
    """Walked through for many seeds: as planned at first, never too soon, all of it at the end."""
    for seed in range(20):
        rater = Rater(id=7, study=Study(order_secret=f"{seed:064x}", repeat_percent=percent))
        free = [Unit(number) for number in range(size)]
        assigned: list[Unit] = []
        again: list[Unit] = []
        walk: list[Unit] = []
        promised = plan_of(rater, free)
        assert len(promised) == pool.count(size, percent)
        while True:
            plan = plan_of(rater, [*assigned, *free], again)
            assert plan == {unit: after for unit, after in promised.items() if unit not in again}
            unit = next(iter(plan), None)
            if unit is not None and plan[unit] <= len(assigned):
                assert len(walk) - walk.index(unit) > pool.TASKS_BETWEEN
                again.append(unit)
            elif free:
                unit = free.pop(0)
                assigned.append(unit)
            else:
                break
            walk.append(unit)
        assert len(again) == len(promised)


def test_another_rater_is_asked_other_questions_again() -> None:
    study = Study(order_secret=f"{1:064x}", repeat_percent=10)
    free = [Unit(number) for number in range(60)]
    plans = [plan_of(Rater(id=number, study=study), free).keys() for number in (1, 2)]

    assert [len(plan) for plan in plans] == [6, 6]
    assert plans[0] != plans[1]


def test_a_question_whose_run_was_deleted_is_not_asked_again() -> None:
    rater = Rater(id=7, study=Study(order_secret=f"{3:064x}", repeat_percent=100))
    in_order = [Unit(number) for number in range(8)]
    remaining = set(in_order[3:])

    plan = pool.planned(rater, in_order, remaining, set())

    assert set(plan) == {Unit(3), Unit(4), Unit(5)}
