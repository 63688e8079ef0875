"""The scripts and the styles of a page, each as one file: a page asks for two files, not twelve.

A joined file is named after those that it adds to what every page has:
``joined/rating/rating.js+phase_3/taking_part.js``. The files that a script imports come with it.
"""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from flask import Blueprint, Response, current_app
from werkzeug.exceptions import NotFound
from werkzeug.security import safe_join

from webapp.exporters.frame.scripts import as_one, imported

blueprint = Blueprint("joined", __name__)

FOLDER = "joined/"
EVERYWHERE = {
    ".js": ("frame/page.js", "frame/busy.js", "frame/waiting.js", "frame/kept_pages.js"),
    ".css": ("vendor/modern-normalize.css", "frame/app.css"),
}
"""The files of every page, in the order in which they run or count."""
KINDS = {".js": "text/javascript", ".css": "text/css"}


@blueprint.get("/static/joined/<path:name>")
def show(name: str) -> Response:
    """Return a joined file."""
    kind = Path(name).suffix
    if kind not in KINDS:
        raise NotFound
    return Response(text(name), content_type=f"{KINDS[kind]}; charset=utf-8")


def digest(name: str) -> str:
    """Return a short hash of a joined file."""
    return hashlib.sha256(text(name).encode()).hexdigest()[:10]


def text(name: str) -> str:
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
    """Return a file after those that it imports from, without the `known` ones."""
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
