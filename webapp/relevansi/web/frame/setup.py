"""The pages put into an application: database, blueprints, templates, errors, headers."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Mapping
from contextlib import suppress
from contextvars import copy_context
from copy import copy
from functools import partial
from importlib.metadata import version
from ipaddress import ip_address, ip_network
from pathlib import Path
from pickle import UnpicklingError
from typing import TYPE_CHECKING
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from flask import Config, Flask, Response, request
from flask.logging import default_handler
from jinja2 import FileSystemBytecodeCache, StrictUndefined
from markupsafe import Markup
from werkzeug.middleware.proxy_fix import ProxyFix
from werkzeug.routing import IntegerConverter, Map

from relevansi import labels, notation
from relevansi.config import PREFIX, new_private_folder
from relevansi.db import patience
from relevansi.db.engine import Database
from relevansi.exporters.frame import charts
from relevansi.i18n import gettext, language_name, ngettext, no_key
from relevansi.importers.frame import bounded
from relevansi.kinds.document import excerpt, word_count
from relevansi.printable import LogLineFormatter, printable, printable_line
from relevansi.records import LARGEST_INTEGER
from relevansi.services.study import studies
from relevansi.web import features
from relevansi.web.agreement import adjudications, agreement
from relevansi.web.catalogue import catalogue
from relevansi.web.comparisons import comparisons
from relevansi.web.evaluations import evaluations
from relevansi.web.folders import folder
from relevansi.web.frame import (
    access,
    body_limits,
    errors,
    guides,
    headers,
    language,
    markdown,
    origins,
    session_cookie,
    site,
    telemetry,
)
from relevansi.web.frame.telemetry import Telemetry
from relevansi.web.frame.workers import Workers
from relevansi.web.gold import constraints, gold
from relevansi.web.machine_judges import judges
from relevansi.web.offline import offline
from relevansi.web.people import history, raters, sign_in, tokens
from relevansi.web.phase_3 import (
    findings,
    own_questions,
    participants,
    questionnaires,
    user_studies,
)
from relevansi.web.planning import planning
from relevansi.web.programs import api
from relevansi.web.proof_packs import packs
from relevansi.web.rating import card_decisions, judgments, rate
from relevansi.web.runs import imports, runs
from relevansi.web.study import assignments, home, question_notes, study
from relevansi.web.workers import jobs

if TYPE_CHECKING:
    from jinja2.bccache import Bucket

_PAGES = (
    *(adjudications, agreement, api, assignments, card_decisions, catalogue, comparisons),
    *(constraints, evaluations, findings, folder, gold, guides, history, home, imports),
    *(jobs, judges, judgments, language, offline, own_questions, packs, participants),
    *(planning, question_notes, questionnaires, rate, raters),
    *(runs, sign_in, study, telemetry, tokens, user_studies),
)
BLUEPRINTS = (
    *(module.blueprint for module in _PAGES),
    *(site.health, site.shell, site.joined_files),
    *(language.ratios_blueprint, runs.measures, comparisons.rated),
)
PREFIX_HEADER = "HTTP_X_FORWARDED_PREFIX"
FORWARDED = frozenset({"HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO", PREFIX_HEADER})
"""What proxies say of a request, by the names in the server's environ."""
MIN_COMPRESSED = 1_000
"""Bytes; what is shorter is sent as it is."""
GZIP_LEVEL = 5
COMPRESSED_TYPES = {"text/html", "text/css", "text/javascript", "application/json", "text/csv"}
LOG_LINE = "[%(asctime)s] %(levelname)s in %(module)s: %(message)s"


def compress(response: Response) -> Response:
    """Return `response` with its text compressed, if it has enough of it."""
    is_short = response.is_sequence and len(response.get_data()) < MIN_COMPRESSED
    is_partial = response.status_code in {204, 206, 304}
    is_encoded = "Content-Encoding" in response.headers
    if is_short or is_partial or is_encoded or response.mimetype not in COMPRESSED_TYPES:
        return response
    response.vary.add("Accept-Encoding")
    if request.accept_encodings["gzip"] > 0:
        response.direct_passthrough = False  # files come as they lie on the disk
        data = response.get_data()
        if len(data) >= MIN_COMPRESSED:
            response.set_data(gzip.compress(data, GZIP_LEVEL, mtime=0))
            response.headers["Content-Encoding"] = "gzip"
    return response


