"""The options and files that commands of several features share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from functools import wraps
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar, cast

import click
from msgspec import Struct
from sqlalchemy.orm import Session

from relevansi.cli.frame.output import document_text, printed, write, write_json
from relevansi.config import Settings
from relevansi.db.engine import Database
from relevansi.db.tables.study import Study
from relevansi.exporters.frame.latex import latex
from relevansi.exporters.frame.tables import Document, Table, markdown
from relevansi.failures import Refused
from relevansi.i18n import gettext
from relevansi.services.folders import folder
from relevansi.services.study import studies

Command = TypeVar("Command", bound=Callable[..., Any])


class FiniteRange(click.FloatRange):
    """A finite number within a range; NaN is in no range, though no comparison says so."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if not isfinite(number):
            self.fail(gettext("%(value)s is no finite number.", value=value), param, ctx)
        return number


WIDTH = 100
"""The columns of a document for a terminal, the same in a pipe."""
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
OUTPUT = click.Path(dir_okay=False, path_type=Path)
output_option = click.option("-o", "--output", type=OUTPUT)
rule_option = click.option("--rule", help='"majority", "adjudicated" or "rater NAME".')
timeout_option = click.option(
    "--timeout",
    type=FiniteRange(min=0, min_open=True),
    default=120,
    help="Seconds that an answer may take.",
)
tries_option = click.option("--tries", type=click.IntRange(1, 20), default=3)


@contextmanager
def naming(option: str) -> Iterator[None]:
    """Name the `option` whose value is refused inside the ``with`` block."""
    try:
        yield
    except Refused as refused:
        raise click.BadParameter(refused.line(), param_hint=option) from refused


class Reply(Struct, frozen=True):
    """How a command answers: in which format, and into which file, if not the standard output."""

    file_format: str
    output: Path | None = None

    @property
    def is_json(self) -> bool:
        """Whether a program reads the answer."""
        return self.file_format == "json"

    def json(self, document: object) -> None:
        """Write one JSON document."""
        write_json(document, self.output)

    def write(self, data: bytes) -> None:
        """Write a document that is in its format already."""
        write(data, self.output)

    def document(self, document: Document, *, width: int = WIDTH) -> None:
        """Write a document as Markdown, as LaTeX, or else as a terminal shows it."""
        match self.file_format:
            case "markdown":
                data = markdown(document)
            case "latex":
                data = latex(document)
            case _:
                data = document_text(document, width=width)
        self.write(data)

    def text(self, parts: Iterable[Table | str]) -> None:
        """Write tables and sentences as a terminal shows them."""
        self.write(printed(parts, width=WIDTH))

    def table(self, table: Table) -> None:
        """Write a table without a frame, as wide as the terminal."""
        self.write(printed([table], boxed=False))


def replies(*formats: str) -> Callable[[Command], Command]:
    """Give the command a ``reply``, by options of its format and output.

    The first format is the usual one. Without any there is --json beside the text for people.
    """

    def with_reply(command: Command) -> Command:
        @wraps(command)
        def replying(*args: Any, **options: Any) -> Any:
            if formats:
                reply = Reply(options.pop("file_format"), options.pop("output"))
            else:
                reply = Reply("json" if options.pop("as_json") else "text")
            return command(*args, reply=reply, **options)

        if not formats:
            help_text = "Print one JSON document."
            as_json = click.option("--json", "as_json", is_flag=True, help=help_text)
            return cast("Command", as_json(replying))
        choice = click.option(
            "--format", "file_format", type=click.Choice(formats), default=formats[0]
        )
        return cast("Command", choice(output_option(replying)))

    return with_reply


def now() -> datetime:
    """Return the time in UTC, as the database has times."""
    return datetime.now(UTC)


def settings_of_study() -> Settings:
    """Return the settings of one study; of a folder of several the user has to name it."""
    settings = Settings.from_environment()
    if settings.studies is not None and not settings.study:
        names = ", ".join(folder.names(settings.studies)) or "-"
        refusal = gettext("Say which study: --study NAME. There are: %(names)s", names=names)
        raise click.UsageError(refusal)
    return settings


@contextmanager
def opened() -> Iterator[Database]:
    """Yield the configured database, made if it is new; close it afterwards."""
    with closing(Database(settings_of_study().database_url)) as database:
        database.prepare()
        yield database


@contextmanager
def writing() -> Iterator[tuple[Session, Study]]:
    """Yield a session for writing and the open study; commits at the end of the block."""
    with opened() as database, database.writing() as session:
        yield session, studies.open_or_make(session, now())
        session.commit()


@contextmanager
def reading() -> Iterator[tuple[Session, Study]]:
    """Yield a session for reading and the open study, which is made in a new database."""
    with opened() as database:
        # Making the study writes, which a session for reading may not.
        with database.reading() as session:
            is_new = studies.current(session) is None
        if is_new:
            with database.writing() as session:
                studies.open_or_make(session, now())
                session.commit()
        with database.reading() as session:
            study = studies.current(session)
            assert study is not None
            yield session, study
