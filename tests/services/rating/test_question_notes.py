"""Raters read the owner's note on a question above its cards."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.rating.particulars import stored
from webapp.db.tables.people import LogEntry, Rater
from webapp.db.tables.study import Question, Study
from webapp.services.rating import particulars, question_notes, tasks


def test_raters_read_the_note_that_the_owner_put_and_the_log_keeps_each(
    session: Session, study: Study, rater: Rater
) -> None:
    run_id = stored(session, study)
    (question,) = session.scalars(select(Question)).all()
    session.flush()
    task = tasks.next_task(session, rater, NOW)
    assert task is not None

    def read() -> set[str]:
        return {
            particulars.of_answer(session, study, run_id, 1).note,
            particulars.of_task(session, rater, task.id).note,
        }

    assert read() == {""}

    question_notes.put(session, study, {question.id: " Mine "}, NOW)
    assert read() == {"Mine"}

    question_notes.put(session, study, {question.id: ""}, NOW)
    assert read() == {""}
    assert question.note is None
    said = select(LogEntry.old, LogEntry.new).where(LogEntry.action == "set note")
    assert [tuple(row) for row in session.execute(said.order_by(LogEntry.id))] == [
        ("", "Mine"),
        ("Mine", ""),
    ]
