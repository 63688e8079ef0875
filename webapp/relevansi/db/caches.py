"""What is kept in memory of one database, the latest used first."""

from __future__ import annotations

from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from sqlalchemy import Pool
from sqlalchemy.orm import Session

from relevansi.db.rows import core

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
