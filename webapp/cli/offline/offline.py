"""A run as one HTML file that is rated without a server, for ``export`` and ``export-tree``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from webapp.cli.frame.commands import AppFactory
from webapp.exporters.offline import page
from webapp.exporters.offline.page import OfflineRun

Printer = Callable[[OfflineRun], bytes]


@contextmanager
def printer(create_app: AppFactory) -> Iterator[Printer]:
    """Yield what makes a run's file, from the templates of an application of its own."""
    app = create_app()
    try:
        yield lambda run: page.page(app.jinja_env, run)
    finally:
        app.extensions["database"].close()
