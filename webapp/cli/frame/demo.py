"""``relevansi demo``: a finished study to try, made from ``seeds`` by the services and kept there.

Making it takes seconds, so each first start of the demo restores what ``nox -s demo`` kept.
"""

from __future__ import annotations

import lzma
import random
import secrets
from base64 import urlsafe_b64encode
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from zlib import crc32

import click

from webapp.cli.collecting import demo_server
from webapp.cli.frame.output import say
from webapp.cli.frame.serving import LOOPBACK, serve
from webapp.config import Settings, private_folder, resource, sqlite_url
from webapp.db import sqlite_files
from webapp.db.engine import Database, DatabaseOutOfDate, NewerDatabase
from webapp.i18n import gettext

if TYPE_CHECKING:
    from webapp.cli.frame.commands import AppFactory

BEGUN_AT = datetime(2026, 2, 9, 2, tzinfo=UTC)
"""When the demo's study begins: the same study is made every time."""


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
    with demo_server.running():
        serve(create_app(settings), settings, LOOPBACK, port, browser=not no_browser)


def prepared_demo(*, fresh: bool = False) -> Settings:
    """Return the settings of the demo, whose database holds its study afterwards.

    A study that an older version brought is kept, with its ratings; ``--fresh`` replaces it.
    """
    settings = Settings.from_environment()
    private_folder(settings.instance)
    settings = replace(settings, database_url=settings.demo_database_url, is_demo=True)
    with closing(Database(settings.database_url)) as demo:
        file = Path(demo.description)
        if fresh:
            sqlite_files.delete(file)
        if not file.exists():
            restore(file)
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
    if sqlite_files.marked(file) != mark():
        say(
            gettext(
                "The demo's study is of another version, with your ratings. "
                "`relevansi demo --fresh` deletes them and opens the study of this version."
            ),
            err=True,
        )
    return settings


def kept() -> Path:
    return resource("seeds") / "demo" / "study.sqlite.xz"


def restore(file: Path) -> None:
    """Put the kept study into the place of `file`, as a whole or not at all."""
    packed = kept().read_bytes()
    with TemporaryDirectory(dir=file.parent) as folder:
        whole = Path(folder, file.name)
        whole.write_bytes(lzma.decompress(packed))
        sqlite_files.set_mark(whole, mark())
        sqlite_files.put(whole, file, kept=None)


def mark() -> int:
    """Return the number of the kept study."""
    return crc32(kept().read_bytes()) & 0x7FFF_FFFF


def make(file: Path) -> None:
    """Make the study in the new database `file` by the services that users use.

    Its secrets, and so its addresses and orders, are always the same: they guard nothing, as its
    people and answers are invented.
    """
    from unittest import mock

    from webapp.services.runs import samples

    drawn = random.Random("relevansi demo")  # noqa: S311 - they guard nothing

    def token(n: int | None = None) -> str:
        return urlsafe_b64encode(drawn.randbytes(n or 32)).rstrip(b"=").decode()

    with closing(Database(sqlite_url(file))) as database:
        database.prepare()
        with (
            mock.patch.object(secrets, "token_hex", lambda n=None: drawn.randbytes(n or 32).hex()),
            mock.patch.object(secrets, "token_urlsafe", token),
            database.writing() as session,
        ):
            samples.load_demo(session, resource("seeds"), BEGUN_AT)
            session.commit()


def keep() -> None:
    """Make the study and keep it: ``nox -s demo``."""
    with TemporaryDirectory() as folder:
        made, taken = Path(folder, "made.sqlite"), Path(folder, "taken.sqlite")
        make(made)
        sqlite_files.take(made, taken)
        kept().write_bytes(lzma.compress(taken.read_bytes(), preset=9))
