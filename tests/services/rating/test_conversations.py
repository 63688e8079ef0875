"""A follow-up is read with the conversation before it."""

from __future__ import annotations

from sqlalchemy.orm import Session

from tests.services.rating.open_pages import page, stored
from tests.services.runs.runs import card, query
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study
from webapp.services.rating.pages import EarlierTurn


def test_a_follow_up_shows_the_conversation_back_to_the_last_standalone_question(
    session: Session, study: Study, rater: Rater
) -> None:
    run_id = stored(
        session,
        study,
        query(1, card("a")),
        query(2, card("b")),
        query(3, card("c"), context_dependent=True),
        query(4, card("d"), context_dependent=True),
    )

    turns = page(session, rater, run_id, 4).earlier_turns
    assert turns == (
        EarlierTurn("Question 2", "Answer 2: ['b']"),
        EarlierTurn("Question 3", "Answer 3: ['c']"),
    )
    assert page(session, rater, run_id, 2).earlier_turns == ()
