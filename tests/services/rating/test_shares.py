"""A rater's share is the same whether it was kept from the last click or is read anew."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.rating.blind_raters import Robot, set_study, stored
from tests.services.rating.test_progress import METHODS, rate_something, some_run
from tests.services.runs.runs import card, query
from webapp.db.engine import Database, Kept
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study
from webapp.services.rating import shares, tasks
from webapp.services.rating.shares import Progress, StudyShare
from webapp.services.runs import runs
from webapp.services.study import assignments, studies


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


def test_a_click_that_was_rolled_back_leaves_no_trace(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_a_raters_units_are_the_studys_whatever_else_the_database_holds(
    session: Session, study: Study, rater: Rater
) -> None:
    stored(session, study, "hybrid", query(1, card("a")), query(2))
    elsewhere = Study(name="Elsewhere", created_at=NOW)
    session.add(elsewhere)
    session.flush()
    stranger = studies.add_rater(session, elsewhere, "Ani", NOW)
    stored(session, elsewhere, "hybrid", query(1, card("a"), card("b")))

    assert len(shares.of_rater(session, rater).units) == 2
    assert len(shares.of_rater(session, stranger).units) == 1
    assert shares.progress(session, rater) == Progress(
        done=0, of=2, open_judgments=2, unrated=2, open_lists=1, questions=2
    )
    assert shares.progress(session, stranger) == Progress(
        done=0, of=1, open_judgments=2, unrated=1, questions=1
    )
