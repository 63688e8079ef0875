"""A card with its badges, and the forms that decide on them, as pages show them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct
from sqlalchemy.orm import Session

from webapp.exporters.gold.manual_input import CARD
from webapp.i18n import gettext
from webapp.metrics.gold.registry import CONSTRAINT_LABELS
from webapp.notation import four
from webapp.services.gold.card_decisions import (
    MOST_REASON,
    Decision,
    DecisionReasonMissing,
    Step,
)
from webapp.services.gold.listed_cards import CheckedCard, ShownCard
from webapp.web.frame.fields import REQUIRED
from webapp.web.gold import constraint_words
from webapp.web.gold.constraint_words import OUTCOMES, SIGNS
from webapp.web.gold.decision_forms import DecisionForm


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


def words() -> DecisionWords:
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
