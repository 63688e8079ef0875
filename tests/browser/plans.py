"""The keys that a rater will type for a whole run: arbitrary, yet the same every time."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.browser.server import Server

VERDICTS: tuple[tuple[str, Any], ...] = (
    ("y", 1), ("t", 0), ("v", 1), ("r", "unsure"), ("x", 0), ("y", 1), ("t", 0),
)  # fmt: skip
OUTCOMES = (("y", "correct_empty"), ("t", "false_negative"))


@dataclass(frozen=True, slots=True)
class Planned:
    """One question: the keys to type, and what must be stored once they were typed.

    ``keys`` pairs each key with the place that has focus when it is typed.
    """

    query_id: int
    keys: tuple[tuple[str, str], ...]
    relevance: tuple[Any, ...]
    quality: int | None
    empty_outcome: str | None


def plan(server: Server, run_id: str) -> list[Planned]:
    items: dict[int, list[tuple[str, str]]] = {}
    for row in csv.DictReader(io.StringIO(server.export_as(run_id, "long-csv"))):
        items.setdefault(int(row["query_id"]), []).append((row["property"], row["content"]))
    return [
        _empty(query["query_id"])
        if query["state"] == "empty"
        else _cards(query["query_id"], items[query["query_id"]])
        for query in server.export(run_id)["queries"]
    ]


def stored(server: Server, run_id: str) -> list[Planned]:
    return [
        Planned(
            query_id=query["query_id"],
            keys=(),
            relevance=tuple(result["relevance"] for result in query["results"]),
            quality=query["quality"],
            empty_outcome=query["empty_outcome"],
        )
        for query in server.export(run_id)["queries"]
    ]


def _empty(query_id: int) -> Planned:
    (key, outcome), quality = OUTCOMES[query_id % 2], query_id % 3
    keys = ((key, "outcome"), (str(quality), "grades"))
    return Planned(query_id, keys, (), quality, outcome)


def _cards(query_id: int, items: list[tuple[str, str]]) -> Planned:
    quality = query_id % 6
    verdicts: dict[tuple[str, str], Any] = {}
    keys: list[tuple[str, str]] = []
    for rank, (item, (key, verdict)) in enumerate(
        zip(items, _verdicts(query_id), strict=False), start=1
    ):
        if item not in verdicts:
            verdicts[item] = verdict
            keys.append((key, str(rank)))
    keys.append((str(quality), "grades"))
    relevance = tuple(verdicts[item] for item in items)
    return Planned(query_id, tuple(keys), relevance, quality, None)


def _verdicts(query_id: int) -> Iterator[tuple[str, Any]]:
    at = query_id * 3
    while True:
        yield VERDICTS[at % len(VERDICTS)]
        at += 1 + query_id % 2
