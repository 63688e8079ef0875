"""The frame of every page: names, languages, the database in use, addresses of static files."""

from __future__ import annotations

import hashlib
import json
import posixpath
from collections.abc import Iterator
from contextlib import suppress
from functools import cache, lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from pickle import UnpicklingError

from flask import Blueprint, Response, current_app, g, render_template, url_for
from jinja2 import FileSystemBytecodeCache
from jinja2.bccache import Bucket
from msgspec import Struct
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from werkzeug.exceptions import NotFound
from werkzeug.security import safe_join

from webapp import notation
from webapp.config import new_private_folder
from webapp.db import outages
from webapp.exporters.frame.scripts import as_one, imported
from webapp.i18n import LANGUAGES, direction, language, own_name, speaking
from webapp.services.study import studies
from webapp.web import feature
from webapp.web.feature import MenuEntry, menu
from webapp.web.frame import access
from webapp.web.frame import language as ratios
from webapp.web.frame.access import NotSignedIn, Visitor

joined_files = Blueprint("joined", __name__)

JOINED = "joined/"
EVERYWHERE = {
    ".js": ("frame/page.js", "frame/busy.js", "frame/waiting.js", "frame/kept_pages.js"),
    ".css": ("vendor/modern-normalize.css", "frame/app.css"),
}
"""The files of every page, in the order in which they run or count."""
KINDS = {".js": "text/javascript", ".css": "text/css"}


@joined_files.get("/static/joined/<path:name>", endpoint="show")
def joined_file(name: str) -> Response:
    """Return a joined file."""
    kind = Path(name).suffix
    if kind not in KINDS:
        raise NotFound
    return Response(joined_text(name), content_type=f"{KINDS[kind]}; charset=utf-8")


def digest(name: str) -> str:
    """Return a short hash of a joined file."""
    return hashlib.sha256(joined_text(name).encode()).hexdigest()[:10]


def joined_text(name: str) -> str:
    """Return a joined file; raises ``NotFound`` where it names one that is not there."""
    kind = Path(name).suffix
    own = name.split("+")
    if any(Path(file).suffix != kind for file in own):
        raise NotFound
    sources: dict[str, str] = {}
    for file in (*EVERYWHERE[kind], *own):
        sources |= _with_imports(file, sources)
    if kind == ".css":
        return "\n".join(sources.values())
    return as_one({posixpath.basename(file): source for file, source in sources.items()})


def _with_imports(file: str, known: dict[str, str]) -> dict[str, str]:
    if file in known:
        return {}
    source = _source(file)
    found: dict[str, str] = {}
    for other in _imports(file, source):
        found |= _with_imports(other, known | found)
    return found | {file: source}


def _imports(file: str, source: str) -> Iterator[str]:
    for path in imported(source) if file.endswith(".js") else ():
        yield posixpath.normpath(posixpath.join(posixpath.dirname(file), path))


def _source(file: str) -> str:
    folder = current_app.static_folder
    assert folder is not None
    found = safe_join(folder, file)
    if found is None or not Path(found).is_file():
        raise NotFound
    return _read(found, Path(found).stat().st_mtime_ns)


@lru_cache(maxsize=64)
def _read(path: str, _changed: int) -> str:
    return Path(path).read_text("utf-8").strip()


class Site(Struct, frozen=True):
    """The frame of a page; the names are empty for a stranger.

    ``is_owner`` opens the owner's sections; ``is_local`` is true where nobody signs in.
    ``guest`` is the name of a participant, ``key`` names the person whose
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
    if name.startswith(JOINED):
        name = name.removeprefix(JOINED)
        return url_for("joined.show", name=name, v=digest(name))
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


class CompiledTemplates(FileSystemBytecodeCache):
    """The code of templates in a folder, until their source changes.

    Where the folder cannot be used, or a file in it is cut off, templates are compiled anew.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(str(folder), f"%s.jinja-{version('jinja2')}")

    def get_cache_key(self, name: str, filename: str | None = None) -> str:  # noqa: ARG002
        """Return the key of a template, the same wherever the program is installed."""
        return super().get_cache_key(name)

    def load_bytecode(self, bucket: Bucket) -> None:
        """Read the code of a template, if it is there."""
        try:
            super().load_bytecode(bucket)
        except (OSError, EOFError, UnpicklingError):
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep the code of a template."""
        with suppress(OSError):
            new_private_folder(Path(self.directory))
            super().dump_bytecode(bucket)


shell = Blueprint("shell", __name__)

WORKER = "frame/service_worker.js"


@shell.get("/service-worker.js")
def worker() -> Response:
    """Return the service worker, which knows the version of every file it is to keep."""
    script = Path(_folder(), WORKER).read_text("utf-8")
    files = [static_address(name) for name in feature.kept_files()]
    said = [script, *files, *(_offline(code) for code in LANGUAGES)]
    offline_pages = {code: url_for("shell.offline", language=code) for code in LANGUAGES}
    shell = {
        "base": url_for("home.show"),
        "version": hashlib.sha256("\0".join(said).encode()).hexdigest()[:10],
        "files": [*files, *offline_pages.values()],
        "offline": offline_pages,
    }
    body = f"const SHELL = {json.dumps(shell)};\n{script}"
    return Response(body, content_type="text/javascript; charset=utf-8")


@shell.get("/offline/<language>")
def offline(language: str) -> str:
    """Show that the server cannot be reached; the page names no person."""
    if language not in LANGUAGES:
        raise NotFound
    return _offline(language)


def _offline(language: str) -> str:
    g.visitor = Visitor()
    with speaking(language):
        return render_template("frame/shell/offline.html")


def _folder() -> str:
    folder = current_app.static_folder
    assert folder is not None
    return folder


health = Blueprint("health", __name__)


@health.get("/healthz")
def healthz() -> Response:
    """Return 200 and "ok" when clicks can be stored, else 503 and the reason in one line."""
    database = access.database()
    try:
        database.check_file()
        with database.reading() as session:
            session.execute(text("SELECT version_num FROM alembic_version"))
    except outages.KINDS as failure:
        reason = outages.outage(failure) or "broken"
        return Response(f"database: {reason}\n", 503, mimetype="text/plain")
    return Response("ok\n", mimetype="text/plain")
