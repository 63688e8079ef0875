"""One database: its engine, its read and write transactions, its creation and upgrade.

SQLite keeps what it acknowledged (WAL with synchronous=FULL, see docs/decisions/0004) and
its writers queue at one process-wide lock, because its own busy handler sleeps instead of
queueing. PostgreSQL needs neither.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from weakref import WeakKeyDictionary

import msgspec
from sqlalchemy import (
    Column,
    Connection,
    Dialect,
    Engine,
    ExceptionContext,
    Insert,
    MetaData,
    Pool,
    PrimaryKeyConstraint,
    String,
    Table,
    create_engine,
    event,
    insert,
    inspect,
    make_url,
    select,
    text,
)
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session
from sqlalchemy.pool import StaticPool
from sqlalchemy.util import LRUCache

from relevansi.config import new_private_folder
from relevansi.db import sqlite_files
from relevansi.db.migrations import HEAD, OLDEST
from relevansi.db.outages import READ_ONLY, Outage, WriterBusy, outage
from relevansi.db.sqlite_files import OpenFile, kept_beside, make_private
from relevansi.db.tables.base import Base
from relevansi.failures import Conflict
from relevansi.i18n import mark

if TYPE_CHECKING:
    from alembic.config import Config


PATIENCE_SECONDS = 10.0
"""After this a question to a locked database is refused, which frees its thread."""

_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


@contextmanager
def shared() -> Iterator[None]:
    """Let all transactions inside the ``with`` block share one deadline."""
    before = _deadline.set(monotonic() + PATIENCE_SECONDS)
    try:
        yield
    finally:
        _deadline.reset(before)


def seconds_left() -> float:
    """Return how long may still be waited: 0 once the deadline has passed."""
    until = _deadline.get()
    return PATIENCE_SECONDS if until is None else max(0.0, until - monotonic())


def milliseconds_left() -> int:
    """Return the same as ``seconds_left`` in milliseconds, at least 1: 0 means for ever."""
    return max(1, round(seconds_left() * 1000))


SLOW_SECONDS = 1.0
MOST_BEHIND_SLOW = 4
"""The most writers that wait behind a write that takes longer than ``SLOW_SECONDS``.