class _StoredNumber(IntegerConverter):
    """A whole number that every database can look for; a larger one in an address is not found."""

    def __init__(self, url_map: Map) -> None:
        super().__init__(url_map, max=LARGEST_INTEGER)


def attach(app: Flask, database_url: str) -> None:
    """Let `app` answer on the database at `database_url`, which is made if it is new."""
    database = app.extensions["database"] = Database(database_url)
    database.prepare()
    with database.writing() as session:
        studies.open_or_make(session, access.now())
        session.commit()
    session_cookie.set_up(app, database_url)
    app.extensions["telemetry"] = Telemetry()
    answer = _in_own_context(_behind_proxies(app))
    app.wsgi_app = answer  # type: ignore[assignment,method-assign]
    app.extensions["workers"] = Workers(app)


def like(first: Flask, config: Mapping[str, object], database_url: str) -> Flask:
    """Return an application with another configuration and database, and the pages of `first`.

    Both have the same routes and compiled templates, which take most of an application's memory.
    """
    app = copy(first)
    app.config = Config(first.root_path, {**first.config, **config})
    app.extensions = {}
    attach(app, database_url)
    return app


def set_up(app: Flask, database_url: str) -> None:
    """Make `app` answer with every page, on the database at `database_url`."""
    attach(app, database_url)
    telemetry.set_up(app)
    app.before_request(language.use_preferences)
    for check in (access.check_study, access.check_user, body_limits.limit_body):
        app.before_request(check)
    app.after_request(headers.set_headers)
    app.after_request(compress)
    errors.handle_errors(app)
    is_json = bool(app.config["LOG"])
    formatter = telemetry.JsonLineFormatter() if is_json else LogLineFormatter(LOG_LINE)
    default_handler.setFormatter(formatter)
    _set_up_templates(app)
    app.url_map.converters["int"] = _StoredNumber
    for blueprint in BLUEPRINTS:
        app.register_blueprint(blueprint)
    if app.debug:
        app.register_blueprint(site.parts)


