"""A gold question for the question of a stored run."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.gold.gold_files import GOLD, gold_bytes
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Question
from webapp.services.gold import gold


def take_gold(session: Session, rater: Rater, **changed: object) -> None:
    """Import a gold question for the stored run's question."""
    question = {**GOLD["questions"][0], **changed}
    set_id = session.scalars(select(Question.question_set_id)).first()
    assert set_id is not None
    data = gold_bytes(questions=[question])
    gold.import_file(session, rater, set_id, "gold.json", data, NOW)
