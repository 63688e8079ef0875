"""What the pages of a run's question and of a blind task have in common."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from sqlalchemy.orm import Session

from relevansi import notation
from relevansi.db.tables.people import Rater
from relevansi.i18n import gettext
from relevansi.services.rating import particulars
from relevansi.services.rating.pages import QuestionPage
from relevansi.services.rating.particulars import Background
from relevansi.services.study import progress


class Work(Struct, frozen=True):
    """How far a rater is: finished questions ``of`` all, and that in words."""

    of: int
    finished: int
    sentence: str
    is_done: bool


def work(
    session: Session, rater: Rater, of: int, open_questions: int, clicks: int, *, is_done: bool
) -> Work:
    """Return how far a rater is, of `of` questions, and how long the `clicks` left take them.

    Hidden repeats may be left once no question is open.
    """
    pace = progress.pace(progress.recent_clicks(session, rater))
    sentence = gettext("%(n)s of %(of)s questions done", n=of - open_questions, of=of)
    if pace and clicks:
        time = notation.duration(pace * clicks)
        sentence = gettext("%(done)s, %(time)s left", done=sentence, time=time)
    return Work(of, of - open_questions, sentence, is_done)


def shared(page: QuestionPage, background: Background[Any]) -> dict[str, str]:
    """Return what all cards of the page have in common, of their fields and particulars."""
    particulars_by_card = [
        background.cards.get(card.key if page.is_blind else card.number) for card in page.cards
    ]
    return particulars.shared_facts([card.card for card in page.cards], particulars_by_card)
