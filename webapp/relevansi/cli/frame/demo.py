"""``relevansi demo``: a finished study to try, as ``nox -s demo`` made it of ``seeds``."""

from __future__ import annotations

from contextlib import closing, nullcontext
from dataclasses import replace
from pathlib import Path

import click

from relevansi.cli.collecting import demo_server
from relevansi.cli.frame.commands import AppFactory
from relevansi.cli.frame.output import say
from relevansi.cli.frame.serving import LOOPBACK, serve
from relevansi.config import Settings, private_folder
from relevansi.db import sqlite_files
from relevansi.db.engine import Database, DatabaseOutOfDate, NewerDatabase
from relevansi.i18n import gettext
from relevansi.services.judging import stored_summaries
from relevansi.services.study import demos


@click.command("demo")
@click.option("--documents", is_flag=True, help="The study of documents, not of properties.")
@click.option("--port", type=click.IntRange(0, 65535), help="Port; the first free from 8800.")
@click.option("--no-browser", is_flag=True, help="Do not open the browser.")
@click.option("--fresh", is_flag=True, help="Throw the demo's ratings away and start anew.")
@click.pass_obj
def demo_command(
    create_app: AppFactory, port: int | None, *, documents: bool, no_browser: bool, fresh: bool
) -> None:
    """Open the demo, a finished study, in instance/demo.sqlite.

    There are two, each in a database of its own: one of properties that a chatbot listed, and with
    --documents one of passages that three searches listed.
    """
    settings = prepared_demo(documents=documents, fresh=fresh)
    with nullcontext() if documents else demo_server.running():
        serve(create_app(settings), settings, LOOPBACK, port, browser=not no_browser)


def prepared_demo(*, documents: bool = False, fresh: bool = False) -> Settings:
    """Return the settings of a demo; its database is made, or brought to this version.

    A study that an older version made stays, with its ratings, until ``--fresh`` replaces it.
    """
    settings = Settings.from_environment()
    private_folder(settings.instance)
    url = settings.documents_database_url if documents else settings.demo_database_url
    settings = replace(settings, database_url=url, is_demo=True)
    options = " --documents" if documents else ""
    fresh_command = f"relevansi demo{options} --fresh"
    with closing(Database(settings.database_url)) as demo:
        file = Path(demo.description)
        if fresh:
            sqlite_files.delete(file)
        if not file.exists():
            demos.restore(file, documents=documents)
        try:
            demo.prepare()
        except DatabaseOutOfDate:
            demo.upgrade()
            stored_summaries.recompute(demo)
        except NewerDatabase as newer:
            refusal = gettext(
                "The demo %(name)s was made by a newer Relevansi. "
                "`%(command)s` deletes it and opens the demo of this version.",
                name=demo.description,
                command=fresh_command,
            )
            raise click.ClickException(refusal) from newer
    if sqlite_files.marked(file) != demos.mark(documents=documents):
        line = gettext(
            "The demo's study is of another version, with your ratings. "
            "`%(command)s` deletes them and opens the study of this version.",
            command=fresh_command,
        )
        say(line, err=True)
    return settings
