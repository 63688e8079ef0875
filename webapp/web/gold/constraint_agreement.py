"""The constraints' verdicts beside people's: how well they agree, and where they differ."""

from __future__ import annotations

from flask import Blueprint, render_template
from msgspec import Struct

from webapp.i18n import gettext
from webapp.metrics.agreement.agreement import NO_SHARE_EXPLANATIONS, BinaryAgreement, NoShare
from webapp.metrics.agreement.coefficients import EXPLANATIONS as NO_AGREEMENT
from webapp.metrics.agreement.coefficients import NoAgreement
from webapp.metrics.gold.constraint_rules import Outcome
from webapp.metrics.gold.registry import CONSTRAINT_LABELS
from webapp.notation import RATIO, four
from webapp.services.gold import constraint_agreement
from webapp.services.gold.constraint_agreement import CardJudgedTwice, ConstraintAgreement
from webapp.services.runs import reports
from webapp.web.frame import access, htmx
from webapp.web.gold import constraint_words
from webapp.web.gold.constraint_words import OUTCOMES, SIGNS
from webapp.web.study import rules
from webapp.web.study.rules import RuleChoice

blueprint = Blueprint("constraint_agreement", __name__, url_prefix="/constraints/<run_id>/people")

KAPPA = "coefficient"

FIRST_SHOWN = 10
"""So many cards are listed at once on a phone too."""


class AgreementLine(Struct, frozen=True):
    """One figure: its value with its interval, or why it has none, and what it says."""

    label: str
    value: str
    bounds: str
    n: int
    meaning: str


class Apart(Struct, frozen=True):
    """One card on which machine and people differ, with the constraints that failed."""

    found: CardJudgedTwice
    cpr: str
    share: str
    failed: tuple[str, ...]


class ConstraintAgreementPage(Struct, frozen=True):
    """How well the constraints of a run predict people's verdicts under a rule.

    ``apart`` are the cards on which they differ most, ``apart_too`` the others.
    """

    found: ConstraintAgreement
    rule: RuleChoice
    rules: tuple[RuleChoice, ...]
    lines: tuple[AgreementLine, ...]
    apart: tuple[Apart, ...]
    apart_too: tuple[Apart, ...]


@blueprint.get("/")
def show(run_id: str) -> str:
    """Show the confusion table, kappa, precision and recall, and the cards to look at."""
    with access.reading() as (session, rater):
        rule = reports.rule_of(session, rater.study, rules.wanted())
        found = constraint_agreement.compare(session, rater.study, run_id, rule)
        offered = rules.choices(session, rater.study)
    page = ConstraintAgreementPage(
        found=found,
        rule=next(one for one in offered if one.name == found.rule),
        rules=offered,
        lines=_lines(found.agreement),
        apart=tuple(map(_apart, found.disagreed[:FIRST_SHOWN])),
        apart_too=tuple(map(_apart, found.disagreed[FIRST_SHOWN:])),
    )
    return render_template("gold/constraint_agreement/page.html", **htmx.names(page))


def _lines(agreement: BinaryAgreement) -> tuple[AgreementLine, ...]:
    measured = agreement.kappa
    kappa, why = _value(measured.why_undefined if measured.value is None else measured.value, KAPPA)
    low, high = measured.lower, measured.upper
    return (
        AgreementLine(
            gettext("Cohen's kappa"),
            kappa,
            why if low is None else f"[{four(low, KAPPA)}; {four(high, KAPPA)}]",
            agreement.n,
            gettext("Agreement beyond chance: 1 is full, 0 no better than chance."),
        ),
        AgreementLine(
            gettext("Raw agreement"),
            *_value(agreement.agreed),
            agreement.n,
            gettext("Cards on which both say the same."),
        ),
        AgreementLine(
            gettext("Precision"),
            *_value(agreement.precision),
            agreement.both + agreement.machine_only,
            gettext("Of the cards that meet everything, those that people call relevant."),
        ),
        AgreementLine(
            gettext("Recall"),
            *_value(agreement.recall),
            agreement.both + agreement.people_only,
            gettext("Of the cards that people call relevant, those that meet everything."),
        ),
    )


def _value(value: float | NoAgreement | NoShare | None, unit: str = RATIO) -> tuple[str, str]:
    """Return a value as it is shown and, where there is none, why."""
    if isinstance(value, NoAgreement):
        return "-", gettext(NO_AGREEMENT[value])
    if isinstance(value, NoShare):
        return "-", gettext(NO_SHARE_EXPLANATIONS[value])
    return four(value, unit), ""


def _apart(found: CardJudgedTwice) -> Apart:
    failed = [
        f"{SIGNS[check.outcome]} {gettext(CONSTRAINT_LABELS[check.constraint])}: "
        f"{constraint_words.value_words(check) or gettext(OUTCOMES[check.outcome])}"
        for check in found.checks
        if check.outcome in {Outcome.FAIL, Outcome.MISSING}
    ]
    votes = found.votes
    decided = votes.relevant + votes.not_relevant
    said = gettext("%(n)s of %(of)s call it relevant", n=votes.relevant, of=decided)
    return Apart(found, four(found.cpr), said if decided else "", tuple(failed))
