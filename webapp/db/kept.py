"""Values that a process keeps between requests, apart for each database."""

from __future__ import annotations

from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from sqlalchemy import Pool
from sqlalchemy.orm import Session

from webapp.db.connection import tables

Key = TypeVar("Key")
Value = TypeVar("Value")


class Kept(Generic[Key, Value]):
    """At most `most` values for each database; the value that was put longest ago goes first.

    A value may be missing at any time, and may be older than the database: the caller must be able
    to tell, and to read it anew.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: WeakKeyDictionary[Pool, dict[Key, Value]] = WeakKeyDictionary()

    def get(self, session: Session, key: Key) -> Value | None:
        """Return the value that was put under `key`, ``None`` if there is none."""
        return self._of(session).get(key)

    def put(self, session: Session, key: Key, value: Value) -> None:
        """Keep `value` under `key`."""
        values = self._of(session)
        values.pop(key, None)
        values[key] = value
        for oldest in list(values)[: max(len(values) - self._most, 0)]:
            values.pop(oldest, None)

    def _of(self, session: Session) -> dict[Key, Value]:
        # The pool of connections is one for reading and writing, which have an engine each.
        return self._values.setdefault(tables(session).engine.pool, {})
