"""The frame of every page: names, languages, the database in use, addresses of static files."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from flask import current_app, url_for
from msgspec import Struct
from sqlalchemy.exc import SQLAlchemyError

from webapp import notation
from webapp.i18n import LANGUAGES, direction, language, own_name
from webapp.services.study import studies
from webapp.web.feature import MenuEntry, menu
from webapp.web.frame import access, joined, ratios
from webapp.web.frame.access import NotSignedIn


class Site(Struct, frozen=True):
    """The frame of a page; the names are empty for a stranger.

    ``is_owner`` opens the owner's sections; ``is_local`` is true where nobody signs in.
    ``guest`` is the name of a guest of a wing, ``key`` names the person whose
    things the browser keeps (see ``access.Visitor``). ``rater_menu`` is the menu of a rater.
    ``ratios`` is the notation of ratios, ``ways`` an example of each notation.
    ``home`` is the endpoint of the page that the name of the product leads to, ``guide`` the
    name of the guide for the reader. ``is_demo`` is true where the study is the demo's.
    """

    study: str
    rater: str
    is_owner: bool
    is_local: bool
    language: str
    direction: str
    languages: dict[str, str]
    database: str
    version: str
    guest: str
    home: str
    guide: str
    key: str | None
    rater_menu: tuple[MenuEntry, ...]
    ratios: str
    ways: dict[str, str]
    is_demo: bool


def site() -> Site:
    """Return the frame of the page that is being rendered."""
    study, rater, rater_menu = _names()
    guest = _guest()
    return Site(
        study=study,
        rater=rater,
        is_owner=access.visitor().is_owner,
        is_local=access.visitor().is_local,
        language=language(),
        direction=direction(),
        languages={code: own_name(code) for code in LANGUAGES},
        database=access.database().description,
        version=_version(),
        guest=guest,
        home=access.HOME_OF_GUESTS if guest else "home.show",
        guide=_guide(rater, guest),
        key=access.visitor().key,
        rater_menu=rater_menu,
        ratios=notation.ratios(),
        ways=ratios.examples(),
        is_demo=current_app.config["IS_DEMO"],
    )


def static_address(name: str) -> str:
    """Return the address of the static file `name` with its content's hash: cached for good.

    Under ``joined/`` are files of several (see ``joined``).
    """
    if name.startswith(joined.FOLDER):
        name = name.removeprefix(joined.FOLDER)
        return url_for("joined.show", name=name, v=joined.digest(name))
    folder = current_app.static_folder
    assert folder is not None
    path = Path(folder, name)
    changed = path.stat().st_mtime_ns if path.is_file() else 0
    return url_for("static", filename=name, v=_digest(path, changed))


def _names() -> tuple[str, str, tuple[MenuEntry, ...]]:
    """Return the names of the study and of the rater, with their menu.

    They are empty when the database is away.
    """
    try:
        with access.reading() as (session, rater):
            study = rater.study
            entries = menu("rater")
            shown = (one for one in entries if one.needs is None or one.needs(session, study))
            name = studies.shown_owner(rater.name) if rater.is_owner else rater.name
            return studies.shown_name(study), name, tuple(shown)
    except (SQLAlchemyError, NotSignedIn):
        return "", "", ()


def _guide(rater: str, guest: str) -> str:
    """Return the name of the guide for the reader; the list of guides for owner and stranger."""
    if access.visitor().is_owner:
        return "index"
    return "raters" if rater else "participants" if guest else "index"


def _guest() -> str:
    try:
        return access.name_of_guest()
    except SQLAlchemyError:
        return ""


@cache
def _digest(path: Path, changed: int) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:10] if changed else "missing"


@cache
def _version() -> str:
    try:
        return version("relevansi")
    except PackageNotFoundError:
        return ""
