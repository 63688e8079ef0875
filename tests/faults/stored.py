"""The rows of a database, read with plain SQL and not through the product."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import NullPool, create_engine, text

Place = tuple[int, int]
"""A card of the sample's run: query and rank."""

EVENTS = "SELECT event_id FROM events"
VERDICTS = """
    SELECT queries.query_id, results.rank, judgments.verdict
    FROM results
    JOIN queries ON queries.id = results.query_key
    JOIN judgments ON judgments.judged_item_id = results.judged_item_id
"""
PLACES = """
    SELECT min(queries.query_id), min(results.rank)
    FROM results JOIN queries ON queries.id = results.query_key
    GROUP BY results.judged_item_id
    HAVING count(*) = 1
    ORDER BY 1, 2
"""


@dataclass(frozen=True, slots=True)
class Stored:
    """The events by id, how often each is there, and the verdict in force on each card."""

    events: Mapping[str, int]
    verdicts: Mapping[Place, str | None]
    unsound: str = ""

    @property
    def doubled(self) -> int:
        """How many events are there more than once."""
        return sum(count - 1 for count in self.events.values())


def read(url: str) -> Stored:
    """Return what is in the database at `url`; on SQLite its pages are checked too."""
    sound = rows(url, "PRAGMA integrity_check")[0][0] if url.startswith("sqlite") else "ok"
    return Stored(
        Counter(event for (event,) in rows(url, EVENTS)),
        {(query, rank): verdict for query, rank, verdict in rows(url, VERDICTS)},
        "" if sound == "ok" else sound,
    )


def places(url: str) -> list[Place]:
    """Return the cards that show what no other card shows: a click there touches no other."""
    return [(query, rank) for query, rank in rows(url, PLACES)]


def rows(url: str, sql: str) -> list[Any]:
    """Return the answer to one question, over a connection of its own."""
    engine = create_engine(url, poolclass=NullPool)
    with engine.connect() as connection:
        return list(connection.execute(text(sql)))
