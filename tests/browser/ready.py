"""Importing this does once what every server would do before its first answers.

Processes that are forked afterwards have the whole product in memory, and share the code of each
template that a process of the tests compiled. Their routes are compiled already.
"""

from __future__ import annotations

import gc
import os
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

from flask import Flask
from werkzeug.routing import Rule

import relevansi
from relevansi.web.frame.setup import BLUEPRINTS, CompiledTemplates
from tests.compiled import TEMPLATES, compiled_once, loaded_from

ELSEWHERE = ("relevansi.db.migrations.", "relevansi.__main__")  # alembic's, and a command

for module in walk_packages(relevansi.__path__, "relevansi."):
    if not module.name.startswith(ELSEWHERE):
        import_module(module.name)
Rule._compile_builder = compiled_once  # type: ignore[assignment,method-assign]
if TEMPLATES in os.environ:
    load = loaded_from(Path(os.environ[TEMPLATES]))
    CompiledTemplates.load_bytecode = load  # type: ignore[assignment,method-assign]
routes = Flask("routes")
for blueprint in BLUEPRINTS:
    routes.register_blueprint(blueprint)
gc.collect()
gc.disable()  # as `relevansi.app.main` does: a command switches it on again
