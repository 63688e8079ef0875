"""The event log as files to take away; a spreadsheet runs none of its cells."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from sqlalchemy.orm import Session

from webapp.db.tables.people import Rater
from webapp.exporters.frame.csv_cells import Cell, csv_bytes
from webapp.services.people import history
from webapp.services.people.history import HistoryEntry

Value = str | int | bool | None

_COLUMNS: Mapping[str, Callable[[HistoryEntry], Value]] = {
    "id": lambda entry: entry.id,
    "rater": lambda entry: entry.rater,
    "client_time": lambda entry: _time(entry.client_time),
    "received_at": lambda entry: _time(entry.received_at),
    "question_position": lambda entry: entry.position,
    "question": lambda entry: entry.question,
    "field": lambda entry: str(entry.change),
    "property": lambda entry: entry.identity,
    "content": lambda entry: entry.content,
    "title": lambda entry: entry.title,
    "answer": lambda entry: entry.letter if entry.answer is None else entry.answer,
    "run": lambda entry: entry.run_id,
    "query_id": lambda entry: entry.query_id,
    "task": lambda entry: entry.task_id,
    "old": lambda entry: entry.old,
    "new": lambda entry: entry.new,
    "cause": lambda entry: entry.cause,
    "undoes": lambda entry: entry.undoes,
    "device": lambda entry: entry.device,
    "sequence": lambda entry: entry.sequence,
    "event_id": lambda entry: entry.event_id,
    "stands": lambda entry: entry.stands,
    "undone": lambda entry: entry.undone,
    "overtaken": lambda entry: entry.overtaken,
}

COLUMNS = tuple(_COLUMNS)
"""The columns of the CSV file and the keys of every line of the JSON one."""


def as_csv(session: Session, reader: Rater) -> bytes:
    """Return all events that `reader` may see, one line each; booleans are 1 and 0."""
    rows = [tuple(map(_cell, _values(entry))) for entry in history.log(session, reader)]
    return csv_bytes([COLUMNS, *rows])


def as_json_lines(session: Session, reader: Rater) -> bytes:
    """Return all events that `reader` may see, one JSON object a line."""
    lines = (
        json.dumps(dict(zip(COLUMNS, _values(entry), strict=True)), ensure_ascii=False)
        for entry in history.log(session, reader)
    )
    return "".join(f"{line}\n" for line in lines).encode()


def _values(entry: HistoryEntry) -> Sequence[Value]:
    return [read(entry) for read in _COLUMNS.values()]


def _cell(value: Value) -> Cell:
    return int(value) if isinstance(value, bool) else value


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
