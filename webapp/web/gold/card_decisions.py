"""Decisions by hand on the cards of both rating pages: overridden badges, cards passed or failed.

A click answers with the badges it changed; a form sent without a script is sent back to its
card, or shown again with what is missing.
"""

from __future__ import annotations

from flask import Blueprint, Response, redirect, url_for
from msgspec import Struct

from webapp.services.gold import card_badges
from webapp.services.rating import blind_page
from webapp.web.frame import access, htmx
from webapp.web.frame.forms import checked
from webapp.web.gold import card_badges as below_cards
from webapp.web.gold import card_parts
from webapp.web.gold.card_badges import Badges
from webapp.web.gold.constraint_cards import refused
from webapp.web.gold.decision_forms import BlindDecisionForm, DecisionForm
from webapp.web.rating import judgments, rate
from webapp.web.rating.parts import CardParts

blueprint = Blueprint("card_decisions", __name__)

PART = "gold/card_badges/_decided.html"


class Decided(Struct, frozen=True):
    """The badges that a decision changed, and the parts of the page that they are."""

    badges: Badges
    parts: CardParts


@blueprint.post("/runs/<run_id>/queries/<int:query_id>/results/<int:rank>/decision")
def decide(run_id: str, query_id: int, rank: int) -> Response:
    """Decide on one card of a run's answer."""
    form = checked(DecisionForm)
    with access.writing() as (session, rater):
        mistake = refused(
            form,
            session,
            lambda wanted: card_badges.decide_on_answer(
                session, rater, run_id, query_id, rank, wanted, access.now()
            ),
        )
    if mistake is None and not htmx.wants_part():
        return _back("judgments.show", rank, run_id=run_id, query_id=query_id)
    page = judgments.page_of(run_id, query_id)
    badges = below_cards.on_answer(page, clicked=rank, mistake=mistake)
    assert badges is not None  # else there was no card to decide on
    if htmx.wants_part():
        return _changed(badges)
    return judgments.with_parts(page, (card_parts.parts(badges),), 422)


@blueprint.post("/rate/<task_id>/decision")
def decide_blind(task_id: str) -> Response:
    """Decide on one card of a blind rater's question, where the study shows badges."""
    form = checked(BlindDecisionForm)
    card = form.card.data
    with access.writing() as (session, rater):
        mistake = refused(
            form,
            session,
            lambda wanted: card_badges.decide_in_task(
                session, rater, task_id, card, wanted, access.now()
            ),
        )
    with access.reading() as (session, rater):
        page = blind_page.blind_page(session, rater, task_id)
        badges = below_cards.on_task(session, rater, page, clicked=card, mistake=mistake)
    assert badges is not None  # else the decision would have been refused
    if htmx.wants_part():
        return _changed(badges)
    if mistake is None:
        return _back("rate.show", badges.changed[0], task_id=task_id)
    return rate.with_parts(task_id, (card_parts.parts(badges),), 422)


def _changed(badges: Badges) -> Response:
    decided = Decided(badges, card_parts.parts(badges))
    return htmx.respond(PART, PART, decided, 200 if badges.mistake is None else 422)


def _back(endpoint: str, number: int, **where: str | int) -> Response:
    address = url_for(endpoint, _anchor=f"badges-{number}", **where)  # type: ignore[arg-type]
    return redirect(address, 303)  # type: ignore[return-value]