All others are refused, even if they came earlier, so that threads stay free for requests that only
read.
"""
ADVISORY_KEY = 7_361_825
"""Names our one advisory lock on PostgreSQL, apart from those of other programs."""


VERSION = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)
"""The table in which Alembic keeps the version of the tables, as Alembic makes it."""


class DatabaseOutOfDate(Conflict):
    message = mark("The database %(name)s is of an older version")
    remedy = mark("Run `relevansi upgrade`.")


class NewerDatabase(Conflict):
    message = mark("The database %(name)s was made by a newer Relevansi")
    remedy = mark("Install that version to use it.")


class TooOldDatabase(Conflict):
    message = mark("The database %(name)s was made before Relevansi 1.1.0")
    remedy = mark("Bring it to that version with Relevansi 1.1.0 first (`relevansi upgrade`).")


class RestoreCutOff(Conflict):
    message = mark(
        "There is no database %(name)s, but %(kept)s is beside it: a restore was cut off"
    )
    remedy = mark(
        "Rename that one back to have the earlier state, or repeat the restore. For a new study, "
        "move it to another folder."
    )


class Database:
    """The configured database, shared by every thread of one process.

    ``patience`` is how many seconds a reader of SQLite waits for a file that another one locks.
    """

    def __init__(self, url: str, *, patience: float = PATIENCE_SECONDS) -> None:
        self.url = make_url(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        if self.is_sqlite and self.url.database:
            new_private_folder(Path(self.url.database).absolute().parent)
        self.engine = _sqlite_engine(url, patience) if self.is_sqlite else _postgres_engine(url)
        self._to_write = self.engine.execution_options(begin="IMMEDIATE")
        # All statements of a reading see the database as the first one did: SQLite reads so anyway.
        level: dict[str, Any] = {} if self.is_sqlite else {"isolation_level": "REPEATABLE READ"}
        self._to_read = self.engine.execution_options(**level)
        self._queue = _Queue() if self.is_sqlite else nullcontext()
        self._file = OpenFile(Path(self.url.database or "")) if self.is_sqlite else None

    @property
    def description(self) -> str:
        if self.is_sqlite:
            return str(Path(str(self.url.database)))
        return self.url.render_as_string(hide_password=True)

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """Yield a session for reading one state of the database; its changes are thrown away."""
        with Session(self._to_read, autoflush=False) as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """Yield a session whose caller commits; not committed means rolled back.

        Raises ``WriterBusy`` or the database's own error for a lock that others keep for too
        long, and ``FileReplaced`` where SQLite's file is not the one at its path.
        """
        # Nothing is acknowledged that was written to a file which its path does not lead to.
        self.check_file()
        with self._queue, Session(self._to_write) as session:
            if not self.is_sqlite:
                waits = f"SET LOCAL lock_timeout = {milliseconds_left()}"
                session.connection().exec_driver_sql(waits)
            yield session
        self.check_file()

    def check_file(self) -> None:
        """Raise ``FileReplaced`` where SQLite's file was removed or replaced while open."""
        if self._file is not None:
            self._file.check()

    def prepare(self) -> None:
        if self.is_missing() and (leftovers := kept_beside(Path(self.description))):
            raise RestoreCutOff(self.description, kept=str(leftovers[-1]))
        version = self.version()
        if version is None:
            self.upgrade()
        elif version != HEAD:
            is_known = version in known_versions()
            raise DatabaseOutOfDate(self.description) if is_known else self._unknown(version)

    def _unknown(self, version: str) -> Exception:
        kind = TooOldDatabase if version < OLDEST else NewerDatabase
        return kind(self.description)

    def is_missing(self) -> bool:
        return self.is_sqlite and not Path(self.description).is_file()

    def version(self) -> str | None:
        """Return the version of the tables; ``None`` where there are none."""
        with self.engine.connect() as connection:
            if not inspect(connection).has_table(VERSION.name):
                return None
            version: str | None = connection.scalar(select(VERSION.c.version_num))
            return version

    def upgrade(self, version: str = HEAD) -> None:
        """Make the tables, or bring older ones to `version`; keeps every row."""
        current = self.version()
        if current is not None and current not in known_versions():
            raise self._unknown(current)
        if self.is_sqlite:  # once: WAL is a property of the file
            with self.engine.connect() as connection:
                driver: Any = connection.connection.driver_connection
                if driver.execute("PRAGMA journal_mode").fetchone() != ("wal",):
                    driver.execute("PRAGMA journal_mode = WAL")
        with self.engine.begin() as connection:
            one_at_a_time(connection)
            self.make_tables(connection, version)

    def make_tables(self, connection: Connection, version: str = HEAD) -> None:
        """Make the tables, or bring them to `version`, in the transaction of `connection`."""
        # A new database gets the newest tables at once: the steps to them take ten times as long.
        if version == HEAD and not inspect(connection).has_table(VERSION.name):
            Base.metadata.create_all(connection, checkfirst=False)
            VERSION.create(connection)
            connection.execute(insert(VERSION).values(version_num=HEAD))
            return
        from alembic import command  # noqa: PLC0415 - 100 ms that serving an up-to-date database need not pay

        config = _alembic()
        config.attributes["connection"] = connection
        command.upgrade(config, version)

    def empty_journal(self) -> None:
        """Empty the WAL, so that data deleted from the SQLite file is not left in it."""
        if not isinstance(self._queue, _Queue):
            return
        with self._queue.lock, self.engine.connect() as connection:
            driver: Any = connection.connection.driver_connection
            driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    def close(self) -> None:
        self.engine.dispose()
        if self._file is not None:
            self._file.release()


class _Queue:
    """The lock of this process's writers; raises ``WriterBusy`` at the deadline or in a crowd."""

    def __init__(self) -> None:
        self.lock = Lock()
        self._waiting = 0
        self._since = 0.0

    def __enter__(self) -> None:
        if not self.lock.acquire(blocking=False):
            self._wait()
        self._since = monotonic()

    def __exit__(self, *_error: object) -> None:
        self.lock.release()

    def _wait(self) -> None:
        until = monotonic() + seconds_left()
        self._waiting += 1
        try:
            while (patience := until - monotonic()) > 0:
                is_slow = monotonic() - self._since > SLOW_SECONDS
                if is_slow and self._waiting > MOST_BEHIND_SLOW:
                    break
                if self.lock.acquire(timeout=min(patience, SLOW_SECONDS)):
                    return
            raise WriterBusy
        finally:
            self._waiting -= 1


def known_versions() -> set[str]:
    from alembic.script import ScriptDirectory  # noqa: PLC0415 - half a second

    return {step.revision for step in ScriptDirectory.from_config(_alembic()).walk_revisions()}


def one_at_a_time(asking: Connection | Session) -> None:
    """Wait for other processes that are in such a transaction, and let others wait for this one."""
    # SQLite's write transactions do so anyway.
    engine = asking.get_bind() if isinstance(asking, Session) else asking
    if engine.dialect.name == "postgresql":
        asking.execute(text(f"SELECT pg_advisory_xact_lock({ADVISORY_KEY})"))


