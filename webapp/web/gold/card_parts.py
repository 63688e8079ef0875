"""The badges as parts of both rating pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from flask import Blueprint, Response, redirect, url_for
from msgspec import Struct
from sqlalchemy.orm import Session
from wtforms import Form

from webapp.db.tables.people import Rater
from webapp.exporters.gold.gold_questions import CARD
from webapp.i18n import gettext
from webapp.metrics.gold.constraint_rules import Outcome
from webapp.metrics.gold.constraints import Expected, QueryEvaluation
from webapp.metrics.gold.registry import CONSTRAINT_LABELS
from webapp.notation import four
from webapp.records import QueryState
from webapp.services.gold import card_badges
from webapp.services.gold.card_badges import CheckedAnswer
from webapp.services.gold.card_decisions import (
    MOST_REASON,
    Decision,
    DecisionReasonMissing,
    Step,
)
from webapp.services.gold.constraints import CheckedCard, ShownCard
from webapp.services.rating import blind_page, pages
from webapp.services.rating.blind_page import BlindPage
from webapp.services.rating.pages import RatingPage
from webapp.services.rating.pool import QueryFilter
from webapp.web.features import ShownPart
from webapp.web.frame import access, htmx
from webapp.web.frame.forms import LONGEST_ID, REQUIRED, LineField, TextField, checked
from webapp.web.gold import constraint_words
from webapp.web.gold.constraint_words import OUTCOMES, SIGNS
from webapp.web.rating.clicks import CardParts


class DecisionForm(Form):
    """A decision on a constraint of a card, or on the whole card; empty takes it back."""

    subject = LineField(LONGEST_ID)
    outcome = LineField(LONGEST_ID)
    reason = TextField(MOST_REASON)


class BlindDecisionForm(DecisionForm):
    """The same of a card that a blind rater's page calls by a name."""

    card = LineField(LONGEST_ID)


class ConstraintBadge(Struct, frozen=True):
    """One constraint on one card: its outcome as sign and word, and the reason for it."""

    name: str
    label: str
    outcome: str
    sign: str
    word: str
    rule: str
    value: str
    full_value: str
    why: str
    distance: str
    step: Step | None


class CardShown(Struct, frozen=True):
    """One card with its badges; ``badges`` omit constraints neither asked for nor decided."""

    number: int
    index: int
    shown: ShownCard
    cpr: str
    passed: bool | None
    pending: bool
    verdict: Step | None
    badges: tuple[ConstraintBadge, ...]
    not_asked: tuple[str, ...]
    steps: tuple[Step, ...]


class DecisionMistake(Struct, frozen=True):
    """The reason why a decision on a card cannot be stored, and the user's input."""

    index: int
    subject: str
    text: str


class DecisionWords(Struct, frozen=True):
    """The words of the forms that decide: constraints and outcomes by name, and a limit."""

    subjects: Mapping[str, str]
    signs: Mapping[str, str]
    outcomes: Mapping[str, str]
    most_reason: int


def decision_words() -> DecisionWords:
    """Return the words of the forms in the reader's language."""
    return DecisionWords(
        subjects={name: gettext(label) for name, label in CONSTRAINT_LABELS.items()},
        signs={str(outcome): sign for outcome, sign in SIGNS.items()},
        outcomes={str(outcome): gettext(word) for outcome, word in OUTCOMES.items()},
        most_reason=MOST_REASON,
    )


def refused(
    form: DecisionForm, session: Session, decide: Callable[[Decision], None], card: int = 0
) -> DecisionMistake | None:
    """Return why a form's decision cannot be stored; ``None`` once it was committed."""
    subject = form.subject.data or CARD
    try:
        decide(Decision(card, subject, form.outcome.data or None, form.reason.data))
    except DecisionReasonMissing:  # the form says so at its field
        session.rollback()
        return DecisionMistake(card, subject, gettext(REQUIRED))
    session.commit()
    return None


def card_shown(index: int, checked: CheckedCard) -> CardShown:
    """Return the card that is counted `index` from 0 with its badges."""
    in_force, card = checked.in_force, checked.evaluation
    badges = tuple(
        ConstraintBadge(
            name=check.constraint,
            label=gettext(CONSTRAINT_LABELS[check.constraint]),
            outcome=str(check.outcome),
            sign=SIGNS[check.outcome],
            word=gettext(OUTCOMES[check.outcome]),
            rule=constraint_words.rule_words(check.constraint, check.rule),
            value=constraint_words.value_words(check),
            full_value=constraint_words.full_value(check),
            why=constraint_words.why(check),
            distance=constraint_words.distance(check),
            step=in_force.get(check.constraint),
        )
        for check in card.checks
    )
    asked = tuple(badge for badge in badges if badge.rule or badge.step)
    return CardShown(
        number=index + 1,
        index=index,
        shown=checked.shown,
        cpr=four(card.cpr),
        passed=card.passed,
        pending=card.pending,
        verdict=in_force.get(CARD),
        badges=asked,
        not_asked=tuple(badge.label for badge in badges if badge not in asked),
        steps=checked.steps[::-1],
    )


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


