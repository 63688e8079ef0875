"""Statements that SQLAlchemy writes once, for the driver to carry out on every click.

It writes them for the database in use, and converts each value on its way in and out.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial, wraps
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, cast

from sqlalchemy import Float, func, literal_column

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Dialect, SQLColumnExpression
    from sqlalchemy.types import TypeEngine

    from webapp.db.drivers import Driver

Values = Mapping[str, Any]
Rows = Sequence[tuple[Any, ...]]
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
        written = self._written.get(driver.dialect.name) or self._write_for(driver.dialect)
        return written.read(driver.rows(written.sql, written.bind(values)))

    def first(self, driver: Driver, values: Values) -> Any:
        """Return the first row, ``None`` where there is none."""
        found = self.all(driver, values)
        return found[0] if found else None

    def run(self, driver: Driver, values: Values) -> int:
        """Carry out the writing statement; return the number of rows written."""
        written = self._written.get(driver.dialect.name) or self._write_for(driver.dialect)
        return driver.run(written.sql, written.bind(values))

    def _write_for(self, dialect: Dialect) -> _Written:
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


class _Written(NamedTuple):
    """A statement in one database's dialect.

    ``bind`` converts our values to the driver's, ``read`` its rows to ours.
    """

    sql: str
    bind: Callable[[Values], Any]
    read: Callable[[Rows], list[Any]]


def _write(statement: Any, dialect: Dialect, columns: Sequence[str] | None) -> _Written:
    """Return `statement` in the words of `dialect`."""
    compiled = statement.compile(dialect=dialect, column_keys=columns)
    assert not compiled.post_compile_params, "a list of values has no place of its own"
    binds = {name: bind for bind, name in compiled.bind_names.items()}
    constants = {name: bind.effective_value for name, bind in binds.items() if not bind.required}
    constants |= {column.key: _default(column) for column in compiled.insert_prefetch}
    changes = {name: into for name, bind in binds.items() if (into := _change_in(bind, dialect))}
    ordered = _ordered(compiled.positiontup) if compiled.positional else dict
    columns_read = [] if statement.is_dml else list(statement.selected_columns)
    return _Written(
        compiled.string, _binder(ordered, constants, changes), _reader(columns_read, dialect)
    )


def _binder(
    ordered: Callable[[Values], Any], constants: Values, changes: Mapping[str, Change]
) -> Callable[[Values], Any]:
    """Return the function that adds the statement's `constants` and makes the `changes`."""
    if not constants and not changes:
        return ordered

    def bind(values: Values) -> Any:
        said = {**constants, **values}
        for name, change in changes.items():
            said[name] = change(said[name])
        return ordered(said)

    return bind


def _reader(columns: Sequence[Any], dialect: Dialect) -> Callable[[Rows], list[Any]]:
    """Return the function from the driver's rows to named tuples of our values."""
    kind = cast("Any", namedtuple)("Row", [column.key for column in columns], rename=True)  # noqa: PYI024
    row = partial(tuple.__new__, kind)
    changes = [
        (place, change)
        for place, column in enumerate(columns)
        if (change := _change_out(column, dialect))
    ]
    if not changes:
        return lambda found: list(map(row, found))

    def changed(found: Sequence[Any]) -> Any:
        values = list(found)
        for place, change in changes:
            values[place] = change(values[place])
        return row(values)

    return lambda found: list(map(changed, found))


def _ordered(names: Sequence[str]) -> Callable[[Values], Sequence[Any]]:
    """Return the function that takes these names' values from a mapping, in this order."""
    if len(names) < 2:  # an itemgetter of one gives no sequence
        return lambda said: [said[name] for name in names]
    return itemgetter(*names)


def _change_in(bind: Any, dialect: Dialect) -> Change | None:
    """Return the function from our value to the driver's; a float is one already."""
    kind = _type(bind, dialect)
    return None if isinstance(kind, Float) else kind.bind_processor(dialect)


def _change_out(column: Any, dialect: Dialect) -> Change | None:
    """Return the function from the driver's value to ours; a float is one already."""
    kind = _type(column, dialect)
    return None if isinstance(kind, Float) else kind.result_processor(dialect, None)


def _default(column: Any) -> Any:
    """Return a column's default value, the same in every row."""
    assert column.default.is_scalar, f"{column} is given another value in every row"
    return column.default.arg


def _type(of: Any, dialect: Dialect) -> TypeEngine[Any]:
    found: TypeEngine[Any] = of.type.dialect_impl(dialect)
    return found
