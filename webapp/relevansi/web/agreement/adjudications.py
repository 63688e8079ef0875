"""Disputed judged items as a page: each with its votes and the form that settles it."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, redirect, render_template, request, url_for
from wtforms import BooleanField, Form

from relevansi.i18n import gettext
from relevansi.services.agreement import adjudications
from relevansi.services.agreement.adjudications import MOST_REASON, Docket, ReasonMissing
from relevansi.web.frame import access, forms, htmx

blueprint = Blueprint("adjudications", __name__, url_prefix="/adjudications")

PORTION = 5
"""Disputes on one page: each takes most of a phone's screen."""


class SettlementForm(Form):
    verdict = forms.LineField(forms.LONGEST_LABEL)
    reason = forms.TextField(forms.LONGEST_ANSWER)


class NamesForm(Form):
    shown = BooleanField()


@blueprint.get("/")
def show() -> str:
    """List the open disputes, the most disputed first, or the settled ones."""
    with access.reading() as (session, rater):
        docket = adjudications.docket(session, rater.study)
    return render_template("agreement/adjudications/page.html", **_page(docket))


@blueprint.post("/<int:thing_id>")
def settle(thing_id: int) -> Response:
    form = forms.checked(SettlementForm)
    verdict, reason = form.verdict.data, form.reason.data
    with access.writing() as (session, rater):
        try:
            adjudications.adjudicate(session, rater, thing_id, verdict, reason, access.now())
        except ReasonMissing:  # the form says so at its field
            session.rollback()
            return _answer(thing_id, gettext(forms.REQUIRED))
        session.commit()
    return _answer(thing_id)


@blueprint.post("/<int:thing_id>/withdraw")
def withdraw(thing_id: int) -> Response:
    with access.writing() as (session, rater):
        adjudications.withdraw(session, rater, thing_id, access.now())
        session.commit()
    return _answer(thing_id)


@blueprint.post("/names")
def show_names() -> Response:
    form = forms.checked(NamesForm)
    with access.writing() as (session, rater):
        shown = bool(form.shown.data)
        adjudications.show_names(session, rater, is_shown=shown, now=access.now())
        session.commit()
    return redirect(url_for("adjudications.show"), 303)  # type: ignore[return-value]


def _answer(thing_id: int, mistake: str = "") -> Response:
    """Answer with the parts a click changed, or send a browser without a script back."""
    if not mistake and not htmx.wants_part():
        settled, after = _place()
        address = url_for("adjudications.show", settled=1 if settled else None, after=after)
        return redirect(address, 303)  # type: ignore[return-value]
    with access.reading() as (session, rater):
        docket = adjudications.docket(session, rater.study)
    page = _page(docket) | {"mistake": mistake, "mistaken": thing_id}
    if htmx.wants_part():
        page |= {
            "dispute": next(one for one in docket.disputes if one.thing_id == thing_id),
            "clicked": True,
        }
    return htmx.respond(
        "agreement/adjudications/page.html",
        "agreement/adjudications/_clicked.html",
        page,
        422 if mistake else 200,
    )


def _page(docket: Docket) -> dict[str, Any]:
    show_settled, after = _place()
    listed = docket.listed(settled=show_settled, after=after)
    shown = listed[:PORTION]
    return {
        "disputes": shown,
        "show_settled": show_settled,
        "after": after,
        "last": shown[-1].thing_id if len(listed) > PORTION else None,
        "n_open": len(docket.open),
        "n_settled": len(docket.settled),
        "counts": docket.counts,
        "names_shown": docket.names_shown,
        "most_reason": MOST_REASON,
        "mistake": "",
        "mistaken": None,
        "clicked": False,
    }


def _place() -> tuple[bool, int | None]:
    """Return the list of the page at work, open or settled, and the thing it begins behind."""
    return bool(request.args.get("settled")), request.args.get("after", type=int)
