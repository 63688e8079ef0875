"""The badges as parts of both rating pages."""

from __future__ import annotations

from sqlalchemy.orm import Session

from webapp.db.tables.people import Rater
from webapp.services.rating.blind_page import BlindPage
from webapp.services.rating.pages import RatingPage
from webapp.web.frame.rooms import ShownPart
from webapp.web.gold import card_badges
from webapp.web.gold.card_badges import Badges
from webapp.web.rating.parts import CardParts


def on_answer(page: RatingPage) -> CardParts | None:
    """Return the badges of a run's page; ``None`` where its questions have no gold at all."""
    badges = card_badges.on_answer(page)
    return None if badges is None else parts(badges)


def on_task(session: Session, rater: Rater, page: BlindPage) -> CardParts | None:
    """Return the badges of a blind rater's page; ``None`` while the study shows none."""
    badges = card_badges.on_task(session, rater, page)
    return None if badges is None else parts(badges)


def parts(badges: Badges) -> CardParts:
    """Return badges as the parts of a page: below each card, and the result of the question."""
    checked = badges.checked
    return CardParts(
        styles=("gold/card_badges.css",),
        scripts=("gold/card_badges.js",),
        under={
            number: ShownPart("gold/card_badges/_badges.html", card)
            for number, card in badges.cards.items()
        },
        end=ShownPart("gold/card_badges/_checked.html", checked) if checked else None,
    )