def _behind_proxies(app: Flask) -> WSGIApplication:
    """Return what answers: a proxy that the operator named says who sent a request and how.

    What anybody else says of that counts for nothing, and is logged the first time.
    """
    answer = _under_path(app.config["PREFIX"], app.config["PATH"], partial(Flask.wsgi_app, app))
    proxied = ProxyFix(answer, x_for=1, x_proto=1, x_prefix=1)
    header = app.config["AUTH_HEADER"].upper().replace("-", "_")
    name_of_person = f"HTTP_{header}" if header else ""
    trusted = [ip_network(network, strict=False) for network in app.config["TRUSTED_PROXIES"]]
    warned: set[str] = set()

    def answered(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        person = environ.pop(name_of_person, None)
        if person is not None or not FORWARDED.isdisjoint(environ):
            sender = environ.get("REMOTE_ADDR", "")
            with suppress(ValueError):
                address = ip_address(sender)
                address = getattr(address, "ipv4_mapped", None) or address
                if any(address in network for network in trusted):
                    environ[session_cookie.PERSON_ADDRESS] = (person or "").strip().lower()
                    return proxied(environ, start)
            if not warned:
                warned.add(sender)
                why = "headers of %r as of a proxy are ignored: RELEVANSI_TRUSTED_PROXIES lacks it"
                app.logger.warning(why, sender)
            if environ.get(PREFIX_HEADER, "").strip(" /"):
                # Every link of a page would lead past the path that the reader came by.
                return _plain_text(start, "400 Bad Request", UNTRUSTED_PREFIX)
        return answer(environ, start)

    return answered


UNTRUSTED_PREFIX = (
    "X-Forwarded-Prefix counts only from a proxy that RELEVANSI_TRUSTED_PROXIES names: "
    "docs/operations.md.\n"
)


def _under_path(prefix: str, study: str, answer: WSGIApplication) -> WSGIApplication:
    """Return `answer` below a path: that of the setting, else what a trusted proxy says.

    A proxy may pass the whole path on or take it off. ``/healthz`` answers without it too. Below it
    is the path of the `study`, where there are several.
    """

    def answered(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        path, script_name = environ.get("PATH_INFO", ""), environ.get("SCRIPT_NAME", "").strip("/")
        has_script_name = bool(script_name and PREFIX.fullmatch(script_name))
        outer = f"/{script_name}" if has_script_name else prefix
        base = outer + study
        if has_script_name and path != outer and not path.startswith(f"{outer}/"):
            path = outer + path  # the proxy took it off
        if base and path == base:
            query = environ.get("QUERY_STRING")
            start("308 Permanent Redirect", [("Location", f"{base}/{'?' * bool(query)}{query}")])
            return []
        if base and path.startswith(f"{base}/"):
            path = path.removeprefix(base)
        elif base and path != "/healthz":
            return _plain_text(start, "404 Not Found", f"Relevansi is at {base}/ here.\n")
        environ |= {"SCRIPT_NAME": base, "PATH_INFO": path}
        return answer(environ, start)

    return answered


def _plain_text(start: StartResponse, status: str, text: str) -> Iterable[bytes]:
    start(status, [("Content-Type", "text/plain; charset=utf-8")])
    return [text.encode()]


def _in_own_context(answer: WSGIApplication) -> WSGIApplication:
    """Return `answer`, with one deadline and one context for all that a request waits for.

    Files that it brings are read apart.
    """

    def answered(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        if not origins.is_host(environ.get("HTTP_HOST", "localhost")):
            return _plain_text(start, "400 Bad Request", "The Host header does not name a host.\n")
        with patience.shared(), bounded.within(bounded.PAGE):
            return copy_context().run(answer, environ, start)

    return answered


class CompiledTemplates(FileSystemBytecodeCache):
    """The code of templates in a folder, until their source changes."""

    def __init__(self, folder: Path) -> None:
        super().__init__(str(folder), f"%s.unfolded.jinja-{version('jinja2')}")

    def get_cache_key(self, name: str, filename: str | None = None) -> str:  # noqa: ARG002
        return super().get_cache_key(name)  # the same wherever the program is installed

    def load_bytecode(self, bucket: Bucket) -> None:
        try:
            super().load_bytecode(bucket)
        except (OSError, EOFError, UnpicklingError):
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):
            new_private_folder(Path(self.directory))
            super().dump_bytecode(bucket)


def _printable(value: object) -> object:
    """Return what a template prints: text without control characters or reordering marks."""
    is_text = isinstance(value, str) and not isinstance(value, Markup)
    return printable(str(value)) if is_text else value


def _set_up_templates(app: Flask) -> None:
    """Give templates our functions and filters, and no tolerance for a missing name."""
    # A filter on a constant would keep the language in which its template was first compiled.
    app.jinja_options = {**app.jinja_options, "optimized": False}
    environment = app.jinja_env
    folder = Path(app.instance_path, "compiled_templates")
    environment.bytecode_cache = CompiledTemplates(folder)
    environment.undefined = StrictUndefined
    environment.finalize = _printable
    environment.trim_blocks = environment.lstrip_blocks = True
    environment.globals.update(
        _=gettext,
        ngettext=ngettext,
        site=site.site,
        static=site.static_address,
        charts=charts,
        language_name=language_name,
        no_key=no_key,
        decimal_mark=notation.decimal_mark,
        work_left=labels.work_left,
        state_in_words=labels.state,
        run_name=labels.run,
        scale=labels.scale,
        merging=labels.merging,
        rule_in_words=labels.rule,
        menu=features.menu,
        is_offered=features.is_offered,
        current_entry=features.current,
    )
    for module, names in (
        (notation, ("figure", "number", "four", "short_rupiah", "price", "full_price")),
        (notation, ("distance", "duration", "percent", "difference", "interval")),
        (markdown, ("line", "link", "picture", "render", "is_long", "shortened")),
        (labels, ("method", "category", "field", "judgment", "cannot_tell", "verdict")),
        (labels, ("sign", "reason", "owner", "quality")),
    ):
        environment.filters |= {name: getattr(module, name) for name in names}
    environment.filters |= {"excerpt": excerpt, "word_count": word_count}
    environment.filters["moment"] = notation.unbroken_moment
    environment.filters["sentence"] = printable_line
    environment.filters["translated"] = gettext
