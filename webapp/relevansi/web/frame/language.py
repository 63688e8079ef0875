"""The reader's language and notation of ratios: what they chose, else what their browser prefers.

Without either, pages are in Indonesian and ratios are decimals.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from flask import Blueprint, Response, request, url_for
from werkzeug.datastructures import LanguageAccept
from werkzeug.exceptions import BadRequest
from werkzeug.http import parse_accept_header

from relevansi import i18n, notation
from relevansi.web.frame import access, headers
from relevansi.web.frame.htmx import see_other

blueprint = Blueprint("language", __name__)
ratios_blueprint = Blueprint("ratios", __name__)

COOKIE = "language"
RATIOS_COOKIE = "ratios"
LONGEST_ACCEPT_LANGUAGE = 200
"""Characters of a browser's languages; what is longer counts as none, so that it is not kept."""
LONGEST_ADDRESS = 2000
"""Characters of an address of ours; Python keeps the last ones that it has taken apart."""
RATIO_NOTATIONS = (notation.DECIMALS, notation.PERCENT)


def use_preferences() -> None:
    """Put the reader's language and way of writing ratios in force for one request."""
    code = request.cookies.get(COOKIE)
    if code not in i18n.LANGUAGES:
        languages = request.headers.get("Accept-Language", "")
        code = _preferred(languages if len(languages) <= LONGEST_ACCEPT_LANGUAGE else "")
        if not languages and access.is_for_programs():
            code = i18n.SOURCE_LANGUAGE  # of programs that ask for none
    i18n.speak(code)
    chosen = request.cookies.get(RATIOS_COOKIE)
    is_file = bool(PurePosixPath(request.path).suffix)
    is_usable = chosen in RATIO_NOTATIONS and not is_file
    notation.write_ratios(chosen if chosen and is_usable else notation.DECIMALS)


@lru_cache(maxsize=1024)
def _preferred(languages: str) -> str:
    accepted = parse_accept_header(languages, LanguageAccept)
    return accepted.best_match(i18n.LANGUAGES) or i18n.DEFAULT_LANGUAGE


@blueprint.route("/language", methods=["GET", "POST"])
def switch() -> Response:
    """Remember the language that the reader chose, and go back to the page before."""
    return _remember(COOKIE, request.values.get("to"), i18n.LANGUAGES)


@ratios_blueprint.post("/ratios", endpoint="switch")
def switch_ratios() -> Response:
    """Remember how the reader wants ratios written, and go back to the page before."""
    return _remember(RATIOS_COOKIE, request.form.get("to"), RATIO_NOTATIONS)


def _remember(cookie: str, value: str | None, allowed: tuple[str, ...]) -> Response:
    if value not in allowed:
        raise BadRequest
    response = see_other(page_before() or url_for("home.show"))
    path = f"{request.script_root}/"
    response.set_cookie(
        cookie, value, max_age=headers.YEAR, path=path, httponly=True, samesite="Lax"
    )
    return response


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


def ratio_examples() -> dict[str, str]:
    """Return what one ratio looks like written each way."""
    written = {}
    for name in RATIO_NOTATIONS:
        with notation.writing_ratios(name):
            written[name] = notation.figure(0.94)
    return written
