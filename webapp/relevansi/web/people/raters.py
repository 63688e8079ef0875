"""Raters: their list and progress, their invitations, their names, their removal."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from flask import Blueprint, Response, make_response, render_template, request, url_for
from flask import session as cookie
from markupsafe import Markup
from msgspec.structs import asdict
from wtforms import Form

from relevansi.db.tables.study import Study
from relevansi.failures import Conflict
from relevansi.i18n import gettext, mark
from relevansi.services.people import raters
from relevansi.services.people.raters import (
    DAYS,
    LONGEST_NAME,
    MOST_DAYS,
    MachineIsNotInvited,
    NameTaken,
    NewLink,
    OwnerIsNotInvited,
)
from relevansi.web.frame import access, forms, origins
from relevansi.web.frame.forms import UNUSABLE, ChoiceField, NameField, WholeField
from relevansi.web.frame.htmx import see_other

blueprint = Blueprint("raters", __name__, url_prefix="/raters")

CHOICES = (1, 7, 30, 90)
"""The choices of days for which an invitation is valid."""
LINK = "link"
"""The way to add a rater by an invitation; without it they rate at this machine."""


class NoPasswordYet(Conflict):
    message = mark("The owner has no password yet")
    remedy = mark(
        "Set one on the page of the raters first, so that people who come in by a link are not the "
        "owner."
    )


class NameForm(Form):
    name = NameField(LONGEST_NAME)


class InviteForm(NameForm):
    days = WholeField(1, MOST_DAYS, default=DAYS, wrong=UNUSABLE)
    by = ChoiceField(["", LINK], default="")


class RemovalForm(Form):
    judgments = ChoiceField(["keep", "delete"], default="keep")


@blueprint.get("/")
def index() -> str:
    return _page(link=shown_once("sign_in.greet"))


@blueprint.post("/")
def add() -> Response:
    """Add a rater at this machine or by an invitation, or show why the name cannot be used."""
    form = forms.form_from_request(InviteForm)
    if not form.validate():
        return _refused_page(form, forms.messages(form))
    name, days = form.name.data, form.days.data or DAYS
    try:
        with access.writing() as (session, rater):
            if form.by.data == LINK:
                need_password(rater.study)
                link = raters.invite(session, rater.study, name, access.now(), days=days)
                show_once("sign_in.greet", link)
            else:
                raters.add(session, rater.study, name, access.now())
    except (NameTaken, MachineIsNotInvited, OwnerIsNotInvited) as refused:
        return _refused_page(form, {"name": f"{refused.sentence()}."})
    return see_other(url_for("raters.index"))


@blueprint.post("/<int:rater_id>/invitations")
def invite(rater_id: int) -> Response:
    with access.writing() as (session, owner):
        need_password(owner.study)
        rater = raters.find(session, owner.study, rater_id)
        show_once("sign_in.greet", raters.make(session, rater, access.now()))
    return see_other(url_for("raters.index"))


@blueprint.post("/invitations/<int:invitation_id>/withdraw")
def withdraw(invitation_id: int) -> Response:
    with access.writing() as (session, owner):
        raters.withdraw(session, owner.study, invitation_id, access.now())
    return see_other(url_for("raters.index"))


@blueprint.post("/<int:rater_id>/name")
def rename(rater_id: int) -> Response:
    form = forms.validated_form(NameForm)
    with access.writing() as (session, owner):
        rater = raters.find(session, owner.study, rater_id)
        raters.rename(session, rater, form.name.data, access.now())
    return see_other(url_for("raters.index"))


@blueprint.get("/<int:rater_id>/remove")
def ask_to_remove(rater_id: int) -> str:
    """Show what is deleted with a rater and what is kept, for both ways of removal."""
    with access.reading() as (session, owner):
        rater = raters.find(session, owner.study, rater_id)
        lines = raters.lines(session, owner.study)
        line = next(line for line in lines if line.id == rater.id)
        cost = raters.removal_cost(session, rater)
    return render_template("people/raters/remove.html", rater=line, cost=cost)


@blueprint.post("/<int:rater_id>/remove")
def remove(rater_id: int) -> Response:
    form = forms.validated_form(RemovalForm)
    deletes = form.judgments.data == "delete"
    with access.writing() as (session, owner):
        rater = raters.find(session, owner.study, rater_id)
        remove_rater = raters.delete_rater if deletes else raters.remove
        remove_rater(session, rater, access.now())
    if deletes:
        access.database().empty_journal()
    return see_other(url_for("raters.index"))


@blueprint.post("/<int:rater_id>/restore")
def restore(rater_id: int) -> Response:
    with access.writing() as (session, owner):
        raters.restore(session, raters.find(session, owner.study, rater_id), access.now())
    return see_other(url_for("raters.index"))


def qr_code(address: str, label: str) -> Markup:
    """Return the QR code of an address as SVG for the page itself: no style, no request."""
    import segno  # noqa: PLC0415 - the first page does without it

    code = segno.make(address, micro=False)
    drawn = code.svg_inline(scale=4, border=4, light="#fff", svgclass="qr", title=label)
    return Markup(drawn.replace("<svg", '<svg role="img"', 1))  # noqa: S704 (segno escapes)


def need_password(study: Study) -> None:
    """Raise ``NoPasswordYet`` where nobody signs in: a link would make its holder the owner."""
    if not access.has_sign_in(study):
        raise NoPasswordYet


def show_once(endpoint: str, link: NewLink) -> None:
    """Keep a new link in the owner's own cookie until the next page has shown it."""
    cookie[endpoint] = [link.token, link.expires_at.isoformat(), link.name]


def shown_once(endpoint: str) -> dict[str, Any] | None:
    """Return the link that was just made for `endpoint`, to be shown."""
    stored_link = cookie.pop(endpoint, None)
    if stored_link is None:
        return None
    token, expires_at, name = stored_link
    return link_card(endpoint, NewLink(token, datetime.fromisoformat(expires_at), name))


def link_card(endpoint: str, link: NewLink) -> dict[str, Any]:
    """Return a new link to `endpoint`, shown this once, with its QR code as SVG."""
    address = url_for(endpoint, token=link.token, _external=True)
    return asdict(link) | {
        "address": address,
        "code": qr_code(address, gettext("QR code of the link")),
        "is_local": origins.is_loopback(request.host),
    }


def _page(link: dict[str, Any] | None = None, form: InviteForm | None = None, **errors: str) -> str:
    with access.reading() as (session, owner):
        invited = raters.invitation_lines(session, owner.study, access.now())
        return render_template(
            "people/raters/page.html",
            lines=raters.lines(session, owner.study),
            # The open ones, else the newest.
            invitations={
                rater_id: [link for link in links if link.state == raters.OPEN] or links[:1]
                for rater_id, links in invited.items()
            },
            link=link,
            has_password=access.has_sign_in(owner.study),
            choices=CHOICES,
            name=form.name.data if form else "",
            days=form.days.data or DAYS if form else DAYS,
            errors=errors,
        )


def _refused_page(form: InviteForm, errors: dict[str, str]) -> Response:
    return make_response(_page(None, form, **errors), 422)
