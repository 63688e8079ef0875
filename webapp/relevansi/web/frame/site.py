"""The frame of every page: names, languages, the database in use, addresses of static files."""

from __future__ import annotations

import hashlib
import json
import posixpath
import re
from contextlib import suppress
from functools import cache, lru_cache, partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import SimpleNamespace

from flask import Blueprint, Response, current_app, g, render_template, request, url_for
from sqlalchemy import text
from werkzeug.exceptions import NotFound
from werkzeug.security import safe_join

from relevansi import labels, notation
from relevansi.db import outages
from relevansi.exporters.frame.scripts import bundled, imported
from relevansi.i18n import LANGUAGES, direction, language, language_name, speaking
from relevansi.web import features
from relevansi.web.frame import access
from relevansi.web.frame.access import ANONYMOUS
from relevansi.web.frame.language import ratio_examples

joined_files = Blueprint("joined", __name__)
shell = Blueprint("shell", __name__)
health = Blueprint("health", __name__)
parts = Blueprint("parts", __name__)
"""The page of all parts, which only a server that is being worked on has."""

JOINED = "joined/"
SHARED_FILES = {
    ".js": ("frame/page.js", "frame/busy.js", "frame/waiting.js", "frame/kept_pages.js"),
    ".css": (
        *("vendor/modern-normalize.css", "frame/fonts.css", "frame/tokens.css"),
        "frame/ground.css",
    ),
}
"""The files of every page, in the order in which they run or count."""
MEDIA_TYPES = {".js": "text/javascript", ".css": "text/css"}
_FONT = re.compile(r"url\((vendor/[\w.-]+)\)")


@joined_files.get("/static/joined/<path:name>", endpoint="show")
def joined_file(name: str) -> Response:
    """Return several scripts or styles, whose names are joined by "+", as one file."""
    body = joined_text(name)
    return Response(body, content_type=f"{MEDIA_TYPES[Path(name).suffix]}; charset=utf-8")


def joined_text(name: str) -> str:
    """Return the text of a joined file; raises ``NotFound`` where one of its files is not there."""
    sources = _sources(name)
    if name.endswith(".css"):
        return _FONT.sub(
            lambda font: f"url({static_address(font[1])})", "\n".join(sources.values())
        )
    return bundled({posixpath.basename(file): source for file, source in sources.items()})


def _sources(name: str) -> dict[str, str]:
    """Return the texts of all that a joined file is made of, by the files in their order."""
    kind, files = Path(name).suffix, name.split("+")
    if kind not in MEDIA_TYPES or any(Path(file).suffix != kind for file in files):
        raise NotFound
    sources: dict[str, str] = {}
    for file in (*SHARED_FILES[kind], *files):
        _add_with_imports(file, sources)
    return sources


def _add_with_imports(file: str, sources: dict[str, str]) -> None:
    """Add a file to the others, after those that it imports from."""
    if file in sources:
        return
    path = safe_join(current_app.static_folder or "", file)
    if path is None or not Path(path).is_file():
        raise NotFound
    source = _read(path, Path(path).stat().st_mtime_ns)
    folder = posixpath.dirname(file)
    for dependency in imported(source) if file.endswith(".js") else ():
        _add_with_imports(posixpath.normpath(posixpath.join(folder, dependency)), sources)
    sources[file] = source


@lru_cache(maxsize=64)
def _read(path: str, _changed: int) -> str:
    return Path(path).read_text("utf-8").strip()


def static_address(name: str) -> str:
    """Return the address of a static or joined file with its content's hash: cached for good."""
    if name.startswith(JOINED):
        name = name.removeprefix(JOINED)
        return url_for("joined.show", name=name, v=_version_of_joined(name))
    path = Path(current_app.static_folder or "", name)
    return url_for("static", filename=name, v=_digest(path, _changed(path)))


def _version_of_joined(name: str) -> str:
    """Return the hash of a joined file: every page names two, and few files ever change."""
    place = current_app.static_folder or "", request.script_root, name
    version, changes = _joined_version(*place)
    if any(_changed(path) != changed for path, changed in changes.items()):
        _joined_version.cache_clear()
        version, changes = _joined_version(*place)
    return version


