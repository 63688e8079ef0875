"""The constraint marks as parts of both rating pages, and the decisions made there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import Any

from flask import Response, url_for
from msgspec import Struct
from sqlalchemy.orm import Session
from wtforms import Form

from relevansi.db.tables.people import Rater
from relevansi.db.tables.study import Study
from relevansi.i18n import gettext
from relevansi.metrics.gold.constraint_rules import Outcome
from relevansi.metrics.gold.constraints import CARD
from relevansi.records import QueryState
from relevansi.services.gold import gold, marks
from relevansi.services.gold.constraints import CheckedCard
from relevansi.services.gold.decisions import MAX_REASON, Decision
from relevansi.services.gold.marks import CheckedAnswer
from relevansi.services.judging.reasons import ReasonMissing
from relevansi.services.rating.blind_pages import BlindPage
from relevansi.services.rating.open_pages import RatingPage
from relevansi.services.rating.pages import JudgedCard
from relevansi.web.frame import access, htmx
from relevansi.web.frame.forms import LONGEST_ID, REQUIRED, LineField, TextField
from relevansi.web.gold import constraint_words


class DecisionForm(Form):
    """A decision on a constraint of a card, or on the whole card; empty takes it back.

    ``card`` names the card on a blind rater's page.
    """

    subject = LineField(LONGEST_ID)
    outcome = LineField(LONGEST_ID)
    reason = TextField(MAX_REASON)
    card = LineField(LONGEST_ID)


class DecisionMistake(Struct, frozen=True):
    """The reason why a decision on a card cannot be stored, and the user's input."""

    index: int
    subject: str
    text: str


class Marks(Struct, frozen=True):
    """The marks on a rating page below its cards, by number; `question` is the one shown there.

    ``end`` is the result of the question with the address of all its cards, or ``None`` until all
    that is shown is judged. ``changed`` are the numbers of the cards that a decision or a verdict
    changed.
    """

    question: str
    under: Mapping[int, dict[str, Any]]
    has_end: bool = False
    end: tuple[CheckedAnswer, str] | None = None
    changed: tuple[int, ...] = ()
    mistake: DecisionMistake | None = None


def store_decision(
    form: DecisionForm,
    session: Session,
    decide: Callable[[Decision, datetime], None],
    card: int = 0,
) -> DecisionMistake | None:
    """Store a form's decision by `decide`; return why it cannot be stored, ``None`` once it is."""
    subject = form.subject.data or CARD
    try:
        decision = Decision(card, subject, form.outcome.data or None, form.reason.data)
        decide(decision, access.now())
    except ReasonMissing:  # the form says so at its field
        session.rollback()
        return DecisionMistake(card, subject, gettext(REQUIRED))
    return None


def of_answer(
    session: Session,
    study: Study,
    page: RatingPage,
    *,
    clicked: int | None = None,
    mistake: DecisionMistake | None = None,
) -> Marks | None:
    """Return the marks of a run's page; ``None`` where its questions have no gold at all."""
    where: dict[str, Any] = {"run_id": page.run_id, "query_id": page.query_id}
    if not gold.has_gold(session, page.run_id):
        return None
    answer = marks.of_answer(session, study, page.run_id, page.query_id)
    by_rank = answer.by_rank if answer else {}
    address = partial(url_for, "card_decisions.decide", **where)
    is_open = any(card.relevance is None for card in page.cards) or (
        page.state is QueryState.EMPTY and page.empty_outcome is None
    )
    repeats = {card.number: card.repeats for card in page.cards}
    under = {}
    for card in page.cards:
        rank, checked = card.number, by_rank.get(card.number)
        if checked is not None and _says_anything(checked):
            own_mistake = mistake if rank == clicked else None
            under[rank] = _card_marks(card, checked, address(rank=rank), mistake=own_mistake)
    return Marks(
        question=str(page.query_id),
        under=under,
        has_end=answer is not None,
        end=(answer, url_for("constraints.question", **where)) if answer and not is_open else None,
        changed=() if clicked is None else (clicked, *repeats.get(clicked, ())),
        mistake=mistake,
    )


def of_task(
    session: Session,
    rater: Rater,
    page: BlindPage,
    *,
    clicked: str | None = None,
    mistake: DecisionMistake | None = None,
) -> Marks | None:
    """Return the marks of a blind rater's page; ``None`` while the study shows none."""
    if not rater.study.badges_while_blind:
        return None
    marks_by_key = marks.of_task(session, rater, page.task_id)
    address = url_for("card_decisions.decide_blind", task_id=page.task_id)
    under, changed = {}, []
    for card in page.cards:
        checked = marks_by_key.get(card.key)
        if checked is not None and _says_anything(checked):
            is_clicked = card.key == clicked
            own_mistake = mistake if is_clicked else None
            under[card.number] = _card_marks(card, checked, address, card.key, own_mistake)
            changed += [card.number] * is_clicked
    return Marks(page.task_id, under, changed=tuple(changed), mistake=mistake)


def decision_response(marks: Marks) -> Response:
    """Return the marks that a decision changed, or why it could not be stored."""
    status = 422 if marks.mistake else 200
    return htmx.part("gold/card_badges/_decided.html", status, moved=marks)


def verdict_response(marks: Marks | None) -> Response:
    """Return the marks that a verdict on a card brings or takes away, if there are any."""
    if marks is None:
        return Response(status=204)
    return htmx.part("gold/card_badges/_moved.html", moved=marks)


def _says_anything(card: CheckedCard) -> bool:
    """Whether there is anything to show: a question may ask nothing of its cards."""
    asks = any(check.outcome is not Outcome.NA for check in card.evaluation.checks)
    return asks or card.evaluation.pending or bool(card.steps)


def _card_marks(
    card_of_page: JudgedCard,
    card: CheckedCard,
    address: str,
    key: str = "",
    mistake: DecisionMistake | None = None,
) -> dict[str, Any]:
    """Return the marks below one card, none until it is judged; `key` names it to a blind task."""
    doubtful = [c for c in card.relevant_checks if c.outcome in {Outcome.FAIL, Outcome.MISSING}]
    likely = next((check.constraint for check in (*doubtful, *card.relevant_checks)), "")
    return {
        "number": card_of_page.number,
        "card": None if card_of_page.relevance is None else card,
        "address": address,
        "key": key,
        "likely": mistake.subject if mistake else likely,
        "mistake": mistake,
        "words": constraint_words,
    }
