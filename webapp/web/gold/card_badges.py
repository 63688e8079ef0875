"""The badges below the cards of both rating pages: the outcome of each constraint on a card.

The rater's own verdict comes first: a card has its badges once it is judged, and the result of
a question is there once all its cards are.
"""

from __future__ import annotations

from collections.abc import Mapping

from flask import url_for
from msgspec import Struct
from sqlalchemy.orm import Session

from webapp.db.tables.people import Rater
from webapp.metrics.gold.constraint_rules import Outcome
from webapp.metrics.gold.constraints import Expected, QueryEvaluation
from webapp.records import QueryState
from webapp.services.gold import card_badges
from webapp.services.gold.card_badges import CheckedAnswer
from webapp.services.gold.listed_cards import CheckedCard
from webapp.services.rating import pages
from webapp.services.rating.blind_page import BlindPage
from webapp.services.rating.pages import RatingPage
from webapp.services.rating.pool import QueryFilter
from webapp.web.frame import access
from webapp.web.gold import constraint_cards, constraint_figures
from webapp.web.gold.constraint_cards import CardShown, DecisionMistake, DecisionWords


class CardBadges(Struct, frozen=True):
    """The badges below the card with this number on the page, and the address of its decisions.

    ``key`` names the card to a blind task and is empty on a run's page; ``likely`` is the
    constraint that would be overridden first.
    """

    number: int
    card: CardShown
    address: str
    key: str
    likely: str
    mistake: DecisionMistake | None
    words: DecisionWords


class Checked(Struct, frozen=True):
    """The result of a question of a run; ``unseen`` counts cards listed but not in its text."""

    line: QueryEvaluation
    threshold: str
    expected_data: bool
    unseen: int
    address: str


class Badges(Struct, frozen=True):
    """The badges on a rating page by number of the card; `question` is the one shown there.

    ``later`` are the numbers of the cards that get theirs once they are judged. ``is_asked`` on
    a run's page that a gold question asks about; ``checked`` is there once all of it is judged.
    ``changed`` are the
    numbers that a decision or a verdict changed.
    """

    question: str
    cards: Mapping[int, CardBadges]
    later: tuple[int, ...]
    is_asked: bool
    checked: Checked | None
    changed: tuple[int, ...] = ()
    mistake: DecisionMistake | None = None


def on_answer(
    page: RatingPage, *, clicked: int | None = None, mistake: DecisionMistake | None = None
) -> Badges | None:
    """Return the badges of a run's page; ``None`` where its questions have no gold at all."""
    with access.reading() as (session, rater):
        if not card_badges.has_gold(session, page.run_id):
            return None
        answer = card_badges.of_answer(session, rater.study, page.run_id, page.query_id)
    repeats = {shown.rank: shown.repeats for shown in page.cards}
    unjudged = {shown.rank for shown in page.cards if shown.relevance is None}
    is_open = bool(unjudged) or (page.state is QueryState.EMPTY and page.empty_outcome is None)
    cards = {} if answer is None else _by_rank(page, answer, clicked, mistake)
    return Badges(
        question=str(page.query_id),
        cards={rank: card for rank, card in cards.items() if rank not in unjudged},
        later=tuple(rank for rank in cards if rank in unjudged),
        is_asked=answer is not None,
        checked=None if answer is None or is_open else _checked(page, answer),
        changed=() if clicked is None else (clicked, *repeats.get(clicked, ())),
        mistake=mistake,
    )


def after_verdict(run_id: str, query_id: int, rank: int | None) -> Badges | None:
    """Return the badges of a run's page after a verdict; ``None`` without any gold."""
    with access.reading() as (session, rater):
        if not card_badges.has_gold(session, run_id):
            return None
        page = pages.rating_page(session, rater, run_id, query_id, QueryFilter())
    return on_answer(page, clicked=rank)


def on_task(
    session: Session,
    rater: Rater,
    page: BlindPage,
    *,
    clicked: str | None = None,
    mistake: DecisionMistake | None = None,
) -> Badges | None:
    """Return the badges of a blind rater's page; ``None`` while the study shows none."""
    if not rater.study.badges_while_blind:
        return None
    found = card_badges.of_task(session, rater, page.task_id)
    address = url_for("card_decisions.decide_blind", task_id=page.task_id)
    words = constraint_cards.words()
    cards = {
        one.position: _card(
            one.position,
            found[one.key],
            address,
            one.key,
            mistake if one.key == clicked else None,
            words,
        )
        for one in page.cards
        if one.key in found and _says_anything(found[one.key])
    }
    unjudged = {one.position for one in page.cards if one.relevance is None}
    return Badges(
        question=page.task_id,
        cards={number: card for number, card in cards.items() if number not in unjudged},
        later=tuple(number for number in cards if number in unjudged),
        is_asked=False,
        checked=None,
        changed=tuple(number for number, card in cards.items() if card.key == clicked),
        mistake=mistake,
    )


def _by_rank(
    page: RatingPage, answer: CheckedAnswer, clicked: int | None, mistake: DecisionMistake | None
) -> dict[int, CardBadges]:
    where = {"run_id": page.run_id, "query_id": page.query_id}
    found, words = {}, constraint_cards.words()
    for rank, card in answer.by_rank.items():
        if _says_anything(card):
            address = url_for("card_decisions.decide", rank=rank, **where)  # type: ignore[arg-type]
            refused = mistake if rank == clicked else None
            found[rank] = _card(rank, card, address, "", refused, words)
    return found


def _says_anything(card: CheckedCard) -> bool:
    """Whether there is anything to show: a question may ask nothing of its cards."""
    asks = any(check.outcome is not Outcome.NA for check in card.evaluation.checks)
    return asks or card.evaluation.pending or bool(card.steps)


def _card(
    number: int,
    checked: CheckedCard,
    address: str,
    key: str,
    mistake: DecisionMistake | None,
    words: DecisionWords,
) -> CardBadges:
    shown = constraint_cards.card_shown(number, checked)
    doubtful = [badge for badge in shown.badges if badge.outcome in {"fail", "missing"}]
    likely = next((badge.name for badge in (*doubtful, *shown.badges)), "")
    return CardBadges(
        number=number,
        card=shown,
        address=address,
        key=key,
        likely=mistake.subject if mistake else likely,
        mistake=mistake,
        words=words,
    )


def _checked(page: RatingPage, answer: CheckedAnswer) -> Checked:
    return Checked(
        line=answer.evaluation,
        threshold=constraint_figures.threshold(answer.threshold),
        expected_data=answer.evaluation.question.expected is Expected.HAS_DATA,
        unseen=len(answer.cards) - len(answer.by_rank),
        address=url_for("constraints.question", run_id=page.run_id, query_id=page.query_id),
    )
