"""The pool holds each distinct thing once; a rater's workload is what the overlap leaves."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Sequence
from hashlib import sha256
from random import Random
from threading import Thread

import pytest
from msgspec.structs import asdict
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from relevansi.db.caches import LruCache
from relevansi.db.engine import Database
from relevansi.db.tables.judging import Event, Judgment, QueryRating, Repeat, RepeatRating, Task
from relevansi.db.tables.people import Rater
from relevansi.db.tables.study import Study
from relevansi.records import EmptyOutcome, QueryState, ReadQuery, Relevance
from relevansi.services.judging import stored_summaries
from relevansi.services.judging.answer_ratings import AnswerRating
from relevansi.services.rating import blind_pages, pool, task_judgments, tasks, workloads
from relevansi.services.rating.blind_pages import BlindPage, TaskStage
from relevansi.services.rating.pool import POOL, REPEAT, Purpose, Unit, commitment, draw
from relevansi.services.rating.workloads import Progress, Workload
from relevansi.services.runs import runs
from relevansi.services.study import assignments, studies
from tests.conftest import NOW
from tests.services.rating.blind_raters import NO, YES, Robot, set_study, stored
from tests.services.runs.runs import card, click, query
from tests.stored_studies import open_study


def test_raters_at_once_keep_the_overlap(database: Database) -> None:
    with open_study(database) as (session, study):
        set_study(session, study, overlap=1)
        stored(session, study, "hybrid", *(query(number, card("a")) for number in range(1, 9)))
        ids = [studies.add_rater(session, study, name, NOW).id for name in "ABCD"]

    def ask(rater_id: int) -> None:
        for number in range(3):
            with database.writing() as session:
                rater = session.get_one(Rater, rater_id)
                task = tasks.next_task(session, rater, NOW)
                if task is not None:
                    page = blind_pages.blind_page(session, rater, task.id)
                    event = click(f"{rater_id}-{number}")
                    task_judgments.judge(session, rater, task.id, page.cards[0].key, YES, event)
                    (answer,) = blind_pages.blind_page(session, rater, task.id).answers
                    rated = click(f"{rater_id}-{number}q")
                    task_judgments.rate(
                        session, rater, task.id, answer.key, AnswerRating(quality=1), rated
                    )
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


def read_anew(
    session: Session, rater: Rater, monkeypatch: pytest.MonkeyPatch
) -> tuple[Workload, Progress]:
    with monkeypatch.context() as uncached:
        uncached.setattr(workloads, "_cache", LruCache[int, object](most=0))
        return workloads.of_rater(session, rater), workloads.progress(session, rater)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.parametrize("overlap", [None, 1])
def test_the_share_kept_is_the_share_read_anew(
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
        4: lambda: assignments.assign(session, second_rater, frozenset(questions[::2]), NOW),
        7: lambda: set_study(session, study, pool_depth=1),
        10: lambda: set_study(session, study, shuffle_questions=True),
        13: lambda: runs.delete_run(session, study, ids[-1], NOW),
        16: lambda: set_study(session, study, repeat_percent=60, pool_depth=None),
        19: lambda: stored(session, study, METHODS[-1], *some_run(draw)),
        22: lambda: assignments.assign(session, second_rater, assignments.EVERYTHING, NOW),
    }
    for step in range(26):
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


METHODS = ("hybrid", "api_only", "vector_only")


def some_run(draw: Random) -> list[ReadQuery]:
    """Return nine questions: shared and own cards, other prices, empty lists, follow-ups.

    The answer to the eighth is unreadable, the call of the ninth failed.
    """
    queries = []
    for number in range(1, 10):
        slugs = draw.choices("abcde", k=draw.randrange(5))
        cards = [card(f"{slug}{number}", price=draw.choice((None, 1, 2))) for slug in slugs]
        state = {8: QueryState.UNREADABLE, 9: QueryState.FAILED}.get(number)
        listed = [] if state else cards
        is_follow_up = number in {4, 5}
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
    robot, places, kinds = Robot(session, rater), [], []
    while (page := robot.next_page()) is not None:
        places.append((page.place.position, page.progress.of, page.progress.finished))
        kinds.append(kind(session, page))
        robot.rate(page)

    # Twelve questions and two again, each one further than the one before.
    assert places == [(place, 14, place - 1) for place in range(1, 15)]
    assert (kinds.count(POOL), kinds.count(REPEAT)) == (12, 2)
    assert kinds[:3] == [POOL] * 3
    after = workloads.progress(session, rater)
    assert (after.finished, after.of, after.open_judgments, after.unrated) == (14, 14, 0, 0)


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
    first = blind_pages.blind_page(session, rater, twin)

    assert (again.stage, again.answers, first.stage) == (TaskStage.CARDS, (), TaskStage.DONE)
    assert {card.relevance for card in again.cards} == {None}
    assert sorted(card.card.identity[5:] for card in again.cards) == ["a", "b", "c"]
    assert not {card.key for card in again.cards} & {card.key for card in first.cards}
    differing = {"task_id", "cards", "answers", "place", "progress", "stage"}
    for name, value in asdict(first).items():
        if name not in differing:
            assert getattr(again, name) == value, name

    for blind_card in again.cards:
        task_judgments.judge(session, rater, again.task_id, blind_card.key, NO, robot.click())
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
    again = rate_until_a_repeat(session, Robot(session, rater))

    assert [letter for letter, _ in again.figures] == ["A", "B"]
    assert [summary.results_count for _, summary in again.figures] == [2, 2]
    assert {summary.judged_count for _, summary in again.figures} == {0}


def test_a_repeat_changes_no_figure(session: Session, rater: Rater, run_ids: list[str]) -> None:
    robot = Robot(session, rater)
    again = rate_until_a_repeat(session, robot)
    before = [
        stored_summaries.by_category(session, rater.id, run_id)["location"].totals
        for run_id in run_ids
    ]
    robot.rate(again, NO, quality=1)
    (answer, _) = blind_pages.blind_page(session, rater, again.task_id).answers
    task_judgments.rate(
        session, rater, again.task_id, answer.key, AnswerRating(notes="again"), robot.click()
    )
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
    after = [
        stored_summaries.by_category(session, rater.id, run_id)["location"].totals
        for run_id in run_ids
    ]
    assert after == before
    assert stored_summaries.check(session) == []
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
    assert [card.earlier for card in again.cards] == [None, None]
    first, second = again.cards
    task_judgments.judge(session, rater, again.task_id, first.key, NO, robot.click())
    session.flush()
    _, second = blind_pages.blind_page(session, rater, again.task_id).cards
    assert second.earlier is not None
    assert (second.earlier.relevance, len(second.earlier.differing)) == (NO, 1)
    robot.rate(blind_pages.blind_page(session, rater, again.task_id))
    page = blind_pages.blind_page(session, rater, again.task_id)
    assert (page.stage, page.empty_outcome) == (TaskStage.DONE, "false_negative")


@pytest.mark.usefixtures("run_ids")
def test_the_end_counts_as_the_rater_was_told(session: Session, rater: Rater) -> None:
    Robot(session, rater).rate_all()

    # Twelve questions of three cards and two answers, two of them again.
    assert workloads.finished_counts(session, rater) == (14, 42, 0, 28)
    assert workloads.pooled_figure(session, rater)[1] == 42


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


def test_the_share_of_another_rater_draws_other_questions() -> None:
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
