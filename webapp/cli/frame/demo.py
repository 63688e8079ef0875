"""``relevansi demo``: a finished study to try, made from the files in ``seeds``."""

from __future__ import annotations

import random
import secrets
import zlib
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from webapp import rooms
from webapp.cli.frame.output import say
from webapp.cli.frame.serving import LOOPBACK, serve
from webapp.config import Settings, private_folder, resource
from webapp.db import sqlite_files
from webapp.db.engine import Database, DatabaseOutOfDate, NewerDatabase
from webapp.i18n import gettext

if TYPE_CHECKING:
    from webapp.cli.frame.commands import AppFactory

DEMO_NOW = datetime(2026, 2, 9, 2, tzinfo=UTC)
"""When the demo's study begins: the same study is made every time."""
EDITION = 2
"""Counts the studies that were made of the same files, which differ."""


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
    with ExitStack() as beside:
        for wing in rooms.contributions("cli", "beside_demo"):
            beside.enter_context(wing.running())
        serve(create_app(settings), settings, LOOPBACK, port, browser=not no_browser)


def prepared_demo(*, fresh: bool = False) -> Settings:
    """Return the settings of the demo, whose database holds its study afterwards.

    A study that an older version made is kept, with its ratings; ``--fresh`` makes it anew.
    """
    settings = Settings.from_environment()
    private_folder(settings.instance)
    settings = replace(settings, database_url=settings.demo_database_url, is_demo=True)
    demo = Database(settings.database_url)
    file = Path(demo.description)
    if fresh:
        demo.close()
        sqlite_files.delete(file)
        demo = Database(settings.database_url)
    _prepare(demo)
    is_new = _load(demo)
    demo.close()
    if is_new:
        sqlite_files.set_mark(file, _mark_of_seeds())
    elif sqlite_files.mark(file) != _mark_of_seeds():
        say(
            gettext(
                "The demo's study is of another version, with your ratings. "
                "`relevansi demo --fresh` deletes them and makes the study of this version."
            ),
            err=True,
        )
    return settings


def _prepare(demo: Database) -> None:
    """Make the tables of the demo, or bring them to this version."""
    try:
        demo.prepare()
    except DatabaseOutOfDate:
        demo.upgrade()
    except NewerDatabase as newer:
        raise click.ClickException(
            gettext(
                "The demo %(name)s was made by a newer Relevansi. "
                "`relevansi demo --fresh` deletes it and makes the demo of this version.",
                name=demo.description,
            )
        ) from newer


def _load(demo: Database) -> bool:
    """Make the demo's study if there is none; return whether it was made."""
    from webapp.services.runs import samples
    from webapp.services.study import studies

    with demo.writing() as session:
        if studies.current(session) is not None:
            return False
        say(gettext("Making the demo's study. This takes some seconds, once."), err=True)
        with _same_secrets():
            samples.load_demo(session, resource("seeds"), DEMO_NOW)
        session.commit()
    return True


def _mark_of_seeds() -> int:
    """Return a number that is another one when the demo's study or its files are others."""
    folder = resource("seeds")
    files = (
        path for path in sorted(folder.rglob("*")) if path.suffix in {".json", ".jsonl", ".md"}
    )
    found = EDITION
    for path in files:
        found = zlib.crc32(path.read_bytes(), found)
    return found & 0x7FFF_FFFF


@contextmanager
def _same_secrets() -> Iterator[None]:
    """Let the secrets of the demo's study, and so its addresses and orders, be always the same.

    Its people and answers are invented, and nobody can sign in by them.
    """
    drawn = random.Random("relevansi demo")  # noqa: S311 - they guard nothing
    known = secrets.token_hex, secrets.token_urlsafe
    secrets.token_hex = lambda nbytes=None: drawn.randbytes(nbytes or 32).hex()
    secrets.token_urlsafe = lambda nbytes=None: (
        urlsafe_b64encode(drawn.randbytes(nbytes or 32)).rstrip(b"=").decode()
    )
    try:
        yield
    finally:
        secrets.token_hex, secrets.token_urlsafe = known
