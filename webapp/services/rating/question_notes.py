"""The owner's note on a question, which raters read above its cards.

A note of a gold question may reveal the expected answer ("no_data because ..."), so raters read
it only after the owner chose to show it: it then is the owner's note, like one that was typed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from msgspec import Struct
from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp.db.tables.evaluations import GoldVersion
from webapp.db.tables.runs import Query
from webapp.db.tables.study import Question, QuestionSet, Study
from webapp.services.study import studies

NOTE_KEYS = ("notes", "note", "evaluation_criteria", "evaluation criteria", "criteria")
"""Where a gold question carries its note: the first that is there."""
LONGEST = 2000
"""Characters of a note."""


class QuestionNote(Struct, frozen=True):
    """One question with the note that raters read, and that of its gold question."""

    id: int
    position: int
    question: str
    category: str
    text: str
    offered: str

    @property
    def is_offered(self) -> bool:
        """Whether the question has no note but the offered one."""
        return bool(self.offered) and not self.text


def notes(session: Session, study: Study) -> list[tuple[int, tuple[QuestionNote, ...]]]:
    """Return the questions of every question set of the study with their notes, by set."""
    sets = session.scalars(
        select(QuestionSet).where(QuestionSet.study_id == study.id).order_by(QuestionSet.id)
    )
    return [(one.id, tuple(_lines(session, one))) for one in sets if one.questions]


def put(session: Session, study: Study, typed: Mapping[int, str], now: datetime) -> None:
    """Set the notes that were typed, by question, logging each change."""
    for _, lines in notes(session, study):
        for line in lines:
            text = typed.get(line.id, line.text).replace("\r\n", "\n").strip()[:LONGEST]
            if text == line.text:
                continue
            session.get_one(Question, line.id).note = text or None
            subject = f"question {line.position}"
            studies.log(session, study, "set note", subject, line.text, text, now)


def show_offered(
    session: Session, study: Study, now: datetime, question_id: int | None = None
) -> None:
    """Let raters read the offered note of one question, or of all, that has no other note."""
    offered = {
        line.id: line.offered
        for _, lines in notes(session, study)
        for line in lines
        if line.is_offered and question_id in (None, line.id)
    }
    put(session, study, offered, now)


def _lines(session: Session, found: QuestionSet) -> Iterable[QuestionNote]:
    known = _notes_of_gold(session, found.id)
    asked = select(Query.question_id, Query.query_id).join(Question)
    rows = session.execute(
        asked.where(Question.question_set_id == found.id).order_by(Query.query_id.desc())
    )
    numbers: dict[int, int] = dict(rows.all())
    for question in found.questions:
        offered = known.get(numbers.get(question.id, question.position), "")[:LONGEST]
        yield QuestionNote(
            id=question.id,
            position=question.position,
            question=question.text,
            category=question.category,
            text=question.note or "",
            offered=offered,
        )


def _notes_of_gold(session: Session, question_set_id: int) -> dict[int, str]:
    document = session.scalar(
        select(GoldVersion.document)
        .where(GoldVersion.question_set_id == question_set_id)
        .order_by(GoldVersion.id.desc())
        .limit(1)
    )
    questions = document["questions"] if document else []
    return {question["id"]: note for question in questions if (note := _note_in(question))}


def _note_in(question: Mapping[str, object]) -> str:
    for key in NOTE_KEYS:
        value = question.get(key)
        if isinstance(value, str) and value.strip():
            return value.strip()
    return ""
