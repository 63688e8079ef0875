"""Run files as they are read, and the effect that storing one would have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from io import BytesIO
from typing import Any

from msgspec import Struct, json
from msgspec.structs import replace
from sqlalchemy.orm import Session

from relevansi.db.tables.study import Study
from relevansi.i18n import mark
from relevansi.importers.frame import bounded
from relevansi.importers.runs import json_runs
from relevansi.kinds import from_row
from relevansi.kinds.document import Document
from relevansi.kinds.property import Card
from relevansi.records import Counts, OnProgress, Problem, ReadQuery, ReadRun, no_progress
from relevansi.services.runs.stored_runs import (
    OtherKind,
    counts_of,
    has_file,
    holding,
    is_other_kind,
)
from relevansi.services.study import question_sets, studies

BECOMES = {
    Card.kind: mark("This becomes a study of properties. A database holds one study, of one kind."),
    Document.kind: mark(
        "This becomes a study of documents: passages, pages, products or whatever else a search "
        "or RAG system lists. A database holds one study, of one kind."
    ),
}
"""What the first import makes of a study, by the kind of its items (message ids)."""


class ImportReport(Struct, frozen=True):
    """The effect of importing a file. Nothing is stored yet.

    ``run_id`` is the run that already holds the file (``already_imported``) or the same
    session (``enriches``). ``undecided`` are the questions of which it is not stated whether
    they depend on their conversation, ``follow_ups`` the ids of those that do. ``question_keys``
    are equal for two runs of the same questions. ``refused`` is why the file cannot be stored here.
    """

    name: str
    read: ReadRun
    problems: tuple[Problem, ...]
    counts: Counts
    run_id: str | None = None
    already_imported: bool = False
    enriches: bool = False
    undecided: tuple[ReadQuery, ...] = ()
    follow_ups: tuple[int, ...] = ()
    question_keys: tuple[str, ...] = ()
    refused: Any = None  # a ``Refused``

    @property
    def brings_something(self) -> bool:
        """Whether storing the file changes anything."""
        return not (self.already_imported or self.refused)


def read(name: str, data: bytes, on_progress: OnProgress = no_progress) -> ImportReport:
    """Return the report of a file by itself; raises an ``ImportRefused``.

    `on_progress` is called with how many questions are read.
    """
    run = bounded.call(name, json_runs.read, name, data, on_progress=on_progress)
    return ImportReport(
        name=name,
        read=run,
        problems=run.problems,
        counts=counts_of(
            Counter(str(query.state) for query in run.queries),
            sum(len(query.cards) for query in run.queries),
        ),
        undecided=tuple(query for query in run.queries if query.context_dependent is None),
        follow_ups=tuple(query.query_id for query in run.queries if query.context_dependent),
        question_keys=tuple(json_runs.question_key(query.question) for query in run.queries),
    )


def parted(report: ImportReport) -> tuple[ImportReport, bytes]:
    """Return the same report for looking at only, and the questions that its ``read`` lacks."""
    undecided = [replace(q, response="", cards=(), extra={}) for q in report.undecided]
    brief = replace(report, read=replace(report.read, queries=()), undecided=tuple(undecided))
    # As JSON: an integer of a file may be too long for MessagePack.
    return brief, b"\n".join(map(json.encode, report.read.queries))


def joined(report: ImportReport, answers: bytes) -> ImportReport:
    # One by one: all at once would be as many dictionaries.
    decoded = (json.decode(line, type=ReadQuery) for line in BytesIO(answers))
    queries = tuple(replace(query, cards=tuple(map(from_row, query.cards))) for query in decoded)
    return replace(report, read=replace(report.read, queries=queries))


def examine(session: Session, study: Study, report: ImportReport) -> ImportReport:
    """Return the report of a file beside the runs of the study, as they are now."""
    run = holding(session, study, report.read, report.read.key)
    already = run is not None and has_file(run, report.read)
    return replace(
        report,
        run_id=run.id if run else None,
        already_imported=already,
        enriches=run is not None and not already,
        refused=OtherKind() if is_other_kind(session, study, Card.kind) else None,
    )


def turns_blind(session: Session, study: Study, reports: Iterable[ImportReport]) -> bool:
    """Whether storing these files makes the study's rating blind, since runs then compete."""
    if study.blind is not None or studies.is_blind(session, study):
        return False
    new: list[ImportReport] = []
    for report in reports:
        is_new = report.brings_something and report.run_id is None
        if is_new and not any(_is_same_session(report, earlier) for earlier in new):
            new.append(report)
    return question_sets.are_shared(session, study, [report.question_keys for report in new])


def _is_same_session(report: ImportReport, earlier: ImportReport) -> bool:
    methods = {report.read.search_method, earlier.read.search_method} - {None}
    times = {report.read.timestamp, earlier.read.timestamp} - {None}
    return report.read.key == earlier.read.key and len(methods) < 2 and len(times) < 2
