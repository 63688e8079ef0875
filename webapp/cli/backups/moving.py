"""``relevansi move``."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING

import click
from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from webapp.cli.frame import output, serving
from webapp.cli.frame.output import say
from webapp.config import Settings, with_driver
from webapp.db.engine import Database, DatabaseOutOfDate
from webapp.db.migrations import HEAD
from webapp.i18n import gettext

if TYPE_CHECKING:
    from webapp.services.backups.moving import MovedTable

ENGINES = {"sqlite", "postgresql"}


@click.command("move")
@click.argument("database_url", metavar="DATABASE-URL")
def move_command(database_url: str) -> None:
    """Take everything into another, empty database: SQLite to PostgreSQL and back.

    Every row is read again on both sides and compared before the other database keeps
    anything. The database in use stays as it is. Stop the server first: what is clicked
    meanwhile is not taken along.
    """
    settings = Settings.from_environment()
    new = _other(settings.database_url, with_driver(database_url))
    with closing(_opened(settings.database_url)) as source, closing(Database(new)) as target:
        target.prepare()
        moved, further = _move(source, target)
        _tell(moved, target, database_url)
    _name_server(settings)
    if further:
        raise click.ClickException(
            gettext(
                "Somebody went on rating while it was moved (%(tables)s): stop the server and "
                "move again, into an empty database.",
                tables=", ".join(further),
            )
        )


def _other(old: str, new: str) -> str:
    """Return the address to move to: SQLite or PostgreSQL, but not the database in use."""
    try:
        url = make_url(new)
        is_known = url.get_backend_name() in ENGINES and bool(url.database)
    except (ArgumentError, NoSuchModuleError):
        is_known = False
    if not is_known:
        raise click.BadParameter(
            gettext("say postgresql://user@host/study or sqlite:////folder/study.sqlite."),
            param_hint="DATABASE-URL",
        )
    if url == make_url(old):
        raise click.BadParameter(gettext("this is the database in use."), param_hint="DATABASE-URL")
    return new


def _opened(url: str) -> Database:
    """Return the database in use, which is neither made nor upgraded here."""
    source = Database(url)
    if source.is_missing():
        from webapp.services.backups.backups import NoDatabaseYet

        raise NoDatabaseYet(source.description)
    if source.version() != HEAD:
        raise DatabaseOutOfDate(source.description)
    return source


def _move(source: Database, target: Database) -> tuple[Sequence[MovedTable], Sequence[str]]:
    """Return what was moved, and the tables that have got other rows at the source since."""
    from webapp.services.backups import moving

    with source.reading() as old, target.writing() as new:
        with output.bar(2 * sum(moving.counts(old).values())) as bar:
            moved = moving.move(old, new, lambda name, rows: bar.advance(rows, name=name))
        new.commit()
    with source.reading() as later:
        now = moving.counts(later)
    return moved, [table.name for table in moved if now[table.name] != table.rows]


def _tell(moved: Sequence[MovedTable], target: Database, url: str) -> None:
    """Print what was moved, and the setting to type, with the address and password as typed here.

    Everywhere else the password is left out.
    """
    width = max(len(table.name) for table in moved)
    for table in moved:
        say(f"{table.name:{width}}  {table.rows:>9}  {table.digest[:16]}")
    say(
        gettext(
            "%(n)s rows are in %(name)s, each compared with the one it came from.",
            n=sum(table.rows for table in moved),
            name=target.description,
        )
    )
    say(gettext("From now on set RELEVANSI_DATABASE_URL=%(url)s", url=url))


def _name_server(settings: Settings) -> None:
    """Name the server that still stores clicks in the database that was moved."""
    served = serving.find(settings)
    if served is not None:
        say(
            gettext(
                "Relevansi at %(address)s still uses the old database: stop it, and start it "
                "again with that setting.",
                address=served,
            ),
            err=True,
        )
