"""Importing this does once what every server would do before its first answers.

Processes that are forked afterwards have the whole product in memory, and share the code of each
template that one of them compiled. Their routes are compiled already.
"""

from __future__ import annotations

import gc
from importlib import import_module
from pkgutil import walk_packages
from tempfile import TemporaryDirectory
from typing import Any

from flask import Flask
from jinja2 import FileSystemBytecodeCache
from werkzeug.routing import Rule

import relevansi
from relevansi.web.frame.setup import BLUEPRINTS
from tests.routes import compiled_once

ELSEWHERE = ("relevansi.db.migrations.", "relevansi.__main__")  # alembic's, and a command
FOLDER = TemporaryDirectory(prefix="relevansi-templates-")

for module in walk_packages(relevansi.__path__, "relevansi."):
    if not module.name.startswith(ELSEWHERE):
        import_module(module.name)
Rule._compile_builder = compiled_once  # type: ignore[assignment,method-assign]
routes = Flask("routes")
for blueprint in BLUEPRINTS:
    routes.register_blueprint(blueprint)
cache: dict[str, Any] = {"bytecode_cache": FileSystemBytecodeCache(FOLDER.name)}
Flask.jinja_options = Flask.jinja_options | cache
gc.collect()
gc.disable()  # as `relevansi.app.main` does: a command switches it on again
