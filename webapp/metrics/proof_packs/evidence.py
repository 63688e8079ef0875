"""The evidence of a study's figures as plain values: the answers shown, the judgments, the log.

A proof pack holds exactly this. Apart from the ids of events, nothing here has a number that
only one database knows, so an outsider can follow every verdict by the ids in the files.
"""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from webapp.records import QueryState


class Thing(Struct, frozen=True):
    """The subject of one verdict: (question, property, content), or a question's empty list.

    ``position`` is the question's in its set (from 1). ``property_id`` is ``None`` for the
    empty list. ``run`` is set only where the answer depends on its own conversation.
    """

    question_set: str
    position: int
    property_id: str | None
    content: int = 1
    run: str | None = None


class PackedResult(Struct, frozen=True):
    """One result of a list: its 1-based rank, what it counts as, and its title."""

    rank: int
    thing: Thing
    title: str


class ShownQuery(Struct, frozen=True):
    """One question as one run answered it; ``emptiness`` is what an empty list is judged as."""

    query_id: int
    position: int
    question: str
    category: str
    state: QueryState
    results: tuple[PackedResult, ...] = ()
    emptiness: Thing | None = None


class ShownRun(Struct, frozen=True):
    """A run's lists in run order; its labels are ``None`` where they are not stated."""

    run: str
    question_set: str
    queries: tuple[ShownQuery, ...]
    search_method: str | None = None
    llm: str | None = None


class SetQuestion(Struct, frozen=True):
    """One question of a set, by its position there (from 1)."""

    position: int
    text: str
    category: str
    context_dependent: bool


class GivenVerdict(Struct, frozen=True):
    """One rater's standing verdict on one thing."""

    rater: str
    thing: Thing
    verdict: str


class GivenRating(Struct, frozen=True):
    """One rater's standing quality (0-5) and notes of one answer."""

    rater: str
    run: str
    query_id: int
    quality: int | None
    notes: str


class SettledThing(Struct, frozen=True):
    """The verdict that settles a disputed thing, by whom, when and why."""

    thing: Thing
    verdict: str
    reason: str
    by: str
    at: datetime


class LoggedEvent(Struct, frozen=True):
    """One change a rater asked for, as the event log keeps it.

    ``field`` is "verdict" or "repeat" (of ``thing``), "quality" or "notes" (of the answer
    ``run``, ``query_id``, which for a verdict name the answer where it was clicked). Deleted
    parts are ``None``.
    """

    id: int
    event_id: str
    rater: str
    field: str
    thing: Thing | None
    run: str | None
    query_id: int | None
    task: str | None
    old: str | None
    new: str | None
    cause: str
    undoes: int | None
    device: str
    sequence: int
    client_time: datetime | None
    received_at: datetime
