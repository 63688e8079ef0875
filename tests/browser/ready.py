"""Importing this does once what every server would do before its first answers.

Processes that are forked afterwards have the whole product in memory, and share the code of each
template that a process of the tests compiled. Their routes are compiled already, and what a first
answer loads is there: tables are mapped, texts translated.
"""

from __future__ import annotations

import gc
import os
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from tempfile import TemporaryDirectory

from werkzeug.routing import Rule

import relevansi
from relevansi.app import create_app
from relevansi.config import Settings, sqlite_url
from relevansi.i18n import LANGUAGES
from relevansi.web.frame.setup import CompiledTemplates
from tests.compiled import TEMPLATES, compiled_once, loaded_from
from tests.services.runs.runs import card, query, run, store
from tests.stored_studies import study_in

ELSEWHERE = ("relevansi.db.migrations.", "relevansi.__main__")  # alembic's, and a command

for module in walk_packages(relevansi.__path__, "relevansi."):
    if not module.name.startswith(ELSEWHERE):
        import_module(module.name)
Rule._compile_builder = compiled_once  # type: ignore[assignment,method-assign]
if TEMPLATES in os.environ:
    load = loaded_from(Path(os.environ[TEMPLATES]))
    CompiledTemplates.load_bytecode = load  # type: ignore[assignment,method-assign]
with TemporaryDirectory() as folder:
    with study_in(Path(folder)) as (session, study):
        run_id = store(session, study, run(query(1, card("a")))).id
    app = create_app(Settings(sqlite_url(Path(folder) / "relevansi.sqlite"), Path(folder)))
    for language in LANGUAGES:
        header = {"Accept-Language": language}
        app.test_client().get(f"/runs/{run_id}/queries/1", headers=header)
    app.extensions["database"].close()
gc.collect()
gc.disable()  # as `relevansi.app.main` does: a command switches it on again
