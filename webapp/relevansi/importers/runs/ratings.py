"""Ratings brought back from a page that was rated without a server: every change, in order.

The file also states the final judgments. That part is for people and programs; the stored
judgments follow from the changes alone. Of the cards it keeps title and identity, to
recognise them by.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, ValidationError, convert

from relevansi.importers.runs.json_documents import FromFile, Reading, Whole
from relevansi.importers.runs.problems import ImportRefused, error
from relevansi.printable import name_line, printable_line
from relevansi.records import EmptyOutcome, Problem, Scale

FORMAT = "relevansi offline ratings"
"""The file's name for its format, written by the page without a server; it is recognised by it."""

VERSION = 1
LONGEST_NOTES = 10_000
MOST_REASON = 250
OF_CARDS = frozenset({"relevance", "reason"})
"""The fields of changes that are about a card, not about its whole answer."""
LONGEST_NAME = 200
_VERDICTS = (None, *Scale(top=Scale.MOST).verdicts)
_LAST_MILLISECOND = 253_402_300_799_999  # of the year 9999


class RatedCard(FromFile, frozen=True):
    """A card as the page showed it, at its 1-based rank."""

    rank: Whole
    title: str
    identity: str


class RatingChange(Struct, frozen=True):
    """One judgment that a rater gave or took back: an event on its way into the log.

    ``field`` is "relevance" or "reason" (of the card at ``rank``), "quality", "notes" or
    "empty_outcome"; ``value`` is as events keep it. ``undoes`` is the id of the event that it takes
    back.
    """

    event_id: str
    sequence: int
    made_at: datetime
    query_id: int
    field: str
    value: str | None
    rank: int | None = None
    undoes: str | None = None


class OfflineRatings(Struct, frozen=True):
    """The file as read; ``cards`` are those of each question by its query id and their ranks."""

    name: str
    identity: str
    rater: str
    device: str
    changes: tuple[RatingChange, ...]
    cards: Mapping[int, Mapping[int, RatedCard]]
    problems: tuple[Problem, ...] = ()


class _Query(FromFile, frozen=True):
    query_id: Whole
    results: Annotated[tuple[RatedCard, ...], Meta(description="list_of_objects")]


class _Top(FromFile, frozen=True):
    format: Annotated[Literal["relevansi offline ratings"], Meta(description="offline_ratings")]
    version: Whole
    identity: Annotated[str, Meta(description="text")]
    changes: Annotated[list[Any], Meta(description="list")]
    rater: str = ""
    device: Annotated[str, Meta(max_length=64)] = ""
    queries: tuple[Any, ...] = ()


class _Change(FromFile, frozen=True):
    event_id: Annotated[str, Meta(min_length=1, max_length=64)]
    sequence: Whole
    time: Annotated[int, Meta(ge=0, le=_LAST_MILLISECOND)]
    query_id: Whole
    field: Literal["relevance", "reason", "quality", "notes", "empty_outcome"]
    value: str | int | None
    rank: Annotated[int, Meta(ge=1)] | None = None
    cause: str = "click"
    undoes: str | None = None


def recognises(data: bytes) -> bool:
    """Whether `data` names the format.

    >>> recognises(b'{"format": "relevansi offline ratings"}'), recognises(b"{}")
    (True, False)
    """
    return re.search(rf'"format"\s*:\s*"{FORMAT}"'.encode(), data) is not None


def read(name: str, data: bytes) -> OfflineRatings:
    """The ratings in the file `name` without invalid changes; raises ``ImportRefused``."""
    reading = Reading(name)
    document = reading.document(data, "offline_ratings")
    top = reading.model(_Top, document, "", {"": "file_refused"})
    if top is None:
        raise ImportRefused(*reading.problems)
    if top.version > VERSION:
        raise ImportRefused(error("ratings_too_new", name))
    listed = reading.entries(_Query, top.queries, "queries", {"": "entry_left_out"})
    return OfflineRatings(
        name=name,
        identity=top.identity,
        rater=name_line(top.rater)[:LONGEST_NAME],
        device=top.device,
        changes=_changes(reading, top.changes),
        cards={
            query.query_id: {card.rank: card for card in query.results} for _, _, query in listed
        },
        problems=tuple(reading.problems),
    )


def _changes(reading: Reading, listed: list[Any]) -> tuple[RatingChange, ...]:
    by_id: dict[str, RatingChange] = {}
    for position, raw in enumerate(listed):
        change = None
        with suppress(ValidationError):
            change = _change(convert(raw, _Change))
        if change is None or change.event_id in by_id:
            reading.error("ratings_change_wrong", {"place": f"changes[{position}]"})
        else:
            by_id[change.event_id] = change
    return tuple(sorted(by_id.values(), key=lambda change: change.sequence))


def _change(entry: _Change) -> RatingChange | None:
    value = entry.value
    text: str | None
    match entry.field, value:
        case "relevance", None | str() if entry.rank is not None and value in _VERDICTS:
            text = value or None
        case "reason", None | str() if entry.rank is not None and len(value or "") <= MOST_REASON:
            text = printable_line(value or "") or None
        case "quality", None:
            text = None
        case "quality", int() if 0 <= value <= 5:
            text = str(value)
        case "notes", None | str() if len(value or "") <= LONGEST_NOTES:
            text = (value or "").replace("\r\n", "\n") or None
        case "empty_outcome", None | "correct_empty" | "false_negative":
            text = EmptyOutcome(value) if value else None
        case _:
            return None
    return RatingChange(
        event_id=entry.event_id,
        sequence=entry.sequence,
        made_at=datetime.fromtimestamp(entry.time / 1000, UTC),
        query_id=entry.query_id,
        field=entry.field,
        value=None if text is None else str(text),
        rank=entry.rank if entry.field in OF_CARDS else None,
        undoes=entry.undoes if entry.cause == "undo" else None,
    )
