"""The owner's note on a question, which raters read above its cards.

A note of a gold question may reveal the expected answer ("no_data because ..."), so raters read
it only after the owner chose to show it: it then is the owner's note, like one that was typed.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from itertools import chain

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


def notes(session: Session, study: Study) -> list[list[tuple[Question, str]]]:
    """Return the questions of every question set with the notes of their gold questions, by set."""
    sets = session.scalars(
        select(QuestionSet).where(QuestionSet.study_id == study.id).order_by(QuestionSet.id)
    )
    return [_lines(session, one) for one in sets if one.questions]


def put(session: Session, study: Study, typed: Mapping[int, str], now: datetime) -> None:
    for question, _ in chain.from_iterable(notes(session, study)):
        before = question.note or ""
        text = typed.get(question.id, before).replace("\r\n", "\n").strip()[:LONGEST]
        if text != before:
            question.note = text or None
            subject = f"question {question.position}"
            studies.log(session, study, "set note", subject, before, text, now)


def show_offered(
    session: Session, study: Study, now: datetime, question_id: int | None = None
) -> None:
    """Let raters read the offered note of one question, or of all, that has no other note."""
    offered = {
        question.id: text
        for question, text in chain.from_iterable(notes(session, study))
        if text and not question.note and question_id in (None, question.id)
    }
    put(session, study, offered, now)


def _lines(session: Session, found: QuestionSet) -> list[tuple[Question, str]]:
    document = session.scalar(
        select(GoldVersion.document)
        .where(GoldVersion.question_set_id == found.id)
        .order_by(GoldVersion.id.desc())
        .limit(1)
    )
    known = {asked["id"]: _note_in(asked) for asked in (document or {}).get("questions", [])}
    asked = select(Query.question_id, Query.query_id).join(Question)
    rows = session.execute(
        asked.where(Question.question_set_id == found.id).order_by(Query.query_id.desc())
    )
    numbers: dict[int, int] = dict(rows.all())
    return [
        (question, known.get(numbers.get(question.id, question.position), "")[:LONGEST])
        for question in found.questions
    ]


def _note_in(question: Mapping[str, object]) -> str:
    found = (question.get(key) for key in NOTE_KEYS)
    return next((text for one in found if isinstance(one, str) and (text := one.strip())), "")
