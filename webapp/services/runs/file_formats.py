"""The formats of the files that can be imported, and the one way from a file to what is stored.

A file is recognised and read once, then looked at beside the study, decided on by the owner, and
stored; on the page what was read waits in between. Another format is its functions and a line in
``FORMATS``.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from datetime import datetime
from io import BytesIO
from typing import Any

from msgspec import Struct, field, json
from msgspec.structs import asdict, replace
from sqlalchemy.orm import Session

from webapp.db.tables.study import Study
from webapp.importers.runs import csv_ratings
from webapp.importers.runs import ratings as rating_changes
from webapp.importers.runs.csv_ratings import RatedFile
from webapp.importers.runs.problems import ImportRefused
from webapp.importers.runs.ratings import OfflineRatings
from webapp.kinds import from_row, to_row
from webapp.records import Problem, ReadQuery, Tell, nobody
from webapp.services.exports import rated_imports, ratings
from webapp.services.runs import imports
from webapp.services.runs.imports import ImportReport, Labels

CHANGES_A_QUESTION = 10
"""So many changes of a rater are stored in the time of a question with its cards."""


class FileDecision(Struct, frozen=True):
    """The owner's decision on one file: its run's labels, or its rater, whose report was shown."""

    rater: str | None = None
    confirm: bool = False
    method: str = ""
    llm: str = ""
    depends: list[str] = field(default_factory=list)


class StoredFile(Struct, frozen=True):
    """What became of a file: its report, its run, and whether there is nothing left to decide."""

    report: Any
    run_id: str | None
    is_done: bool = True
    newcomer: str | None = None


class FileFormat(Struct, frozen=True):
    """How files of one format are recognised and read, as ``kind``.

    The report's template has the ``name``; ``size`` is about how many questions a file has.
    """

    name: str
    kind: type
    sniff: Callable[[str, bytes], bool]
    read: Callable[[str, bytes, Tell], Any]
    size: Callable[[bytes], int]


RATED_CSV = FileFormat(
    name="rated_csv",
    kind=RatedFile,
    sniff=lambda name, data: name.lower().endswith(".csv") or csv_ratings.recognises(data),
    read=lambda name, data, _tell: csv_ratings.read(name, data),
    size=lambda data: data.count(b"\n"),
)
RATINGS = FileFormat(
    name="ratings",
    kind=OfflineRatings,
    sniff=lambda _name, data: rating_changes.recognises(data),
    read=lambda name, data, _tell: rating_changes.read(name, data),
    size=lambda data: data.count(b'"query_id"') // CHANGES_A_QUESTION,
)
RUN = FileFormat(
    name="run",
    kind=ImportReport,
    sniff=lambda _name, _data: True,
    read=imports.read,
    size=lambda data: data.count(b'"query_id"'),
)
FORMATS = (RATED_CSV, RATINGS, RUN)
"""Every format in the order of recognising; files are stored in the opposite order, runs first."""


class OpenedFile(Struct, frozen=True):
    """A file as it was read, or why it cannot be."""

    format: FileFormat
    read: Any


def recognised(name: str, data: bytes) -> FileFormat:
    """Return the format that a file has."""
    return next(each for each in FORMATS if each.sniff(name, data))


def opened(form: FileFormat, name: str, data: bytes, tell: Tell = nobody) -> OpenedFile:
    """Read a file that is recognised; `tell` is called with how many questions are read."""
    try:
        return OpenedFile(form, form.read(name, data, tell))
    except ImportRefused as refused:
        return OpenedFile(form, refused)


def packed(file: OpenedFile) -> tuple[bytes, bytes]:
    """Return what was read of a file in two parts: its report, and the answers that it stores."""
    # As JSON: an integer of a file may be too long for MessagePack.
    if isinstance(file.read, ImportRefused):
        return json.encode(file.read.problems), b""
    if file.format is RUN and file.read.read is not None:
        rows = ({**asdict(q), "cards": [*map(to_row, q.cards)]} for q in file.read.read.queries)
        return json.encode(imports.without_answers(file.read)), b"\n".join(map(json.encode, rows))
    return json.encode(file.read), b""


def unpacked(form: FileFormat, report: bytes, answers: bytes = b"") -> OpenedFile:
    """Return a file from what was ``packed``; without its answers it can be looked at only."""
    read: Any = json.decode(report, type=form.kind | tuple[Problem, ...])
    if isinstance(read, tuple):
        return OpenedFile(form, ImportRefused(*read))
    if answers:
        read = replace(read, read=replace(read.read, queries=tuple(_queries(answers))))
    return OpenedFile(form, read)


def _queries(answers: bytes) -> Iterator[ReadQuery]:
    for line in BytesIO(answers):  # one by one: all at once would be as many dictionaries
        query = json.decode(line, type=ReadQuery)
        yield replace(query, cards=tuple(map(from_row, query.cards)))


def look(session: Session, study: Study, file: OpenedFile, rater: str | None, now: datetime) -> Any:
    """Return the report of a file beside the study; nothing is stored."""
    if file.format is RUN:
        return imports.examine(session, study, file.read)
    if file.format is RATINGS:
        return ratings.examine(session, study, file.read, now, rater)
    return rated_imports.examine(session, study, file.read, rater)


def store(
    session: Session,
    study: Study,
    file: OpenedFile,
    decision: FileDecision,
    newcomers: Container[str],
    now: datetime,
) -> StoredFile:
    """Store a file as far as it can be; `newcomers` are raters whom earlier files made."""
    read, rater, is_sure = file.read, decision.rater, decision.confirm
    if file.format is RATED_CSV:
        csv = rated_imports.store(session, study, read, rater or "", now, overwrite=is_sure)
        return StoredFile(csv, csv.run_id, csv.storable)
    if file.format is RATINGS:
        found = ratings.store(
            session, study, read, now, rater, confirmed=is_sure, newcomers=newcomers
        )
        newcomer = found.rater if found.stored and found.rater_is_new else None
        return StoredFile(found, found.run_id, found.stored, newcomer)
    if read.read is None:
        return StoredFile(read, None)
    depends = {one.query_id: str(one.query_id) in decision.depends for one in read.undecided}
    labels = Labels(decision.method or None, decision.llm or None, depends)
    run = imports.store(session, study, read.read, labels, now)
    return StoredFile(run, run.id)
