"""Raters can be added, renamed, removed and forgotten, and what goes and stays is counted."""

from __future__ import annotations

from datetime import timedelta
from hashlib import sha256
from itertools import pairwise

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from relevansi.db.tables.judging import (
    Adjudication,
    Event,
    JudgedItem,
    Judgment,
    QueryRating,
    StoredSummary,
    Task,
)
from relevansi.db.tables.people import Invitation, LogEntry, Rater
from relevansi.db.tables.runs import LongWork
from relevansi.db.tables.study import Study
from relevansi.services.judging import judgments
from relevansi.services.judging.answer_ratings import AnswerRating
from relevansi.services.people import raters, sign_in
from relevansi.services.people.raters import NameTaken, NoWayIn, OwnerIsNotInvited, OwnerStays
from relevansi.services.rating import task_judgments, tasks
from relevansi.services.runs.reports import UnknownRater
from tests.conftest import NOW
from tests.services.rating.blind_raters import current_page
from tests.services.runs.runs import YES, card, click, query, run, store

MOMENT = timedelta(microseconds=1)


@pytest.fixture(name="run_id")
def _run_id(session: Session, study: Study) -> str:
    read = run(query(1, card("a"), card("b")), query(2, card("c")))
    return store(session, study, read).id


@pytest.fixture(name="ani")
def _ani(session: Session, study: Study, run_id: str) -> Rater:
    """A rater with two verdicts, one of them taken back, a grade and a note."""
    ani = raters.add(session, study, "Ani", NOW)
    judgments.judge(session, ani, run_id, 1, 1, YES, click("a1", minute=1))
    judgments.judge(session, ani, run_id, 1, 2, YES, click("a2", minute=2))
    judgments.judge(session, ani, run_id, 1, 2, None, click("a3", minute=3))
    judgments.rate(session, ani, run_id, 1, AnswerRating(quality=4), click("a4", minute=4))
    judgments.rate(session, ani, run_id, 2, AnswerRating(notes="late"), click("a5", minute=5))
    return ani


def rows(session: Session, table: type, rater_id: int) -> int:
    result = select(func.count()).where(table.rater_id == rater_id)  # type: ignore[attr-defined]
    return session.scalar(result) or 0


def logged(session: Session, action: str) -> list[tuple[str, str | None, str | None]]:
    session.flush()
    result = session.execute(
        select(LogEntry.subject, LogEntry.old, LogEntry.new).where(LogEntry.action == action)
    )
    return [(subject, old, new) for subject, old, new in result]


def test_a_list_has_progress(session: Session, study: Study, rater: Rater, ani: Rater) -> None:
    budi = raters.add(session, study, "Budi", NOW)
    raters.remove(session, ani, NOW)

    owner, second, last = raters.lines(session, study)

    assert (owner.id, owner.is_owner, owner.judgments, owner.last_seen) == (rater.id, True, 0, None)
    assert (second.id, second.removed_at) == (budi.id, None)
    assert (last.id, last.judgments, last.ratings, last.removed_at) == (ani.id, 1, 1, NOW)
    assert last.last_seen == NOW + timedelta(minutes=5)


def test_two_raters_never_share_a_name(
    session: Session, study: Study, ani: Rater, rater: Rater
) -> None:
    same = (
        *("ANI", "A\u200bni", "\u202eAni", "Ani\u3164", "\uff21ni"),
        *("\N{CYRILLIC CAPITAL LETTER A}ni", "An\N{GREEK SMALL LETTER IOTA}", "Ani"),
    )
    for name in same:
        with pytest.raises(NameTaken):
            raters.add(session, study, name, NOW)
        with pytest.raises(NameTaken):
            raters.rename(session, rater, name, NOW)
        raters.rename(session, ani, name, NOW)

        assert ani.name == name
    names = [(old, new) for _, old, new in logged(session, "rename rater")]
    assert names == [*pairwise(("Ani", *same))]


def test_removing_keeps_judgments_and_signs_out(session: Session, study: Study, ani: Rater) -> None:
    old = raters.make(session, ani, NOW)
    carried = sign_in.rater_cookie(raters.accept(session, study, old.token, NOW))
    assert sign_in.current_user(session, carried, NOW).rater_id == ani.id

    raters.remove(session, ani, NOW)

    assert sign_in.current_user(session, carried, NOW).rater_id is None
    assert raters.removal_cost(session, ani) == {"judgments": 1, "ratings": 2, "events": 5}
    assert rows(session, StoredSummary, ani.id) == 2
    with pytest.raises(NameTaken):
        raters.invite(session, study, "Ani", NOW)
    raters.restore(session, ani, NOW)
    with pytest.raises(NoWayIn):
        raters.accept(session, study, old.token, NOW)
    new = raters.make(session, ani, NOW)
    assert raters.accept(session, study, new.token, NOW).rater is ani


