"""The options and files that commands of several features share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

import click
from sqlalchemy.orm import Session

from relevansi.config import Settings
from relevansi.db.engine import Database
from relevansi.db.tables.study import Study
from relevansi.failures import Refused
from relevansi.i18n import gettext
from relevansi.services.study import studies

Command = TypeVar("Command", bound=Callable[..., Any])


class FiniteRange(click.FloatRange):
    """A finite number within a range; NaN is in no range, though no comparison says so."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if not isfinite(number):
            self.fail(gettext("%(value)s is no finite number.", value=value), param, ctx)
        return number


FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
output_option = click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path))
as_json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
timeout_option = click.option(
    "--timeout",
    type=FiniteRange(min=0, min_open=True),
    default=120,
    show_default=True,
    help="Seconds that an answer may take.",
)
tries_option = click.option("--tries", type=click.IntRange(1, 20), default=3, show_default=True)


@contextmanager
def naming(option: str) -> Iterator[None]:
    """Name the option whose value is refused."""
    try:
        yield
    except Refused as refused:
        raise click.BadParameter(refused.line(), param_hint=option) from refused


def formats(*names: str) -> Callable[[Command], Command]:
    """Add the options for the format, the first unless another is named, and for the output."""
    choice = click.option(
        "--format", "file_format", type=click.Choice(names), default=names[0], show_default=True
    )
    return lambda command: choice(output_option(command))


def now() -> datetime:
    return datetime.now(UTC)


@contextmanager
def opened() -> Iterator[Database]:
    """Yield the configured database, made if it is new; close it afterwards."""
    with closing(Database(Settings.from_environment().database_url)) as database:
        database.prepare()
        yield database


@contextmanager
def reading() -> Iterator[tuple[Session, Study]]:
    """Yield a session for reading and the open study, which is made in a new database."""
    with opened() as database:
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
