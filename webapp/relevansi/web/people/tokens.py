"""The tokens by which programs come in: made, shown once and withdrawn."""

from __future__ import annotations

from flask import Blueprint, Response, make_response, render_template, url_for
from wtforms import Form

from relevansi.i18n import gettext, mark
from relevansi.services.people import tokens
from relevansi.services.people.tokens import DAYS, LONGEST_NAME, MEANINGS, SCOPES, NewToken
from relevansi.web.frame import access, forms
from relevansi.web.frame.forms import UNUSABLE, LineField, ListField, WholeField
from relevansi.web.frame.htmx import see_other
from relevansi.web.programs.openapi import document

blueprint = Blueprint("tokens", __name__, url_prefix="/tokens")

CHOICES = (1, 7, 30, DAYS, 365)
"""The choices of days for which a token holds."""
OF_OWNER = ("gate", "import", "everything")
"""The scopes that a rater has nothing to do with."""
NO_SCOPE = mark("Please choose what the token is for.")


class TokenForm(Form):
    name = LineField(LONGEST_NAME)
    scope = ListField()
    days = WholeField(1, 365, default=DAYS, wrong=UNUSABLE)


@blueprint.get("/")
def index() -> str:
    return _page()


@blueprint.get("/addresses")
def addresses() -> str:
    return render_template("people/tokens/addresses.html", document=document())


@blueprint.post("/")
def make() -> Response:
    """Show a new token, this once: no address and no cookie ever holds it."""
    form = forms.validated_form(TokenForm)
    chosen = [scope for scope in SCOPES if scope in form.scope.data]
    if not chosen:
        return make_response(_page(name=form.name.data, error=gettext(NO_SCOPE)), 422)
    with access.writing() as (session, rater):
        days = form.days.data or DAYS
        token = tokens.make(session, rater, form.name.data, chosen, access.now(), days=days)
    return make_response(_page(token))


@blueprint.post("/<int:token_id>/withdraw")
def withdraw(token_id: int) -> Response:
    with access.writing() as (session, rater):
        tokens.withdraw(session, rater, token_id, access.now())
    return see_other(url_for("tokens.index"))


def _page(token: NewToken | None = None, name: str = "", error: str = "") -> str:
    with access.reading() as (session, rater):
        return render_template(
            "people/tokens/page.html",
            lines=tokens.lines(session, rater, access.now()),
            new_token=token,
            name=name,
            error=error,
            meanings={s: m for s, m in MEANINGS.items() if rater.is_owner or s not in OF_OWNER},
            choices=CHOICES,
            usual=DAYS,
        )
