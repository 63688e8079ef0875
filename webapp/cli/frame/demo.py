"""``relevansi demo``: a finished study to try, restored from ``seeds``."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from webapp.cli.collecting import beside_demo
from webapp.cli.frame import demo_study
from webapp.cli.frame.output import say
from webapp.cli.frame.serving import LOOPBACK, serve
from webapp.config import Settings, private_folder
from webapp.db import sqlite_files
from webapp.db.engine import Database, DatabaseOutOfDate, NewerDatabase
from webapp.i18n import gettext

if TYPE_CHECKING:
    from webapp.cli.frame.commands import AppFactory


@click.command("demo")
@click.option("--port", type=click.IntRange(0, 65535), help="Port; the first free from 8800.")
@click.option("--no-browser", is_flag=True, help="Do not open the browser.")
@click.option("--fresh", is_flag=True, help="Throw the demo's ratings away and start anew.")
@click.pass_obj
def demo_command(
    create_app: AppFactory, port: int | None, *, no_browser: bool, fresh: bool
) -> None:
    """Open the demo, a finished study, in instance/demo.sqlite."""
    settings = prepared_demo(fresh=fresh)
    with beside_demo.running():
        serve(create_app(settings), settings, LOOPBACK, port, browser=not no_browser)


def prepared_demo(*, fresh: bool = False) -> Settings:
    """Return the settings of the demo, whose database holds its study afterwards.

    A study that an older version brought is kept, with its ratings; ``--fresh`` replaces it.
    """
    settings = Settings.from_environment()
    private_folder(settings.instance)
    settings = replace(settings, database_url=settings.demo_database_url, is_demo=True)
    demo = Database(settings.database_url)
    file = Path(demo.description)
    if fresh:
        sqlite_files.delete(file)
    if not file.exists():
        demo_study.restore(file)
    with closing(demo):
        _prepare(demo)
    if sqlite_files.marked(file) != demo_study.mark():
        say(
            gettext(
                "The demo's study is of another version, with your ratings. "
                "`relevansi demo --fresh` deletes them and opens the study of this version."
            ),
            err=True,
        )
    return settings


def _prepare(demo: Database) -> None:
    try:
        demo.prepare()
    except DatabaseOutOfDate:
        demo.upgrade()
    except NewerDatabase as newer:
        raise click.ClickException(
            gettext(
                "The demo %(name)s was made by a newer Relevansi. "
                "`relevansi demo --fresh` deletes it and opens the demo of this version.",
                name=demo.description,
            )
        ) from newer
