"""The pages put into an application: database, blueprints, templates, errors, headers."""

from __future__ import annotations

import gzip
from pathlib import Path

from flask import Flask, Response, request
from flask.logging import default_handler
from jinja2 import StrictUndefined
from markupsafe import Markup
from werkzeug.routing import IntegerConverter, Map

from webapp import labels
from webapp.db.engine import Database
from webapp.i18n import gettext, ngettext, no_key, own_name
from webapp.notation import decimal_mark
from webapp.printable import LogLineFormatter, printable, printable_line
from webapp.services.study import studies
from webapp.web import feature
from webapp.web.frame import access, badges, errors, formatting, language, markdown, site, workers

LEAST = 1_000
LEVEL = 5
KINDS = {"text/html", "text/css", "text/javascript", "application/json", "text/csv"}


def compress(response: Response) -> Response:
    """Return `response` with its text compressed, if it has enough of it."""
    if not _pays(response):
        return response
    response.vary.add("Accept-Encoding")
    if request.accept_encodings["gzip"] > 0:
        response.direct_passthrough = False  # files come as they lie on the disk
        data = response.get_data()
        if len(data) >= LEAST:
            response.set_data(gzip.compress(data, LEVEL, mtime=0))
            response.headers["Content-Encoding"] = "gzip"
    return response


def _pays(response: Response) -> bool:
    if response.is_sequence and len(response.get_data()) < LEAST:
        return False
    whole = response.status_code not in {204, 206, 304}
    plain = "Content-Encoding" not in response.headers
    return whole and plain and response.mimetype in KINDS


LARGEST_NUMBER = 2**31 - 1
LOG_LINE = "[%(asctime)s] %(levelname)s in %(module)s: %(message)s"


class _StoredNumber(IntegerConverter):
    """A whole number that every database can look for; a larger one in an address is not found."""

    def __init__(self, url_map: Map) -> None:
        super().__init__(url_map, max=LARGEST_NUMBER)


def join(app: Flask, database_url: str) -> None:
    """Make `app` answer with every page, on the database at `database_url`."""
    app.extensions["database"] = _opened(database_url)
    language.speak(app)
    language.write(app)
    badges.set_up(app, database_url)
    access.guard(app)
    access.limit_bodies(app)
    app.after_request(compress)
    errors.explain(app)
    default_handler.setFormatter(LogLineFormatter(LOG_LINE))
    _set_up_templates(app)
    app.url_map.converters["int"] = _StoredNumber
    for each in feature.features():
        for blueprint in each.blueprints:
            app.register_blueprint(blueprint)
    workers.set_up(app)


def _opened(database_url: str) -> Database:
    database = Database(database_url)
    database.prepare()
    with database.writing() as session:
        studies.open_or_make(session, access.now())
        session.commit()
    return database


def _plain(value: object) -> object:
    if isinstance(value, str) and not isinstance(value, Markup):
        return printable(value)
    return value


def _set_up_templates(app: Flask) -> None:
    environment = app.jinja_env
    folder = Path(app.instance_path, "compiled_templates")
    environment.bytecode_cache = site.CompiledTemplates(folder)
    environment.undefined = StrictUndefined
    environment.finalize = _plain
    environment.trim_blocks = environment.lstrip_blocks = True
    environment.globals.update(
        _=gettext,
        ngettext=ngettext,
        site=site.site,
        static=site.static_address,
        own_name=own_name,
        no_key=no_key,
        # A filter on a constant is evaluated once, in the language of the first reader.
        decimal_mark=decimal_mark,
        work_left=labels.work_left,
        menu=feature.menu,
        parts=feature.parts,
        is_current=feature.is_current,
    )
    for name in (
        *("figure", "number", "rupiah", "price", "full_price"),
        *("size", "distance", "duration", "four", "moment", "p_value"),
    ):
        environment.filters[name] = getattr(formatting, name)
    for name in ("line", "link", "picture", "render", "is_long", "intro"):
        environment.filters[name] = getattr(markdown, name)
    for name in ("method", "category", "field", "judgment", "cannot_tell"):
        environment.filters[name] = getattr(labels, name)
    environment.filters["sentence"] = printable_line
    environment.filters["translated"] = gettext
