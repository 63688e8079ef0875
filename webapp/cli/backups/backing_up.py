"""``relevansi backup`` and ``relevansi restore``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from webapp.cli.frame import address_in_use, database
from webapp.cli.frame.options import FILE
from webapp.cli.frame.output import naming_full_disk, say
from webapp.config import Settings, private_folder
from webapp.db.engine import Database
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

    with _opened() as opened, _refusing(), naming_full_disk(str(file)):
        about = backups.back_up(opened, file, database.now(), replace=replace)
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

    with _opened() as opened, _refusing(), naming_full_disk(opened.description):
        restored = backups.restore(
            opened, file, database.now(), replace=replace, as_superuser=as_superuser
        )
        where = opened.description
    say(f"{where}: {_summary(restored.about)}")
    if restored.kept is not None:
        say(gettext("The earlier database is kept: %(name)s", name=restored.kept))
    served = address_in_use.find(Settings.from_environment())
    if served is not None:
        say(
            gettext(
                "Relevansi at %(address)s ran during the restore: stop it, and start it again.",
                address=served.base_url,
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
def _refusing() -> Iterator[None]:
    """Say in one line why a backup cannot be made or restored."""
    from webapp.db import sqlite_files
    from webapp.services.backups import backups

    texts: dict[type[Exception], str] = {
        backups.NothingToBackUp: gettext("There is no database yet: %(name)s"),
        backups.BackupExists: gettext("%(name)s is there already; --replace overwrites it."),
        backups.NotABackup: gettext(
            "%(name)s is not a backup of Relevansi, or not the whole of one."
        ),
        backups.DamagedBackup: gettext("The backup is damaged, nothing was restored: %(name)s"),
        backups.ForeignBackup: gettext(
            "The backup holds something that is not Relevansi's (%(name)s), nothing was restored."
        ),
        backups.NewerBackup: gettext(
            "The backup was made by a newer Relevansi (%(name)s); install that one first."
        ),
        backups.RestoresAsSuperuser: gettext(
            "The role of %(name)s is a superuser of its server. Restore as a role that owns only "
            "this database, or add --as-superuser."
        ),
        backups.DatabaseNotEmpty: gettext(
            "%(name)s holds data; --replace puts the backup in its place and keeps it beside."
        ),
        sqlite_files.DamagedDatabase: gettext(
            "The database is damaged (%(name)s). Restore the latest backup: "
            "relevansi restore FILE --replace"
        ),
    }
    try:
        yield
    except sqlite_files.DatabaseInUse as refused:
        raise click.ClickException(_in_use(str(refused))) from refused
    except tuple(texts) as refused:
        text = next(text for kind, text in texts.items() if isinstance(refused, kind))
        raise click.ClickException(text % {"name": str(refused)}) from refused


def _in_use(name: str) -> str:
    """Return the sentence that names the server to stop, where one is known."""
    served = address_in_use.find(Settings.from_environment())
    if served is None:
        return gettext("%(name)s is in use: stop the server first.", name=name)
    return gettext(
        "%(name)s is in use by Relevansi at %(address)s: stop it first.",
        name=name,
        address=served.base_url,
    )


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
