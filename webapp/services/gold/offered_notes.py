"""The notes of gold questions, which the owner may show to raters."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp.db.tables.gold import GoldVersion

KEYS = ("notes", "note", "evaluation_criteria", "evaluation criteria", "criteria")
"""Where a gold question carries its note: the first that is there."""


def offered(session: Session, question_set_id: int) -> dict[int, str]:
    """Return the notes of the gold questions in force, by their numbers."""
    document = session.scalar(
        select(GoldVersion.document)
        .where(GoldVersion.question_set_id == question_set_id)
        .order_by(GoldVersion.id.desc())
        .limit(1)
    )
    questions = document["questions"] if document else []
    return {question["id"]: note for question in questions if (note := _note(question))}


def _note(question: Mapping[str, object]) -> str:
    for key in KEYS:
        value = question.get(key)
        if isinstance(value, str) and value.strip():
            return value.strip()
    return ""
