"""The parts that features add to both rating pages, under their cards and under the rating."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct
from sqlalchemy.orm import Session

from webapp.db.tables.people import Rater
from webapp.services.evaluations import item_rating
from webapp.services.rating.blind_page import BlindPage
from webapp.services.rating.pages import RatingPage
from webapp.web.feature import ShownPart


class CardParts(Struct, frozen=True):
    """The parts that a feature adds to a rating page: under its cards, by number, and at its end.

    ``styles`` and ``scripts`` are the static files that it needs.
    """

    styles: tuple[str, ...]
    scripts: tuple[str, ...]
    under: Mapping[int, ShownPart]
    end: ShownPart | None = None


def on_answer(page: RatingPage) -> Iterator[CardParts]:
    """Yield the marks on the page of an answer of a run."""
    from webapp.web.gold import card_parts

    if (parts := card_parts.on_answer(page)) is not None:
        yield parts


def on_task(session: Session, rater: Rater, page: BlindPage) -> Iterator[CardParts]:
    """Yield the marks on the page of a blind rater's question."""
    from webapp.web.gold import card_parts

    if (parts := card_parts.on_task(session, rater, page)) is not None:
        yield parts


def after_verdict(run_id: str, query_id: int, rank: int | None) -> Iterator[ShownPart]:
    """Yield the marks on an answer's page after a verdict on a card or on all."""
    from webapp.web.gold import card_parts

    if (part := card_parts.after_verdict(run_id, query_id, rank)) is not None:
        yield part


def after_blind_verdict(
    session: Session, rater: Rater, task_id: str, card: str
) -> Iterator[ShownPart]:
    """Yield the marks on a blind rater's page after a verdict on that card."""
    from webapp.web.gold import card_parts

    if (part := card_parts.after_blind_verdict(session, rater, task_id, card)) is not None:
        yield part


def further_work(session: Session, rater: Rater) -> tuple[ShownPart, ...]:
    """Return the work beside the questions: evaluations whose items wait for raters."""
    offers = item_rating.offers(session, rater)
    return (ShownPart("evaluations/item_rating/_further.html", offers),)
