"""How pages write ratios: as 0.94, or as 94% where the reader chose so in this browser.

Files and reports always have decimals: their addresses end as files do.
"""

from __future__ import annotations

from pathlib import PurePosixPath

from flask import Blueprint, Flask, Response, redirect, request
from wtforms import Form

from webapp import notation
from webapp.web.frame import language
from webapp.web.frame.fields import ChoiceField
from webapp.web.frame.forms import checked

blueprint = Blueprint("ratios", __name__)

COOKIE = "ratios"
WAYS = (notation.DECIMALS, notation.PERCENT)
EXAMPLE = 0.94


class RatiosForm(Form):
    """The way in which the reader wants ratios."""

    to = ChoiceField(WAYS)


def write(app: Flask) -> None:
    """Put the reader's way of writing ratios in force for the length of every request."""
    app.before_request(_begin)


@blueprint.post("/ratios")
def switch() -> Response:
    """Keep how ratios are written and go back to where the reader was."""
    wanted = checked(RatiosForm).to.data
    response = redirect(language.back(), 303)
    response.set_cookie(COOKIE, wanted, max_age=language.YEAR, httponly=True, samesite="Lax")
    return response  # type: ignore[return-value]


def examples() -> dict[str, str]:
    """Return what one ratio looks like written each way."""
    found = {}
    for way in WAYS:
        with notation.writing_ratios(way):
            found[way] = notation.figure(EXAMPLE)
    return found


def _begin() -> None:
    chosen = request.cookies.get(COOKIE)
    is_file = bool(PurePosixPath(request.path).suffix)
    notation.write_ratios(chosen if chosen in WAYS and not is_file else notation.DECIMALS)
