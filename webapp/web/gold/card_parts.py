"""The badges as parts of both rating pages."""

from __future__ import annotations

from sqlalchemy.orm import Session

from webapp.db.tables.people import Rater
from webapp.services.rating import blind_page
from webapp.services.rating.blind_page import BlindPage
from webapp.services.rating.pages import RatingPage
from webapp.web.feature import ShownPart
from webapp.web.gold import card_badges
from webapp.web.gold.card_badges import Badges
from webapp.web.rating.parts import CardParts

RESULT = "gold/card_badges/_checked.html"


def on_answer(page: RatingPage) -> CardParts | None:
    """Return the badges of a run's page; ``None`` where its questions have no gold at all."""
    badges = card_badges.on_answer(page)
    return None if badges is None else parts(badges)


def on_task(session: Session, rater: Rater, page: BlindPage) -> CardParts | None:
    """Return the badges of a blind rater's page; ``None`` while the study shows none."""
    badges = card_badges.on_task(session, rater, page)
    return None if badges is None else parts(badges)


def after_verdict(run_id: str, query_id: int, rank: int | None) -> ShownPart | None:
    """Return what a verdict on a card, or on the empty list, brings to the page of a run."""
    return _brought(card_badges.after_verdict(run_id, query_id, rank))


def after_blind_verdict(
    session: Session, rater: Rater, task_id: str, card: str
) -> ShownPart | None:
    """Return what a blind rater's verdict on a card brings to its page."""
    if not rater.study.badges_while_blind:
        return None
    page = blind_page.blind_page(session, rater, task_id)
    return _brought(card_badges.on_task(session, rater, page, clicked=card))


def _brought(badges: Badges | None) -> ShownPart | None:
    if badges is None:
        return None
    return ShownPart("gold/card_badges/_judged.html", {"badges": badges, "parts": parts(badges)})


def parts(badges: Badges) -> CardParts:
    """Return badges as the parts of a page: below each card, and the result of the question."""
    return CardParts(
        styles=("gold/card_badges.css",),
        scripts=("gold/card_badges.js",),
        under={
            number: ShownPart("gold/card_badges/_badges.html", card)
            for number, card in badges.cards.items()
        }
        | {number: ShownPart("gold/card_badges/_later.html", number) for number in badges.later},
        end=ShownPart(RESULT, badges.checked) if badges.is_asked else None,
    )