def _alembic() -> Config:
    from alembic.config import Config  # noqa: PLC0415 - half a second

    config = Config()
    config.set_main_option("script_location", "relevansi.db:migrations")
    return config


def to_json(value: Any) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, UnicodeEncodeError):  # half a character, or a key that is no text
        return json.dumps(value)


def _from_json(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:  # half a character, or a number that is none
        return json.loads(text)


_JSON: dict[str, Any] = {"json_serializer": to_json, "json_deserializer": _from_json}
"""Many times as fast as the standard library, which large imports feel."""


def _postgres_engine(url: str) -> Engine:
    # It leaves connections to a server that is gone or no primary any more.
    patience = PATIENCE_SECONDS
    engine = create_engine(
        url,
        pool_pre_ping=True,
        pool_timeout=patience,
        **_JSON,
        connect_args={"connect_timeout": int(patience)},
    )

    @event.listens_for(engine, "handle_error")
    def replace_if_read_only(context: ExceptionContext) -> None:
        if getattr(context.original_exception, "sqlstate", None) == READ_ONLY:
            context.is_disconnect = True

    return engine


SQLITE_HEAP = 16 * 2**20
"""The bytes that SQLite keeps for pages it has read, of all databases of this process together."""


@cache
def _sqlite_dialect() -> Dialect:
    """Return what speaks SQLite, the same for every database: compiled statements are of one."""
    with create_engine("sqlite://", **_JSON).connect() as connection:
        return connection.dialect


_COMPILED: LRUCache[Any, Any] = LRUCache(500)
"""The statements that were compiled for SQLite: several studies ask the same ones."""


def in_memory() -> Engine:
    """Return an empty SQLite database in memory, gone once its engine is disposed of."""
    single = create_engine("sqlite://", poolclass=StaticPool, **_JSON)
    shared = {"compiled_cache": _COMPILED}
    return Engine(single.pool, _sqlite_dialect(), single.url, execution_options=shared)


def _sqlite_engine(url: str, patience: float) -> Engine:
    # The connection used last has the pages it read in memory: the next request takes it.
    single = create_engine(url, pool_use_lifo=True, connect_args={"timeout": patience}, **_JSON)
    shared = {"compiled_cache": _COMPILED}
    engine = Engine(single.pool, _sqlite_dialect(), single.url, execution_options=shared)

    @event.listens_for(single, "do_connect")
    def keep_private(_dialect: object, _record: object, cargs: Any, _cparams: object) -> None:
        make_private(Path(cargs[0]))

    @event.listens_for(engine, "connect")
    def set_up(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # the driver must not begin transactions itself
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA soft_heap_limit = {SQLITE_HEAP}")
        connection.execute("PRAGMA secure_delete = ON")  # a removed person is in no free page

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        driver: Any = connection.connection.driver_connection
        if connection.get_execution_options().get("begin") == "IMMEDIATE":
            driver.execute(f"PRAGMA busy_timeout = {milliseconds_left()}")
            connection.exec_driver_sql("BEGIN IMMEDIATE")  # SQLAlchemy's errors where it is locked
        else:  # reading a WAL waits for nobody
            driver.execute("BEGIN")

    return engine


PROGRAM = "token_id"
"""The name in ``Session.info`` of the token by which a program writes."""


def token_id(session: Session) -> int | None:
    """Return the id of the token by which a program writes in `session`, ``None`` for a person."""
    token: int | None = session.info.get(PROGRAM)
    return token


def core(session: Session) -> Connection:
    """Return the connection behind `session`, once all that it holds is written."""
    session.flush()
    return session.connection()


Key = TypeVar("Key")
Value = TypeVar("Value")


class LruCache(Generic[Key, Value]):
    """At most `most` values for each database; the oldest goes first.

    A value may be missing or older than the database: the caller must be able to tell.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: WeakKeyDictionary[Pool, dict[Key, Value]] = WeakKeyDictionary()

    def get(self, session: Session, key: Key) -> Value | None:
        return self._of(session).get(key)

    def store(self, session: Session, key: Key, value: Value) -> None:
        values = self._of(session)
        values.pop(key, None)
        values[key] = value
        for oldest in list(values)[: max(len(values) - self._most, 0)]:
            values.pop(oldest, None)

    def _of(self, session: Session) -> dict[Key, Value]:
        # The pool of connections is one for reading and writing, which have an engine each.
        return self._values.setdefault(core(session).engine.pool, {})


def insert_rows(
    connection: Connection,
    model: type[Base],
    columns: str,
    rows: Sequence[tuple[object, ...]],
    *,
    values: str = "",
    unless_taken: bool = False,
) -> None:
    """Insert rows of `columns`, named with commas between, as the driver takes them.

    JSON comes as text. `values` has a ? for each value of a row, perhaps within a query.
    `unless_taken`: rows whose unique columns are taken are left out. It is for the hundred thousand
    rows of an import, where SQLAlchemy's work on each takes most of the time.
    """
    mark = "?" if connection.dialect.paramstyle == "qmark" else "%s"
    marks = (values or ", ".join("?" for _ in columns.split(","))).replace("?", mark)
    table = model.__tablename__
    insert = f"INSERT INTO {table} ({columns}) VALUES ({marks})"  # noqa: S608
    if unless_taken:
        insert += " ON CONFLICT DO NOTHING"
    if rows:
        connection.exec_driver_sql(insert, [*rows])


def next_ids(connection: Connection, model: type[Base], count: int) -> Sequence[int]:
    """The ids of the next rows of a table, so that none has to be read back.

    SQLite would give one above the largest too, and has no other writer meanwhile. It gives the id
    of a removed last row again: remove rows first, then ask.
    """
    table = model.__tablename__
    if connection.dialect.name == "sqlite":
        largest = connection.scalar(text(f"SELECT coalesce(max(id), 0) FROM {table}"))  # noqa: S608
        return range(largest + 1, largest + 1 + count)
    drawn = "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)"
    return connection.exec_driver_sql(drawn, (table, count)).scalars().all()


def _insert(model: type[Base], dialect: str) -> Any:
    """Return the dialect's own INSERT, the only one that may say what becomes of a taken key."""
    # Where the database is SQLite, PostgreSQL's dialect would cost each command's start 5 per cent.
    return import_module(f"sqlalchemy.dialects.{dialect}").insert(model.__table__).inline()


@cache
def upsert(
    model: type[Base], dialect: str, columns: tuple[str, ...] = (), unchanged: tuple[str, ...] = ()
) -> Insert:
    """Return the statement that inserts a row of `model`, or updates the row with the same key."""
    # Writing an indexed column, even with the same value, rewrites its index: hence `unchanged`.
    table: Any = model.__table__
    keys = [column.name for column in table.primary_key]
    others = columns or tuple(column.name for column in table.columns if column.name not in keys)
    statement = _insert(model, dialect)
    changed = {name: statement.excluded[name] for name in others if name not in unchanged}
    written: Insert = statement.on_conflict_do_update(index_elements=keys, set_=changed)
    return written


@cache
def added(model: type[Base], dialect: str, unique: tuple[str, ...]) -> Insert:
    """Return the statement that inserts a row of `model` unless its `unique` columns are taken."""
    written: Insert = _insert(model, dialect).on_conflict_do_nothing(index_elements=unique)
    return written.execution_options(preserve_rowcount=True)


MOST_FAULTS = 20
"""The most faults that are named; more would not help."""
_MOST_TOLD = 120
"""The most characters of a fault that are shown: it may quote a whole text."""
_ROWS_AT_ONCE = 20
"""Rows that are in memory at once: some hold whole files."""


def faults(database: Database) -> list[str]:
    """Return the faults of the database itself, at most ``MOST_FAULTS``; empty means sound.

    On SQLite every page, index and reference is read; PostgreSQL holds these by itself.
    """
    problems: list[str] = []
    if database.is_sqlite:
        path = Path(database.description)
        problems = sqlite_files.faults(path, most=MOST_FAULTS)
        if not problems:
            problems = sqlite_files.triggers_and_views(path)
    return (problems or _missing(database) or _unreadable(database))[:MOST_FAULTS]


def _unreadable(database: Database) -> list[str]:
    # SQLite's own check looks at how pages hang together, and not at the texts on them.
    problems: list[str] = []
    with database.reading() as session:
        for table in Base.metadata.sorted_tables:
            statement = select(table).execution_options(yield_per=_ROWS_AT_ONCE)
            try:
                for _row in session.execute(statement):
                    pass
            except (DBAPIError, ValueError) as failure:
                if isinstance(failure, DBAPIError) and outage(failure) is not Outage.DAMAGED:
                    raise
                reason = getattr(failure, "orig", None) or failure
                problems.append(f"{table.name}: {reason}"[:_MOST_TOLD])
    return problems


def _missing(database: Database) -> list[str]:
    inspector = inspect(database.engine)
    names = set(inspector.get_table_names())
    absent: list[str] = []
    for table in Base.metadata.sorted_tables:
        if table.name not in names:
            absent.append(table.name)
            continue
        columns = {column["name"] for column in inspector.get_columns(table.name)}
        absent += [
            f"{table.name}.{column.name}" for column in table.columns if column.name not in columns
        ]
    return absent