def test_unfinished_tasks_are_free_for_others(session: Session, study: Study, run_id: str) -> None:
    assert run_id
    study.overlap = 1
    ani, budi = (raters.add(session, study, name, NOW) for name in ("Ani", "Budi"))
    task = tasks.next_task(session, ani, NOW)
    assert task is not None
    first = task.question_id

    raters.remove(session, ani, NOW)

    offered = tasks.next_task(session, budi, NOW)
    assert offered is not None
    assert offered.question_id == first


def test_deleting_leaves_a_count_and_nothing_else(
    session: Session, study: Study, rater: Rater, ani: Rater, run_id: str
) -> None:
    judgments.judge(session, rater, run_id, 1, 1, YES, click("o1"))
    page = current_page(session, ani)
    task_judgments.judge(session, ani, page.task_id, page.cards[0].key, YES, click("t1"))
    judgments.undo(session, ani, run_id, click("u1"))
    item = session.scalars(select(JudgedItem.id).limit(1)).one()
    session.add(Adjudication(judged_item_id=item, verdict="1", reason="", rater_id=ani.id, at=NOW))
    raters.make(session, ani, NOW)
    raters.rename(session, ani, "Ani S.", NOW)
    session.flush()
    ani_id, cost = ani.id, raters.removal_cost(session, ani)
    for name, data in (("kept", b"Ani"), ("open", None)):
        session.add(
            LongWork(
                id=name, study_id=study.id, kind="k", wanted={}, put_down_at=NOW, state="done",
                data=data,
            )
        )  # fmt: skip
    session.flush()

    raters.delete_rater(session, ani, NOW)

    tables = (Event, Adjudication, Task, Judgment, QueryRating, StoredSummary, Invitation)
    assert [rows(session, table, ani_id) for table in tables] == [0] * len(tables)
    assert session.scalars(select(LongWork.id)).all() == ["open"]
    assert rows(session, Judgment, rater.id) == 1
    assert rows(session, StoredSummary, rater.id) == 2
    with pytest.raises(UnknownRater):
        raters.find(session, study, ani_id)
    gone = ", ".join(f"{count} {name}" for name, count in cost.items())
    assert logged(session, "delete rater") == [(f"rater {ani_id}", gone, None)]
    session.flush()
    log_rows = session.execute(select(LogEntry.subject, LogEntry.old, LogEntry.new))
    assert "Ani" not in " ".join(str(part) for row in log_rows for part in row)


def test_the_owner_is_neither_removed_nor_invited(
    session: Session, study: Study, rater: Rater
) -> None:
    for way in (raters.remove, raters.delete_rater):
        with pytest.raises(OwnerStays):
            way(session, rater, NOW)
    with pytest.raises(OwnerIsNotInvited):
        raters.invite(session, study, rater.name, NOW)


def test_raters_and_links_of_another_study_are_not_found(session: Session, study: Study) -> None:
    second_study = Study(name="Other", created_at=NOW)
    session.add(second_study)
    session.flush()
    token = raters.invite(session, second_study, "Ani", NOW).token
    row = raters.accept(session, second_study, token, NOW)

    with pytest.raises(UnknownRater):
        raters.find(session, study, row.rater_id)
    assert raters.find_named(session, study, "Ani") is None
    with pytest.raises(NoWayIn):
        raters.accept(session, study, token, NOW)
    with pytest.raises(NoWayIn):
        raters.withdraw(session, study, row.id, NOW)


def test_a_link_lets_its_rater_in_until_it_expires(session: Session, study: Study) -> None:
    month = raters.invite(session, study, "Ani", NOW)
    day = raters.invite(session, study, "ani", NOW + MOMENT, days=1)

    last = NOW + timedelta(days=30) - MOMENT
    row = raters.accept(session, study, month.token, NOW)
    assert raters.accept(session, study, month.token, last) is row
    assert (row.rater.name, month.name, day.name) == ("Ani", "Ani", "Ani")
    assert row.token_hash == sha256(month.token.encode()).hexdigest()
    assert len(month.token) == 32  # 24 bytes, 192 bits, in base 64
    log_rows = session.execute(select(LogEntry.subject, LogEntry.old, LogEntry.new))
    assert month.token not in str(list(log_rows))
    for token, now in (
        (month.token, last + MOMENT),
        (day.token, NOW + timedelta(days=1) + MOMENT),
        *((token, NOW) for token in ("", "x", "\x00", "é" * 500, "' OR 1=1 --")),
    ):
        with pytest.raises(NoWayIn):
            raters.accept(session, study, token, now)
    later = NOW + timedelta(days=2)
    states = [line.state for line in raters.invitation_lines(session, study, later)[row.rater_id]]
    assert states == ["expired", "open"]
