"""Raters read a gold question's note, in a file without a server too, once the owner shows it."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.gold.gold_files import take_gold
from tests.services.rating.particulars import stored
from webapp.db.tables.people import LogEntry, Rater
from webapp.db.tables.study import Question, Study
from webapp.services.offline import runs
from webapp.services.rating import particulars, question_notes, tasks


def test_raters_read_a_gold_note_only_after_the_owner_shows_it(
    session: Session, study: Study, rater: Rater
) -> None:
    run_id = stored(session, study)
    (question,) = session.scalars(select(Question)).all()
    take_gold(session, rater, notes="no_data because it is full")
    session.flush()
    task = tasks.next_task(session, rater, NOW)
    assert task is not None

    def read() -> set[str]:
        return {
            particulars.of_answer(session, study, run_id, 1).note,
            particulars.of_task(session, rater, task.id).note,
            *(one.note for one in runs.offline_run(session, study, run_id).questions),
        }

    assert read() == {""}

    question_notes.show_offered(session, study, NOW)
    assert read() == {"no_data because it is full"}

    question_notes.put(session, study, {question.id: " Mine "}, NOW)
    question_notes.show_offered(session, study, NOW)
    assert read() == {"Mine"}

    question_notes.put(session, study, {question.id: ""}, NOW)
    assert read() == {""}
    assert question.note is None
    said = select(LogEntry.old, LogEntry.new).where(LogEntry.action == "set note")
    assert [tuple(row) for row in session.execute(said.order_by(LogEntry.id))] == [
        ("", "no_data because it is full"),
        ("no_data because it is full", "Mine"),
        ("Mine", ""),
    ]
