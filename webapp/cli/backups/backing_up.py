"""``relevansi backup`` and ``relevansi restore``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from webapp.cli.frame import options, serving
from webapp.cli.frame.options import FILE
from webapp.cli.frame.output import say
from webapp.config import Settings, private_folder
from webapp.db.engine import Database
from webapp.db.sqlite_files import DatabaseInUse, DatabaseInUseBy
from webapp.i18n import gettext

if TYPE_CHECKING:
    from webapp.services.backups.backups import About


@click.command("backup")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--replace", is_flag=True, help="Overwrite the file if it is there.")
def backup_command(file: Path, *, replace: bool) -> None:
    """Write the whole database to FILE, as it is at one moment; the server may run on.

    The file holds names, notes and hashed passwords: keep it as you keep the database.
    """
    from webapp.services.backups import backups

    with _opened() as opened:
        about = backups.back_up(opened, file, options.now(), replace=replace)
    say(f"{file}: {_summary(about)}")


@click.command("restore")
@click.argument("file", type=FILE)
@click.option("--replace", is_flag=True, help="Where there is a database, keep it beside.")
@click.option("--as-superuser", is_flag=True, help="Allow a superuser's role of PostgreSQL.")
def restore_command(file: Path, *, replace: bool, as_superuser: bool) -> None:
    """Put the backup FILE in the place of the configured database. Stop the server first.

    A database that holds anything is kept, under a name that is printed, and only replaced
    with --replace. A backup of SQLite can be restored into PostgreSQL and the other way round.
    """
    from webapp.services.backups import backups

    with _opened() as opened, _naming_server():
        restored = backups.restore(
            opened, file, options.now(), replace=replace, as_superuser=as_superuser
        )
        where = opened.description
    say(f"{where}: {_summary(restored.about)}")
    if restored.kept is not None:
        say(gettext("The earlier database is kept: %(name)s", name=restored.kept))
    served = serving.find(Settings.from_environment())
    if served is not None:
        say(
            gettext(
                "Relevansi at %(address)s ran during the restore: stop it, and start it again.",
                address=served,
            ),
            err=True,
        )


@contextmanager
def _opened() -> Iterator[Database]:
    """Yield the configured database as it is, neither made nor upgraded."""
    settings = Settings.from_environment()
    private_folder(settings.instance)
    opened = Database(settings.database_url)
    try:
        yield opened
    finally:
        opened.close()


@contextmanager
def _naming_server() -> Iterator[None]:
    """Name the server that has the database open, where one is known."""
    try:
        yield
    except DatabaseInUse as refused:
        served = serving.find(Settings.from_environment())
        if served is None:
            raise
        raise DatabaseInUseBy(*refused.args, address=served) from refused


def _summary(about: About) -> str:
    """Return what a backup holds, in a line."""
    return gettext(
        "%(runs)s runs, %(raters)s raters, %(judgments)s judgments, %(events)s events, "
        "as of %(moment)s (Relevansi %(product)s, tables %(version)s)",
        runs=about.counts.get("runs", 0),
        raters=about.counts.get("raters", 0),
        judgments=about.counts.get("judgments", 0),
        events=about.counts.get("events", 0),
        moment=f"{about.created_at:%Y-%m-%d %H:%M:%S} UTC",
        product=about.product,
        version=about.schema_version,
    )
