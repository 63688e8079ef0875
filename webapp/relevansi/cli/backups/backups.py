"""``relevansi backup``, ``restore`` and ``move``."""

from __future__ import annotations

import errno
import os
import tempfile
from contextlib import ExitStack, closing
from pathlib import Path

import click
from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from relevansi.cli.frame import options, output, serving
from relevansi.cli.frame.options import FILE
from relevansi.cli.frame.output import say
from relevansi.config import Settings, private_folder, with_driver
from relevansi.db.engine import Database, DatabaseOutOfDate
from relevansi.db.migrations import HEAD
from relevansi.db.sqlite_files import DatabaseInUse, DatabaseInUseBy
from relevansi.i18n import gettext, mark
from relevansi.services.backups import backups, moves
from relevansi.services.backups.backups import About

ENGINES = {"sqlite", "postgresql"}
PIECE = 2**20


@click.command("backup")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--replace", is_flag=True, help="Overwrite the file if it is there.")
@click.option("--catalogue", is_flag=True, help="Take the catalogue along, which may be large.")
def backup_command(file: Path, *, replace: bool, catalogue: bool) -> None:
    """Write the database without its catalogue to FILE, at one moment; the server may run on.

    With - for FILE it goes to the standard output. The file holds names, notes and hashed
    passwords: keep it as you keep the database.
    """
    piped = output.is_standard(file)
    with _opened() as opened, ExitStack() as stack:
        if piped:  # a backup is checked after it is written, which a pipe does not allow
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            file = Path(folder) / "relevansi.backup"
        about = backups.back_up(
            opened, file, options.now(), replace=replace, with_catalogue=catalogue
        )
        left_out = 0
        if not catalogue:
            with opened.reading() as session:
                left_out = moves.counts(session, ["catalogue_items"]).get("catalogue_items", 0)
        if piped:
            with file.open("rb") as backup:
                output.write_pieces(iter(lambda: backup.read(PIECE), b""))
    say(_summary(about) if piped else f"{file}: {_summary(about)}", err=piped)
    if left_out:
        line = gettext(
            "The catalogue (%(n)s items) is not in it: keep its files, or add --catalogue.",
            n=left_out,
        )
        say(line, err=piped)


@click.command("restore")
@click.argument("file", type=FILE)
@click.option("--replace", is_flag=True, help="Where there is a database, keep it beside.")
@click.option("--as-superuser", is_flag=True, help="Allow a superuser's role of PostgreSQL.")
def restore_command(file: Path, *, replace: bool, as_superuser: bool) -> None:
    """Put the backup FILE in the place of the configured database. Stop the server first.

    A database that holds anything is kept, under a name that is printed, and only replaced
    with --replace. A backup of SQLite can be restored into PostgreSQL and the other way round.
    """
    with _opened() as opened:
        where = opened.description
        try:
            about, earlier = backups.restore(
                opened, file, options.now(), replace=replace, as_superuser=as_superuser
            )
        except DatabaseInUse as refused:
            served = serving.find(Settings.from_environment())
            if served is None:
                raise
            raise DatabaseInUseBy(*refused.args, address=served) from refused
    say(f"{where}: {_summary(about)}")
    if earlier is not None:
        say(gettext("The earlier database is kept: %(name)s", name=earlier))
    _warn_of_server(
        mark("Relevansi at %(address)s ran during the restore: stop it, and start it again.")
    )


def _warn_of_server(message: str) -> None:
    served = serving.find(Settings.from_environment())
    if served is not None:
        say(gettext(message, address=served), err=True)


def _opened() -> closing[Database]:
    settings = options.settings_of_study()
    private_folder(settings.instance)
    return closing(Database(settings.database_url))


def _summary(about: About) -> str:
    return gettext(
        "%(runs)s runs, %(raters)s raters, %(judgments)s judgments, %(events)s events, "
        "as of %(moment)s (Relevansi %(product)s, tables %(version)s)",
        **{name: about.counts.get(name, 0) for name in ("runs", "raters", "judgments", "events")},
        moment=f"{about.created_at:%Y-%m-%d %H:%M:%S} UTC",
        product=about.product,
        version=about.schema_version,
    )


@click.command("move")
@click.argument("database_url", metavar="DATABASE-URL")
def move_command(database_url: str) -> None:
    """Take everything into another, empty database: SQLite to PostgreSQL and back.

    Every row is read again on both sides and compared before the other database keeps
    anything. The database in use stays as it is. Stop the server first: what is clicked
    meanwhile is not taken along.
    """
    old_url = options.settings_of_study().database_url
    new = _target(old_url, with_driver(database_url))
    with closing(Database(old_url)) as source, closing(Database(new)) as target:
        if source.is_missing():
            raise backups.NoDatabaseYet(source.description)
        if source.version() != HEAD:
            raise DatabaseOutOfDate(source.description)
        target.prepare()
        with source.reading() as old, target.writing() as session:
            with output.bar(2 * sum(moves.counts(old).values())) as bar:
                moved = moves.move(old, session, lambda name, rows: bar.advance(rows, name=name))
            session.commit()
        with source.reading() as session:
            counts_now = moves.counts(session)
        where = target.description
    width = max(map(len, moved))
    for name, rows in moved.items():
        say(f"{name:{width}}  {rows:>9}")
    line = gettext(
        "%(n)s rows are in %(name)s, each compared with the one it came from.",
        n=sum(moved.values()),
        name=where,
    )
    say(line)
    # The one place that prints a password: the setting to type, as it was typed here.
    say(gettext("From now on set RELEVANSI_DATABASE_URL=%(url)s", url=database_url))
    _warn_of_server(
        mark(
            "Relevansi at %(address)s still uses the old database: stop it, and start it again "
            "with that setting."
        )
    )
    changed = [name for name, rows in moved.items() if counts_now[name] != rows]
    if changed:
        refusal = gettext(
            "Somebody went on rating while it was moved (%(tables)s): stop the server and "
            "move again, into an empty database.",
            tables=", ".join(changed),
        )
        raise click.ClickException(refusal)


def _target(old: str, new: str) -> str:
    """Return the URL to move to; refuses one of another engine, and that in use."""
    try:
        url = make_url(new)
        is_known = url.get_backend_name() in ENGINES and bool(url.database)
    except (ArgumentError, NoSuchModuleError):
        is_known = False
    if not is_known:
        why = gettext("say postgresql://user@host/study or sqlite:////folder/study.sqlite.")
        raise click.BadParameter(why, param_hint="DATABASE-URL")
    if url == make_url(old):
        raise click.BadParameter(gettext("this is the database in use."), param_hint="DATABASE-URL")
    folder = Path(url.database or "").absolute().parent
    if url.get_backend_name() == "sqlite" and not folder.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(folder))
    return new
