"""The pool holds each distinct thing once; a rater's share is what the overlap leaves."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from hashlib import sha256
from random import Random
from threading import Thread

import pytest
from sqlalchemy import and_, func, select
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.rating.blind_raters import YES, Robot, set_study, stored
from tests.services.runs.runs import card, click, query
from webapp.db.engine import Database, Kept
from webapp.db.tables.judging import JudgedThing, Judgment, QueryRating, Repeat, RepeatRating, Task
from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Query, Run
from webapp.db.tables.study import Study
from webapp.records import EmptyOutcome, QueryState, ReadQuery, Relevance
from webapp.services.judging.events import AnswerRating
from webapp.services.rating import pages, pool, shares, tasks
from webapp.services.rating.pool import Purpose, Unit, commitment, draw
from webapp.services.rating.shares import Progress, StudyShare
from webapp.services.runs import runs
from webapp.services.study import assignments, studies


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
                    page = pages.blind_page(session, one, task.id)
                    said = click(f"{rater_id}-{number}")
                    tasks.judge(session, one, task.id, page.cards[0].key, YES, said)
                    (answer,) = pages.blind_page(session, one, task.id).answers
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


def read_anew(session: Session, rater: Rater, monkeypatch: pytest.MonkeyPatch) -> StudyShare:
    with monkeypatch.context() as nothing_kept:
        nothing_kept.setattr(shares, "_kept", Kept[int, object](most=0))
        return shares.of_rater(session, rater)


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
    other = studies.add_rater(session, study, "Ani", NOW)
    robots = [Robot(session, rater), Robot(session, other)]
    questions = [unit.question_id for unit in shares.of_rater(session, rater).units]
    doings: dict[int, Callable[[], object]] = {
        4: lambda: assignments.assign(session, other, frozenset(questions[::2]), NOW),
        7: lambda: set_study(session, study, pool_depth=1),
        10: lambda: set_study(session, study, shuffle_questions=True),
        13: lambda: runs.delete_run(session, study, ids[-1], NOW),
        16: lambda: set_study(session, study, repeat_percent=60, pool_depth=None),
        19: lambda: stored(session, study, METHODS[-1], *some_run(draw)),
        22: lambda: assignments.assign(session, other, assignments.EVERYTHING, NOW),
    }
    for step in range(26):
        if step in doings:
            doings[step]()
        robot = draw.choice(robots)
        rate_something(session, robot, draw)
        if draw.random() < 0.3 and (given := tasks.given_to(session, robot.rater)):
            tasks.put_off(session, robot.rater, draw.choice(given), robot.click().received_at)
        if draw.random() < 0.3:
            tasks.undo(session, robot.rater, robot.click())
        for one in (rater, other):
            kept, anew = shares.of_rater(session, one), read_anew(session, one, monkeypatch)
            assert kept == anew
            assert list(kept.units) == list(anew.units)


def test_a_click_rolled_back_is_gone(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    with database.writing() as session:
        study = studies.open_or_make(session, NOW)
        rater_id = studies.add_rater(session, study, "Ani", NOW).id
        stored(session, study, "hybrid", *(query(n, card("a"), card("b")) for n in range(1, 6)))
        Robot(session, session.get_one(Rater, rater_id)).next_page()
        session.commit()

    def rate_one(number: int, *, keeps: bool) -> None:
        with database.writing() as session:
            rater = session.get_one(Rater, rater_id)
            robot = Robot(session, rater)
            robot.clicks = 100 * number
            page = robot.next_page()
            assert page is not None
            robot.rate(page)
            assert robot.next_page() is not None
            shares.of_rater(session, rater)
            if keeps:
                session.commit()

    for number, keeps in enumerate((False, True, False), start=1):
        rate_one(number, keeps=keeps)
        with database.reading() as session:
            rater = session.get_one(Rater, rater_id)
            assert shares.of_rater(session, rater) == read_anew(session, rater, monkeypatch)


METHODS = ("hybrid", "api_only", "vector_only")
STEPS = 14


def some_run(draw: Random) -> list[ReadQuery]:
    """Return nine questions: shared and own cards, other prices, empty lists, follow-ups.

    The answer to the eighth is unreadable, the call of the ninth failed.
    """
    queries = []
    for number in range(1, 10):
        slugs = draw.choices("abcde", k=draw.randrange(5))
        cards = [card(f"{slug}{number}", price=draw.choice((None, 1, 2))) for slug in slugs]
        state = {8: QueryState.UNREADABLE, 9: QueryState.FAILED}.get(number)
        shown = [] if state else cards
        is_follow_up = number in {4, 5}
        queries.append(query(number, *shown, state=state, context_dependent=is_follow_up))
    return queries


def rate_something(session: Session, robot: Robot, draw: Random) -> None:
    task = tasks.next_task(session, robot.rater, robot.click().received_at)
    given = tasks.given_to(session, robot.rater)
    if not given:
        return
    task_id = draw.choice(given) if task is None or draw.random() < 0.2 else task.id
    page = pages.blind_page(session, robot.rater, task_id)
    verdicts = [None, *Relevance] if draw.random() < 0.3 else list(Relevance)
    for shown in page.cards:
        if draw.random() < 0.9:
            verdict = draw.choice(verdicts)
            tasks.judge(session, robot.rater, task_id, shown.key, verdict, robot.click())
    if page.asks_emptiness and draw.random() < 0.9:
        said = AnswerRating(empty_outcome=draw.choice(list(EmptyOutcome)))
        tasks.rate(session, robot.rater, task_id, None, said, robot.click())
    for answer in pages.blind_page(session, robot.rater, task_id).answers:
        if draw.random() < 0.9:
            rated = AnswerRating(quality=draw.randrange(6))
            tasks.rate(session, robot.rater, task_id, answer.key, rated, robot.click())


def counted_one_by_one(session: Session, rater: Rater) -> Progress:
    share = shares.of_rater(session, rater)
    asked = session.execute(
        select(
            JudgedThing.question_id, JudgedThing.run_id, JudgedThing.id, JudgedThing.property_id
        ).where(pool.is_shown(rater.study_id, rater.study.pool_depth))
    ).all()
    said = set(
        session.scalars(
            select(Judgment.judged_thing_id).where(
                Judgment.rater_id == rater.id, Judgment.verdict.is_not(None)
            )
        )
    )
    units = [Unit(question_id, run_id) for question_id, run_id, *_ in asked]
    answers = answers_with_quality(session, rater)
    assert {unit for unit, _ in answers} == set(share.units)
    assert set(units) <= set(share.units)
    wanted = {*(one.unit for one in share.first_time), *share.free}
    left = [
        shown
        for unit, (*_, thing, shown) in zip(units, asked, strict=True)
        if unit in wanted and thing not in said
    ]
    planned = share.planned
    mine = select(func.count()).select_from(Task).where(Task.rater_id == rater.id)
    unsaid = select(func.count()).select_from(Repeat).join(Task)
    unsaid = unsaid.where(Task.rater_id == rater.id, Repeat.verdict.is_(None))
    unsaid_lists = unsaid.join(JudgedThing).where(JudgedThing.property_id.is_(None))
    ungraded = select(func.count()).select_from(RepeatRating).join(Task)
    ungraded = ungraded.where(Task.rater_id == rater.id, RepeatRating.quality.is_(None))
    opened = session.scalar(mine.where(tasks.is_open(rater.study))) or 0
    return Progress(
        done=len(share.given) - opened,
        of=len(share.given) + len(share.free) + len(planned),
        open_judgments=len(left)
        + sum(unit in planned for unit in units)
        + (session.scalar(unsaid) or 0),
        unrated=sum(unit in wanted and quality is None for unit, quality in answers)
        + sum(unit in planned for unit, _ in answers)
        + (session.scalar(ungraded) or 0),
        open_lists=left.count(None)
        + sum(
            unit in planned and shown is None
            for unit, (*_, shown) in zip(units, asked, strict=True)
        )
        + (session.scalar(unsaid_lists) or 0),
        questions=len({unit.question_id for unit in wanted}),
    )


def answers_with_quality(session: Session, rater: Rater) -> list[tuple[Unit, int | None]]:
    rows = session.execute(
        select(Query, QueryRating.quality)
        .join(Run)
        .outerjoin(
            QueryRating, and_(QueryRating.query_key == Query.id, QueryRating.rater_id == rater.id)
        )
        .where(Run.study_id == rater.study_id, Query.state != "unreadable")
    )
    return [
        (Unit(one.question_id, one.run_id if one.question.context_dependent else None), quality)
        for one, quality in rows
    ]


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    "switches",
    [
        {"repeat_percent": 0},
        {"repeat_percent": 50},
        {"repeat_percent": 100, "shuffle_questions": True},
        {"repeat_percent": 30, "overlap": 1},
        {"repeat_percent": 40, "pool_depth": 2},
        {"repeat_percent": 60, "pool_depth": 1, "overlap": 1, "shuffle_questions": True},
    ],
)
def test_progress_is_what_counting_one_by_one_comes_to(
    session: Session, study: Study, rater: Rater, switches: dict[str, object]
) -> None:
    """At every step of two raters, one with every other question, and as a run goes midway."""
    draw = Random(repr(switches))
    ids = [stored(session, study, method, *some_run(draw)) for method in METHODS]
    set_study(session, study, blind=True, **switches)
    other = studies.add_rater(session, study, "Ani", NOW)
    every_other = [unit.question_id for unit in shares.of_rater(session, rater).units][::2]
    assignments.assign(session, other, frozenset(every_other), NOW)
    robots = [Robot(session, rater), Robot(session, other)]
    for step in range(STEPS):
        if step == STEPS // 2:
            runs.delete_run(session, study, ids[-1], NOW)
        rate_something(session, draw.choice(robots), draw)
        for one in (rater, other):
            assert shares.progress(session, one) == counted_one_by_one(session, one)


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
