"""``relevansi demo``: a finished study to try, made from ``seeds`` by the services.

That of properties takes seconds to make, so its first start restores what ``nox -s demo`` kept;
that of documents (``--documents``) is imported at its first start.
"""

from __future__ import annotations

import lzma
import random
import secrets
from base64 import urlsafe_b64encode
from contextlib import closing, nullcontext
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
    """Return the settings of a demo, whose database holds its study afterwards.

    A study that an older version brought is kept, with its ratings; ``--fresh`` replaces it.
    """
    settings = Settings.from_environment()
    private_folder(settings.instance)
    url = settings.documents_database_url if documents else settings.demo_database_url
    settings = replace(settings, database_url=url, is_demo=True)
    anew = f"relevansi demo{' --documents' * documents} --fresh"
    with closing(Database(settings.database_url)) as demo:
        file = Path(demo.description)
        if fresh:
            sqlite_files.delete(file)
        if not file.exists():
            restore(file, documents=documents)
        try:
            demo.prepare()
        except DatabaseOutOfDate:
            demo.upgrade()
        except NewerDatabase as newer:
            raise click.ClickException(
                gettext(
                    "The demo %(name)s was made by a newer Relevansi. "
                    "`%(command)s` deletes it and opens the demo of this version.",
                    name=demo.description,
                    command=anew,
                )
            ) from newer
    if sqlite_files.marked(file) != mark(documents=documents):
        say(
            gettext(
                "The demo's study is of another version, with your ratings. "
                "`%(command)s` deletes them and opens the study of this version.",
                command=anew,
            ),
            err=True,
        )
    return settings


def kept() -> Path:
    return resource("seeds") / "demo" / "study.sqlite.xz"


def restore(file: Path, *, documents: bool = False) -> None:
    """Put the study of a demo into the place of `file`, as a whole or not at all."""
    with TemporaryDirectory(dir=file.parent) as folder:
        whole = Path(folder, file.name)
        if documents:
            make(Path(folder, "made.sqlite"), documents=True)
            sqlite_files.take(Path(folder, "made.sqlite"), whole)
        else:
            whole.write_bytes(lzma.decompress(kept().read_bytes()))
        sqlite_files.set_mark(whole, mark(documents=documents))
        sqlite_files.put(whole, file, kept=None)


def mark(*, documents: bool = False) -> int:
    """Return the number of the study that a demo of this version has."""
    folder = resource("seeds") / "documents"
    files = sorted(filter(Path.is_file, folder.rglob("*"))) if documents else [kept()]
    return crc32(b"".join(file.read_bytes() for file in files)) & 0x7FFF_FFFF


def make(file: Path, *, documents: bool = False) -> None:
    """Make the study of a demo in the new database `file` by the services that users use.

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
            load = samples.load_documents if documents else samples.load_demo
            load(session, resource("seeds"), BEGUN_AT)
            session.commit()


def keep() -> None:
    """Make the study and keep it: ``nox -s demo``."""
    with TemporaryDirectory() as folder:
        made, taken = Path(folder, "made.sqlite"), Path(folder, "taken.sqlite")
        make(made)
        sqlite_files.take(made, taken)
        kept().write_bytes(lzma.compress(taken.read_bytes(), preset=9))
