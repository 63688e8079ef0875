"""Importing this does once what every server would do before its first answers.

Processes that are forked afterwards have the whole product in memory, and share the code of each
template that a process of the tests compiled. Their application is like a first one, as those of
several studies in a folder are: its routes and templates are there, and what the first answers of
the usual pages load: tables are mapped, statements compiled, texts translated.
"""

from __future__ import annotations

import gc
import os
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from tempfile import TemporaryDirectory

from flask import Flask
from werkzeug.routing import Rule

import relevansi
from relevansi.app import configuration, create_app
from relevansi.config import Settings, sqlite_url
from relevansi.i18n import LANGUAGES
from relevansi.web.frame.setup import CompiledTemplates, like
from tests.compiled import TEMPLATES, compiled_once, loaded_from
from tests.services.runs.runs import card, query, run, store
from tests.stored_studies import study_in

ELSEWHERE = ("relevansi.db.migrations.", "relevansi.__main__")  # alembic's, and a command

for module in walk_packages(relevansi.__path__, "relevansi."):
    if not module.name.startswith(ELSEWHERE):
        import_module(module.name)
import_module("waitress.server")
Rule._compile_builder = compiled_once  # type: ignore[assignment,method-assign]
if TEMPLATES in os.environ:
    load = loaded_from(Path(os.environ[TEMPLATES]))
    CompiledTemplates.load_bytecode = load  # type: ignore[assignment,method-assign]


def _answered_once() -> Flask:
    with TemporaryDirectory() as folder:
        with study_in(Path(folder)) as (session, study):
            run_id = store(session, study, run(query(1, card("a")))).id
        app = create_app(Settings(sqlite_url(Path(folder) / "relevansi.sqlite"), Path(folder)))
        question = f"/runs/{run_id}/queries/1"
        app.test_client().post(f"{question}/results/1/judgment", data={"relevance": "1"})
        with app.test_client().get("/static/frame/first.js") as script:
            assert script.data
        for language in LANGUAGES:
            client = app.test_client()
            client.environ_base["HTTP_ACCEPT_LANGUAGE"] = language
            for path in ("/", "/runs/", f"/runs/{run_id}", question, "/rate/"):
                client.get(path, follow_redirects=True)
        app.extensions["database"].close()
    return app


FIRST = _answered_once()


def create_app_alike(settings: Settings | None = None) -> Flask:
    """Return what `create_app` does; a single study's has the routes and templates of `FIRST`."""
    settings = settings or Settings.from_environment()
    if settings.studies is not None:
        return create_app(settings)
    return like(FIRST, configuration(settings), settings.database_url)


gc.collect()
gc.disable()  # as `relevansi.app.main` does: a command switches it on again
