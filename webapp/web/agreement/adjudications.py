"""Disputed judged things as a page: each with its votes and the form that settles it."""

from __future__ import annotations

from flask import Blueprint, Response, make_response, redirect, render_template, request, url_for
from msgspec import Struct
from wtforms import BooleanField, Form

from webapp.i18n import gettext
from webapp.services.agreement import adjudications
from webapp.services.agreement.adjudications import MOST_REASON, Dispute, Docket, ReasonMissing
from webapp.services.runs.reports import LabelCounts
from webapp.web.frame import access, htmx
from webapp.web.frame.forms import (
    LONGEST_ANSWER,
    LONGEST_LABEL,
    REQUIRED,
    LineField,
    TextField,
    checked,
)

blueprint = Blueprint("adjudications", __name__, url_prefix="/adjudications")

PORTION = 5
"""Disputes on one page: each takes most of a phone's screen."""


class SettlementForm(Form):
    """The verdict that settles a dispute, and why."""

    verdict = LineField(LONGEST_LABEL)
    reason = TextField(LONGEST_ANSWER)


class NamesForm(Form):
    """Whether the raters' names are wanted."""

    shown = BooleanField()


class SettlementMistake(Struct, frozen=True):
    """The reason why a settlement cannot be stored."""

    thing_id: int
    text: str


class AdjudicationPage(Struct, frozen=True):
    """A portion of the disputes, open or settled.

    ``after`` is the judged thing behind which the portion begins, ``last`` that behind which the
    next one does; each is ``None`` where there is none.
    """

    disputes: tuple[Dispute, ...]
    show_settled: bool
    after: int | None
    last: int | None
    n_open: int
    n_settled: int
    counts: LabelCounts
    names_shown: bool
    most_reason: int
    mistake: SettlementMistake | None = None
    clicked: bool = False


class SettledDispute(Struct, frozen=True):
    """One dispute after a click, and the counts that it changed."""

    dispute: Dispute
    show_settled: bool
    after: int | None
    n_open: int
    n_settled: int
    counts: LabelCounts
    most_reason: int
    mistake: SettlementMistake | None = None
    clicked: bool = True


@blueprint.get("/")
def show() -> str:
    """List the open disputes, the most disputed first, or the settled ones."""
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
        except ReasonMissing:  # the form says so at its field
            session.rollback()
            return _answer(thing_id, SettlementMistake(thing_id, gettext(REQUIRED)))
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
        settled, after = _place()
        address = url_for("adjudications.show", settled=1 if settled else None, after=after)
        return redirect(address, 303)  # type: ignore[return-value]
    with access.reading() as (session, rater):
        docket = adjudications.docket(session, rater.study)
    status = 200 if mistake is None else 422
    if not htmx.wants_part():
        page = htmx.names(_page(docket, mistake))
        return make_response(render_template("agreement/adjudications/page.html", **page), status)
    show_settled, after = _place()
    clicked = SettledDispute(
        dispute=next(one for one in docket.disputes if one.thing_id == thing_id),
        show_settled=show_settled,
        after=after,
        n_open=len(docket.open),
        n_settled=len(docket.settled),
        counts=docket.counts,
        most_reason=MOST_REASON,
        mistake=mistake,
    )
    part = "agreement/adjudications/_clicked.html"
    return htmx.respond(part, part, clicked, status)


def _page(docket: Docket, mistake: SettlementMistake | None = None) -> AdjudicationPage:
    show_settled, after = _place()
    listed = docket.listed(settled=show_settled, after=after)
    shown = listed[:PORTION]
    return AdjudicationPage(
        disputes=shown,
        show_settled=show_settled,
        after=after,
        last=shown[-1].thing_id if len(listed) > PORTION else None,
        n_open=len(docket.open),
        n_settled=len(docket.settled),
        counts=docket.counts,
        names_shown=docket.names_shown,
        most_reason=MOST_REASON,
        mistake=mistake,
    )


def _place() -> tuple[bool, int | None]:
    """Return the list of the page at work, open or settled, and the thing it begins behind."""
    return bool(request.args.get("settled")), request.args.get("after", type=int)
