"""One database: its engine, its read and write transactions, its creation and upgrade.

SQLite keeps what it acknowledged (WAL with synchronous=FULL, see docs/decisions/0004) and
its writers queue at one process-wide lock, because its own busy handler sleeps instead of
queueing. PostgreSQL needs neither.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from sqlalchemy import (
    Column,
    Connection,
    Dialect,
    Engine,
    ExceptionContext,
    MetaData,
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
from sqlalchemy.orm import Session
from sqlalchemy.pool import StaticPool
from sqlalchemy.util import LRUCache

from relevansi.config import new_private_folder
from relevansi.db.migrations import HEAD, OLDEST
from relevansi.db.outages import READ_ONLY
from relevansi.db.patience import PATIENCE_SECONDS, WriterQueue, milliseconds_left
from relevansi.db.sqlite_files import OpenFile, kept_beside, make_private
from relevansi.db.tables.base import Base
from relevansi.failures import Conflict
from relevansi.i18n import mark

if TYPE_CHECKING:
    from alembic.config import Config
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
        self._queue = WriterQueue() if self.is_sqlite else nullcontext()
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
        if not isinstance(self._queue, WriterQueue):
            return
        with self._queue.lock, self.engine.connect() as connection:
            driver: Any = connection.connection.driver_connection
            driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    def close(self) -> None:
        self.engine.dispose()
        if self._file is not None:
            self._file.release()


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