@lru_cache(maxsize=256)
def _joined_version(folder: str, _script_root: str, name: str) -> tuple[str, dict[Path, int]]:
    """Return the hash of a joined file, and when each file that it names or holds had changed.

    The addresses of fonts in it begin with the path below which the study is served.
    """
    sources = _sources(name)
    fonts = _FONT.findall("\n".join(sources.values()))
    changes = {path: _changed(path) for path in (Path(folder, file) for file in (*sources, *fonts))}
    return hashlib.sha256(joined_text(name).encode()).hexdigest()[:10], changes


def _changed(path: Path) -> int:
    """Return when a file last changed, in nanoseconds; 0 where there is none."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


@cache
def _digest(path: Path, changed: int) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:10] if changed else "missing"


def site() -> SimpleNamespace:
    """Return the frame of the page that is being rendered; the names are empty for a stranger.

    ``guest`` is the name of a participant, ``key`` names the person whose things the browser keeps.
    ``ways`` is an example of each notation of ratios. ``home`` is the endpoint of the page that the
    name of the product leads to, ``guide`` the name of the guide for the reader.
    """
    user = access.current_user()
    rater = labels.owner(user.rater_name) if user.is_owner else user.rater_name
    is_folder = current_app.config["FOLDER"] is not None
    menu = "owner" if user.is_owner else "rater"
    has_menu = rater and not is_folder
    guide = "raters" if rater else "participants" if user.guest_name else "index"
    return SimpleNamespace(
        rater=rater,
        is_owner=user.is_owner,
        is_local=user.is_local,
        is_folder=is_folder,
        way_to_folder=_way_to_folder() if user.is_owner else "",
        is_of_house=bool(current_app.config["AUTH_HEADER"]),
        language=language(),
        direction=direction(),
        languages={code: language_name(code) for code in LANGUAGES},
        database=access.database().description,
        version=_version(),
        guest=user.guest_name,
        home=access.GUEST_HOME if user.guest_name else "home.show",
        guide="index" if user.is_owner else guide,
        key=user.key,
        menu=features.menu(menu) if has_menu else (),
        current=partial(features.current, menu),
        ratios=notation.ratios(),
        ways=ratio_examples(),
        is_demo=current_app.config["IS_DEMO"],
        other_demo=current_app.config["OTHER_DEMO"],
    )


def _way_to_folder() -> str:
    """Return the address of the list of all studies; empty for a study that is served alone."""
    path: str = current_app.config["PATH"]
    return f"{request.script_root.removesuffix(path)}/" if path else ""


@cache
def _version() -> str:
    with suppress(PackageNotFoundError):
        return version("relevansi")
    return ""


@parts.get("/parts", endpoint="show")
def all_parts() -> str:
    """Show every part of pages in every state, for those who build pages of them."""
    return render_template("frame/shell/parts.html")


@shell.get("/service-worker.js")
def worker() -> Response:
    """Return the service worker, which knows the version of every file it is to keep."""
    script = Path(current_app.static_folder or "", "frame/service_worker.js").read_text("utf-8")
    files = [static_address(name) for name in features.KEPT_FILES]
    contents = [script, *files, *(_offline(code) for code in LANGUAGES)]
    offline_pages = {code: url_for("shell.offline", language=code) for code in LANGUAGES}
    shell = {
        "base": url_for("home.show"),
        "version": hashlib.sha256("\0".join(contents).encode()).hexdigest()[:10],
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
    g.user = ANONYMOUS
    with speaking(language):
        return render_template("frame/shell/offline.html")


@health.get("/healthz")
def healthz() -> Response:
    """Return 200 and "ok" when clicks can be stored, else 503 and the reason in one line."""
    database = access.database()
    try:
        database.check_file()
        with database.reading() as session:
            session.execute(text("SELECT version_num FROM alembic_version"))
    except outages.OUTAGE_ERRORS as failure:
        reason = outages.outage(failure) or "broken"
        return Response(f"database: {reason}\n", 503, mimetype="text/plain")
    return Response("ok\n", mimetype="text/plain")
