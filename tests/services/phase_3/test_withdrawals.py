"""A withdrawn participant is gone from every table; the files that may hold them are named."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from tests.conftest import NOW, copied
from tests.services.phase_3.participants import asked, taking_part
from tests.services.phase_3.test_findings import closing, rated
from webapp.db.engine import Database
from webapp.db.tables.base import Base
from webapp.db.tables.people import LogEntry
from webapp.db.tables.phase_3 import Participant, UserStudy
from webapp.db.tables.study import Study
from webapp.records import Relevance
from webapp.services.phase_3 import findings, participants
from webapp.services.study import studies

YES, NO = Relevance.RELEVANT, Relevance.NOT_RELEVANT
DAY = timedelta(days=1)
SECRET = "Rumah untuk ibu saya yang sakit"


def rows(session: Session) -> dict[str, int]:
    """Return how many rows every table holds, but the log."""
    session.flush()
    return {
        name: session.scalar(select(func.count()).select_from(table)) or 0
        for name, table in Base.metadata.tables.items()
        if name != "log_entries"
    }


@pytest.fixture(name="melati")
def _melati(session: Session, study: Study) -> Participant:
    return taking_part(session, study)


def test_all_rows_go_and_a_count_stays(session: Session, study: Study, melati: Participant) -> None:
    rated(session, melati, YES, NO, notes="Bagus")
    before = rows(session)
    kenari = taking_part(session, study, "Kenari")
    rated(session, kenari, YES, YES, notes="Kurang")
    asked(session, kenari, SECRET)
    closing(session, kenari, "33333", helped="Cepat")
    findings.add(session, kenari, "helped", "speed", NOW)
    findings.set_category(session, kenari, 1, "area", NOW)
    cost = participants.cost(session, kenari)

    participants.withdraw(session, kenari, NOW)

    # Two cards judged, quality and notes of one answer, five items and a text; an event each.
    assert list(cost.values()) == [2, 2, 1, 6, 10]
    after = rows(session)
    # The link that was everybody's is the study's own and stays.
    assert after.pop("participant_links") == before.pop("participant_links") + 1
    # That somebody came by it within the hour is counted by address alone, and names nobody.
    assert after.pop("attempts") == before.pop("attempts") + 1
    assert after == before
    assert session.get_one(UserStudy, study.id).withdrawn == 1
    report = findings.report(session, study, NOW)
    assert [one.pseudonym for one in report.people] == ["Melati"]
    assert (report.withdrawn, report.n_questions) == (1, 1)
    said = " ".join(
        f"{one.subject} {one.old} {one.new}" for one in session.scalars(select(LogEntry))
    )
    assert "Kenari" not in said
    assert "speed" not in said
    assert "area" not in said
    assert SECRET not in said
    assert taking_part(session, study, "Kenari").number == 3  # no number is given again


def test_files_made_meanwhile_are_named(
    session: Session, study: Study, melati: Participant
) -> None:
    participants.note_export(session, study, "before.csv", NOW - DAY)
    participants.note_export(session, study, "cards.csv", NOW + DAY)

    (copy,) = participants.copies(session, melati)
    assert (copy.subject, copy.at) == ("cards.csv", NOW + DAY)
    assert participants.copies_before_last(session, study) == []
    participants.withdraw(session, melati, NOW + 2 * DAY)
    participants.note_export(session, study, "after.csv", NOW + 3 * DAY)

    assert [one.subject for one in participants.copies_before_last(session, study)] == [
        "before.csv",
        "cards.csv",
    ]


def test_who_never_came_leaves_nothing_either(session: Session, study: Study) -> None:
    taking_part(session, study)
    participants.invite(session, study, "Jalak", NOW)
    jalak = participants.everybody(session, study)[1]

    assert participants.copies(session, jalak) == ()
    assert participants.cost(session, jalak)["events"] == 0
    participants.withdraw(session, jalak, NOW)

    assert [one.pseudonym for one in participants.everybody(session, study)] == ["Melati"]


def test_no_trace_is_left_in_the_sqlite_file(sqlite_template: Path, sqlite: Database) -> None:
    copied(sqlite_template, sqlite)
    with sqlite.writing() as session:
        study = studies.open_or_make(session, NOW)
        participant = taking_part(session, study)
        asked(session, participant, SECRET)
        session.commit()
    with sqlite.writing() as session:
        study = studies.open_or_make(session, NOW)
        (participant,) = participants.everybody(session, study)
        path = Path(sqlite.description)
        assert SECRET.encode() in _bytes(path)
        participants.withdraw(session, participant, NOW)
        session.commit()

    sqlite.empty_journal()

    assert SECRET.encode() not in _bytes(path)
    sqlite.close()


def _bytes(path: Path) -> bytes:
    """Return the bytes of a database's file and of those beside it."""
    return b"".join(one.read_bytes() for one in path.parent.glob(path.name + "*"))
