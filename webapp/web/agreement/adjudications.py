"""Disputed judged things as a page: each with its votes and the form that settles it."""

from __future__ import annotations

from dataclasses import dataclass

from flask import Blueprint, Response, make_response, redirect, render_template, request, url_for
from wtforms import BooleanField, Form

from webapp.i18n import gettext
from webapp.services.agreement import adjudications
from webapp.services.agreement.adjudications import MOST_REASON, Dispute, Docket, ReasonMissing
from webapp.services.runs.provenance import LabelCounts
from webapp.web.frame import access, htmx
from webapp.web.frame.fields import (
    LONGEST_ANSWER,
    LONGEST_LABEL,
    REQUIRED,
    UNUSABLE,
    LineField,
    TextField,
)
from webapp.web.frame.forms import UnusableForm, checked

blueprint = Blueprint("adjudications", __name__, url_prefix="/adjudications")

PORTION = 20


class SettlementForm(Form):
    """The verdict that settles a dispute, and why."""

    verdict = LineField(LONGEST_LABEL)
    reason = TextField(LONGEST_ANSWER)


class NamesForm(Form):
    """Whether the raters' names are wanted."""

    shown = BooleanField()


@dataclass(frozen=True, slots=True)
class SettlementMistake:
    """The reason why a settlement cannot be stored."""

    thing_id: int
    text: str


@dataclass(frozen=True, slots=True)
class AdjudicationPage:
    """The disputes to settle, as many as are shown, and those that were settled."""

    open: tuple[Dispute, ...]
    n_open: int
    settled: tuple[Dispute, ...]
    counts: LabelCounts
    names_shown: bool
    more: int | None
    most_reason: int
    mistake: SettlementMistake | None = None
    clicked: bool = False


@dataclass(frozen=True, slots=True)
class SettledDispute:
    """One dispute after a click, and the counts that it changed."""

    dispute: Dispute
    counts: LabelCounts
    most_reason: int
    mistake: SettlementMistake | None = None
    clicked: bool = True


@blueprint.get("/")
def show() -> str:
    """List the disputes, the most disputed first."""
    with access.reading() as (session, rater):
        docket = adjudications.docket(session, rater.study)
    return render_template("agreement/adjudications/page.html", **htmx.names(_page(docket)))


@blueprint.post("/<int:thing_id>")
def settle(thing_id: int) -> Response:
    """Settle one dispute with a verdict and a reason."""
    form = checked(SettlementForm)
    verdict, reason = form.verdict.data, form.reason.data
    with access.writing() as (session, rater):
        try:
            adjudications.adjudicate(session, rater, thing_id, verdict, reason, access.now())
        except ReasonMissing:
            session.rollback()
            return _answer(thing_id, SettlementMistake(thing_id, gettext(REQUIRED)))
        except adjudications.UnfitVerdict as error:
            raise UnusableForm({"verdict": gettext(UNUSABLE)}) from error
        session.commit()
    return _answer(thing_id)


@blueprint.post("/<int:thing_id>/withdraw")
def withdraw(thing_id: int) -> Response:
    """Take a settlement back."""
    with access.writing() as (session, rater):
        adjudications.withdraw(session, rater, thing_id, access.now())
        session.commit()
    return _answer(thing_id)


@blueprint.post("/names")
def show_names() -> Response:
    """Show the raters' names, or hide them again; either is logged."""
    form = checked(NamesForm)
    with access.writing() as (session, rater):
        shown = bool(form.shown.data)
        adjudications.show_names(session, rater, shown=shown, now=access.now())
        session.commit()
    return redirect(url_for("adjudications.show"), 303)  # type: ignore[return-value]


def _answer(thing_id: int, mistake: SettlementMistake | None = None) -> Response:
    """Answer with the parts a click changed, or send a browser without a script back."""
    if mistake is None and not htmx.wants_part():
        address = url_for("adjudications.show", _anchor=f"dispute-{thing_id}")
        return redirect(address, 303)  # type: ignore[return-value]
    with access.reading() as (session, rater):
        docket = adjudications.docket(session, rater.study)
    status = 200 if mistake is None else 422
    if not htmx.wants_part():
        page = htmx.names(_page(docket, mistake))
        return make_response(render_template("agreement/adjudications/page.html", **page), status)
    part = "agreement/adjudications/_clicked.html"
    dispute = next(one for one in (*docket.open, *docket.settled) if one.thing_id == thing_id)
    clicked = SettledDispute(dispute, docket.counts, MOST_REASON, mistake)
    return htmx.respond(part, part, clicked, status)


def _page(docket: Docket, mistake: SettlementMistake | None = None) -> AdjudicationPage:
    shown = max(PORTION, request.args.get("shown", PORTION, type=int))
    return AdjudicationPage(
        open=docket.open[:shown],
        n_open=len(docket.open),
        settled=docket.settled,
        counts=docket.counts,
        names_shown=docket.names_shown,
        more=shown + PORTION if len(docket.open) > shown else None,
        most_reason=MOST_REASON,
        mistake=mistake,
    )
