"""The reader's language: what they chose, else what their browser prefers, else Indonesian."""

from __future__ import annotations

from contextvars import copy_context
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from flask import Blueprint, Flask, Response, redirect, request, url_for
from werkzeug.datastructures import LanguageAccept
from werkzeug.exceptions import BadRequest
from werkzeug.http import parse_accept_header
from wtforms import Form

from webapp import i18n, notation
from webapp.web.frame.forms import ChoiceField, LineField, checked

if TYPE_CHECKING:
    from collections.abc import Iterable
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment


blueprint = Blueprint("language", __name__)

COOKIE = "language"
YEAR = 365 * 24 * 3600
LONGEST_WISH = 200
"""Characters of a browser's languages; what is longer counts as none, so that it is not kept."""
LONGEST_ADDRESS = 2000
"""Characters of an address of ours; Python keeps the last ones that it has taken apart."""


class LanguageForm(Form):
    """The code of the language that a reader chose, in the form or in the address."""

    to = LineField(longest=20)


def speak(app: Flask) -> None:
    """Put the reader's language in force for the length of every request."""
    app.before_request(_begin)
    app.wsgi_app = _apart(app.wsgi_app)  # type: ignore[assignment,method-assign]


def chosen() -> str:
    """Return the language to answer in."""
    cookies = request.cookies
    if COOKIE in cookies and cookies[COOKIE] in i18n.LANGUAGES:
        return cookies[COOKIE]
    languages = request.headers.get("Accept-Language", "")
    return _preferred(languages if len(languages) <= LONGEST_WISH else "")


@lru_cache(maxsize=1024)
def _preferred(languages: str) -> str:
    accepted = parse_accept_header(languages, LanguageAccept)
    return accepted.best_match(i18n.LANGUAGES) or i18n.DEFAULT_LANGUAGE


@blueprint.route("/language", methods=["GET", "POST"])
def switch() -> Response:
    """Set the language and go back to where the reader was."""
    wanted = LanguageForm(request.values).to.data
    if wanted not in i18n.LANGUAGES:
        raise BadRequest
    response = redirect(back(), 303)
    response.set_cookie(COOKIE, wanted, max_age=YEAR, httponly=True, samesite="Lax")
    return response  # type: ignore[return-value]


def back() -> str:
    """Return the page the reader came from, if it is one of ours, else the first page."""
    return page_before() or url_for("home.show")


def page_before() -> str | None:
    """Return the page the reader came from, ``None`` if it is not one of ours."""
    referrer = request.referrer or ""
    try:
        came_from = urlsplit(referrer if len(referrer) <= LONGEST_ADDRESS else "")
    except ValueError:  # no address at all
        return None
    if came_from.netloc != request.host or not came_from.path.startswith("/"):
        return None
    path = "/" + came_from.path.lstrip("/\\")  # "//host" would lead away from here
    return f"{path}?{came_from.query}" if came_from.query else path


def _begin() -> None:
    i18n.speak(chosen())


def _apart(answer: WSGIApplication) -> WSGIApplication:
    def answered(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        return copy_context().run(answer, environ, start)

    return answered


ratios_blueprint = Blueprint("ratios", __name__)

RATIOS_COOKIE = "ratios"
WAYS = (notation.DECIMALS, notation.PERCENT)
EXAMPLE = 0.94


class RatiosForm(Form):
    """The way in which the reader wants ratios."""

    to = ChoiceField(WAYS)


def write(app: Flask) -> None:
    """Put the reader's way of writing ratios in force for the length of every request."""
    app.before_request(_begin_ratios)


@ratios_blueprint.post("/ratios", endpoint="switch")
def switch_ratios() -> Response:
    """Keep how ratios are written and go back to where the reader was."""
    wanted = checked(RatiosForm).to.data
    response = redirect(back(), 303)
    response.set_cookie(RATIOS_COOKIE, wanted, max_age=YEAR, httponly=True, samesite="Lax")
    return response  # type: ignore[return-value]


def examples() -> dict[str, str]:
    """Return what one ratio looks like written each way."""
    found = {}
    for way in WAYS:
        with notation.writing_ratios(way):
            found[way] = notation.figure(EXAMPLE)
    return found


def _begin_ratios() -> None:
    chosen = request.cookies.get(RATIOS_COOKIE)
    is_file = bool(PurePosixPath(request.path).suffix)
    notation.write_ratios(chosen if chosen in WAYS and not is_file else notation.DECIMALS)