def badges_of_answer(
    page: RatingPage, *, clicked: int | None = None, mistake: DecisionMistake | None = None
) -> Badges | None:
    """Return the badges of a run's page; ``None`` where its questions have no gold at all."""
    with access.reading() as (session, rater):
        if not card_badges.has_gold(session, page.run_id):
            return None
        answer = card_badges.of_answer(session, rater.study, page.run_id, page.query_id)
    repeats = {shown.number: shown.repeats for shown in page.cards}
    unjudged = {shown.number for shown in page.cards if shown.relevance is None}
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


def badges_after_verdict(run_id: str, query_id: int, rank: int | None) -> Badges | None:
    """Return the badges of a run's page after a verdict; ``None`` without any gold."""
    with access.reading() as (session, rater):
        if not card_badges.has_gold(session, run_id):
            return None
        page = pages.rating_page(session, rater, run_id, query_id, QueryFilter())
    return badges_of_answer(page, clicked=rank)


def badges_of_task(
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
    words = decision_words()
    cards = {
        one.number: _card(
            one.number,
            found[one.key],
            address,
            one.key,
            mistake if one.key == clicked else None,
            words,
        )
        for one in page.cards
        if one.key in found and _says_anything(found[one.key])
    }
    unjudged = {one.number for one in page.cards if one.relevance is None}
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
    found, words = {}, decision_words()
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
    shown = card_shown(number, checked)
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
        threshold=constraint_words.threshold(answer.threshold),
        expected_data=answer.evaluation.question.expected is Expected.HAS_DATA,
        unseen=len(answer.cards) - len(answer.by_rank),
        address=url_for("constraints.question", run_id=page.run_id, query_id=page.query_id),
    )


RESULT = "gold/card_badges/_checked.html"


def on_answer(page: RatingPage) -> CardParts | None:
    """Return the badges of a run's page; ``None`` where its questions have no gold at all."""
    badges = badges_of_answer(page)
    return None if badges is None else parts(badges)


def on_task(session: Session, rater: Rater, page: BlindPage) -> CardParts | None:
    """Return the badges of a blind rater's page; ``None`` while the study shows none."""
    badges = badges_of_task(session, rater, page)
    return None if badges is None else parts(badges)


def after_verdict(run_id: str, query_id: int, rank: int | None) -> ShownPart | None:
    """Return what a verdict on a card, or on the empty list, brings to the page of a run."""
    return _brought(badges_after_verdict(run_id, query_id, rank))


def after_blind_verdict(
    session: Session, rater: Rater, page: BlindPage, card: str
) -> ShownPart | None:
    """Return what a blind rater's verdict on a card brings to its page."""
    return _brought(badges_of_task(session, rater, page, clicked=card))


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


blueprint = Blueprint("card_decisions", __name__)

PART = "gold/card_badges/_decided.html"


class Decided(Struct, frozen=True):
    """The badges that a decision changed, and the parts of the page that they are."""

    badges: Badges
    parts: CardParts


@blueprint.post("/runs/<run_id>/queries/<int:query_id>/results/<int:rank>/decision")
def decide(run_id: str, query_id: int, rank: int) -> Response:
    """Decide on one card of a run's answer."""
    from webapp.web.rating import judgments

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
    badges = badges_of_answer(page, clicked=rank, mistake=mistake)
    assert badges is not None  # else there was no card to decide on
    if htmx.wants_part():
        return _changed(badges)
    return judgments.with_parts(page, parts(badges), 422)


@blueprint.post("/rate/<task_id>/decision")
def decide_blind(task_id: str) -> Response:
    """Decide on one card of a blind rater's question, where the study shows badges."""
    from webapp.web.rating import rate

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
        badges = badges_of_task(session, rater, page, clicked=card, mistake=mistake)
    assert badges is not None  # else the decision would have been refused
    if htmx.wants_part():
        return _changed(badges)
    if mistake is None:
        return _back("rate.show", badges.changed[0], task_id=task_id)
    return rate.with_parts(page, parts(badges), 422)


def _changed(badges: Badges) -> Response:
    decided = Decided(badges, parts(badges))
    return htmx.respond(PART, PART, decided, 200 if badges.mistake is None else 422)


def _back(endpoint: str, number: int, **where: str | int) -> Response:
    address = url_for(endpoint, _anchor=f"badges-{number}", **where)  # type: ignore[arg-type]
    return redirect(address, 303)  # type: ignore[return-value]
