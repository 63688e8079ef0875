"""Statements that SQLAlchemy writes once, for the driver to carry out: what clicks wait for.

It writes them for the database in use, and tells how each value goes in and comes out.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial, wraps
from typing import TYPE_CHECKING, Any, ParamSpec, cast

from sqlalchemy import Float, func, literal_column

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Dialect, SQLColumnExpression
    from sqlalchemy.types import TypeEngine

    from webapp.db.drivers import Driver

Values = Mapping[str, Any]
Change = Callable[[Any], Any]
P = ParamSpec("P")


class Prepared:
    """A statement for the driver of any of our databases.

    ``write`` returns it, at its first use; ``columns`` are those that an INSERT is given. Its
    values are bound by name, each row comes back as a named tuple.
    """

    def __init__(self, write: Callable[[], Any], columns: Sequence[str] | None = None) -> None:
        self._write, self._columns = write, columns
        self._written: dict[str, _Written] = {}

    def all(self, driver: Driver, values: Values) -> list[Any]:
        """Return every row."""
        written = self._for(driver.dialect)
        return written.rows(driver.rows(written.sql, written.bound(values)))

    def first(self, driver: Driver, values: Values) -> Any:
        """Return the first row, ``None`` where there is none."""
        found = self.all(driver, values)
        return found[0] if found else None

    def run(self, driver: Driver, values: Values) -> int:
        """Write what the statement says; return how many rows that were."""
        written = self._for(driver.dialect)
        return driver.run(written.sql, written.bound(values))

    def _for(self, dialect: Dialect) -> _Written:
        written = self._written.get(dialect.name)
        if written is None:
            written = self._written[dialect.name] = _write(self._write(), dialect, self._columns)
        return written


def prepared(write: Callable[P, Any]) -> Callable[P, Prepared]:
    """Make of a function that returns a statement one that has it prepared, once of each kind."""

    @cache
    def of_a_kind(*kind: P.args, **named: P.kwargs) -> Prepared:
        return Prepared(partial(write, *kind, **named))

    return cast("Callable[P, Prepared]", wraps(write)(of_a_kind))


def joined(text: SQLColumnExpression[str]) -> ColumnElement[str]:
    """Return the texts of all rows as one, with commas between them and in no order."""
    comma: Any = literal_column("','")  # the comma itself would be a value of every question
    return func.aggregate_strings(text, comma)


@dataclass(frozen=True, slots=True)
class _Written:
    """A statement in one database's words.

    ``order`` names the values by their places, ``None`` where the driver takes names. Some
    values stand in the statement itself (``constants``); some are changed on their way.
    """

    sql: str
    order: tuple[str, ...] | None
    constants: dict[str, Any]
    changed_in: tuple[tuple[str, Change], ...]
    row: Callable[[Sequence[Any]], Any]
    changed_out: tuple[tuple[int, Change], ...]

    def bound(self, values: Values) -> Any:
        """Return the values as the driver takes them."""
        said = {**self.constants, **values}
        for name, change in self.changed_in:
            said[name] = change(said[name])
        return said if self.order is None else [said[name] for name in self.order]

    def rows(self, found: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Return what the driver brought, as named tuples of our values."""
        if not self.changed_out:
            return list(map(self.row, found))
        return [self.row(self._changed(one)) for one in found]

    def _changed(self, row: tuple[Any, ...]) -> list[Any]:
        values = list(row)
        for place, change in self.changed_out:
            values[place] = change(values[place])
        return values


def _write(statement: Any, dialect: Dialect, columns: Sequence[str] | None) -> _Written:
    """Return `statement` in the words of `dialect`."""
    compiled = statement.compile(dialect=dialect, column_keys=columns)
    assert not compiled.post_compile_params, "a list of values has no place of its own"
    binds = {name: bind for bind, name in compiled.bind_names.items()}
    read = [] if statement.is_dml else list(statement.selected_columns)
    constants = {name: bind.effective_value for name, bind in binds.items() if not bind.required}
    constants |= {column.key: _default(column) for column in compiled.insert_prefetch}
    row = cast("Any", namedtuple)("Row", [column.key for column in read], rename=True)  # noqa: PYI024
    return _Written(
        sql=compiled.string,
        order=tuple(compiled.positiontup) if compiled.positional else None,
        constants=constants,
        changed_in=tuple(
            (name, into) for name, bind in binds.items() if (into := _change_in(bind, dialect))
        ),
        row=row._make,
        changed_out=tuple(
            (place, change)
            for place, column in enumerate(read)
            if (change := _change_out(column, dialect))
        ),
    )


def _change_in(bind: Any, dialect: Dialect) -> Change | None:
    """Return what makes of a value of ours one of the driver's; a float is one already."""
    kind = _type(bind, dialect)
    return None if isinstance(kind, Float) else kind.bind_processor(dialect)


def _change_out(column: Any, dialect: Dialect) -> Change | None:
    """Return what makes of a value of the driver's one of ours; a float is one already."""
    kind = _type(column, dialect)
    return None if isinstance(kind, Float) else kind.result_processor(dialect, None)


def _default(column: Any) -> Any:
    """Return what a column is given where nobody says anything, the same in every row."""
    assert column.default.is_scalar, f"{column} is given another value in every row"
    return column.default.arg


def _type(of: Any, dialect: Dialect) -> TypeEngine[Any]:
    found: TypeEngine[Any] = of.type.dialect_impl(dialect)
    return found
