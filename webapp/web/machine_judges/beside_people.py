"""How far a machine judge agrees with people, and the owner's word on using its figures."""

from __future__ import annotations

from flask import Blueprint, Response, redirect, render_template, url_for
from msgspec import Struct

from webapp.i18n import gettext
from webapp.metrics.agreement.agreement import EXPLANATIONS
from webapp.metrics.agreement.registry import COEFFICIENTS
from webapp.metrics.judging.registry import Measure
from webapp.records import Relevance
from webapp.services.machine_judges import beside_people, judges
from webapp.services.machine_judges.beside_people import FEWEST_SHARED, Beside, BesidePeople
from webapp.services.machine_judges.judges import JudgeLine
from webapp.web.agreement import agreement
from webapp.web.agreement.agreement import CoefficientsLine
from webapp.web.frame import access, htmx
from webapp.web.rating.figures import UndefinedReason, reasons_of

blueprint = Blueprint(
    "machine_beside_people", __name__, url_prefix="/study/machine-judges/<int:judge_id>"
)

WANTED = tuple(name for name in COEFFICIENTS if name != "fleiss_kappa")
"""The coefficients of a machine beside people; Fleiss' is for more than two."""
FIRST_SHOWN, MOST_SHOWN = 10, 200


class BesidePage(Struct, frozen=True):
    """The table, the coefficients and the cards, those first on which both differ.

    ``rows`` are by the machine's verdict, their cells by people's. ``apart_too`` unfold below
    the first ones. ``others`` are cards on which they agree or one cannot tell; ``hidden`` of
    them are not shown.
    """

    judge: JudgeLine
    found: BesidePeople
    fewest: int
    verdicts: tuple[Relevance, ...]
    rows: tuple[tuple[Relevance, tuple[int, ...]], ...]
    overall: CoefficientsLine
    people: tuple[CoefficientsLine, ...]
    apart: tuple[Beside, ...]
    apart_too: tuple[Beside, ...]
    others: tuple[Beside, ...]
    hidden: int
    measures: tuple[Measure, ...]
    reasons: tuple[UndefinedReason, ...]


@blueprint.get("/agreement")
def show(judge_id: int) -> str:
    """Show a machine's verdicts beside people's."""
    with access.reading() as (session, owner):
        judge = judges.find(session, owner.study, judge_id)
        found = beside_people.report(session, owner.study, judge)
        lines = judges.lines(session, owner.study)
    apart = tuple(card for card in found.cards if card.is_apart)
    others = tuple(card for card in found.cards if not card.is_apart)
    context = BesidePage(
        judge=next(one for one in lines if one.id == judge_id),
        found=found,
        fewest=FEWEST_SHARED,
        verdicts=tuple(Relevance),
        rows=tuple(
            (said, tuple(found.table.get((said, people), 0) for people in Relevance))
            for said in Relevance
        ),
        overall=agreement.line(gettext("Machine and people"), found.agreement, WANTED),
        people=tuple(agreement.line(one.name, one.agreement, WANTED) for one in found.people),
        apart=apart[:FIRST_SHOWN],
        apart_too=apart[FIRST_SHOWN:],
        others=others[:MOST_SHOWN],
        hidden=max(0, len(others) - MOST_SHOWN),
        measures=tuple(COEFFICIENTS[name] for name in WANTED),
        reasons=reasons_of(EXPLANATIONS),
    )
    return render_template("machine_judges/agreement.html", **htmx.names(context))


@blueprint.post("/release")
def release(judge_id: int) -> Response:
    """Let the judge's figures be chosen."""
    with access.writing() as (session, owner):
        judge = judges.find(session, owner.study, judge_id)
        beside_people.release(session, owner.study, judge, access.now())
        session.commit()
    return after_refusal(judge_id)


@blueprint.post("/withdraw")
def withdraw(judge_id: int) -> Response:
    """Let the judge's figures be chosen no more."""
    with access.writing() as (session, owner):
        judge = judges.find(session, owner.study, judge_id)
        beside_people.withdraw(session, owner.study, judge, access.now())
        session.commit()
    return after_refusal(judge_id)


@blueprint.get("/withdraw")
@blueprint.get("/release")
def after_refusal(judge_id: int) -> Response:
    """Go to the page: a reload or a change of language comes here after a refusal."""
    return redirect(url_for("machine_beside_people.show", judge_id=judge_id), 303)  # type: ignore[return-value]
