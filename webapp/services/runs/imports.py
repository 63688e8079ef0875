"""Files turned into runs: the effect of an import is reported first, then it is stored."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime

from msgspec import Struct, field
from msgspec.structs import asdict, replace
from sqlalchemy import ColumnElement, func, insert, or_, select, true
from sqlalchemy.orm import InstrumentedAttribute, Session

from webapp.db.tables.judging import JudgedThing
from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Query, Result, Run, RunFile
from webapp.db.tables.study import Question, Study
from webapp.importers.runs import json_runs, property_particulars
from webapp.importers.runs.problems import ImportRefused, UnknownRunFormat
from webapp.kinds import from_row, to_row
from webapp.records import Counts, Item, Problem, QueryState, ReadQuery, ReadRun, Tell, nobody
from webapp.services.judging import live_metrics
from webapp.services.judging.judged_things import Pool
from webapp.services.study import question_sets, studies

RUN_ID_BYTES = 5
PROPERTIES = "properties"
"""The key under which a query keeps the properties its file lists beside the answer."""


class Labels(Struct, frozen=True):
    """The owner's labels, and by query id what the file does not say of ``context_dependent``."""

    search_method: str | None = None
    llm: str | None = None
    context_dependent: Mapping[int, bool] = field(default_factory=dict)


class ImportReport(Struct, frozen=True):
    """The effect of importing a file. Nothing is stored yet.

    ``run_id`` is the run that already holds the file (``already_imported``) or the same
    session (``enriches``). ``undecided`` are the questions of which it is not stated whether
    they depend on their conversation. ``read`` is ``None`` for a file that cannot be imported,
    perhaps since it ``is_something_else``. ``session_key`` is equal for two files of one session,
    ``question_keys`` for two runs of the same questions.
    """

    name: str
    read: ReadRun | None
    problems: tuple[Problem, ...]
    counts: Counts | None = None
    run_id: str | None = None
    already_imported: bool = False
    enriches: bool = False
    undecided: tuple[ReadQuery, ...] = ()
    is_something_else: bool = False
    session_key: str = ""
    question_keys: tuple[str, ...] = ()

    @property
    def brings_something(self) -> bool:
        """Whether storing the file changes anything."""
        return self.read is not None and not self.already_imported


class ImportedRun(Struct, frozen=True):
    """A run as it is after an import of one of its files."""

    id: str
    search_method: str | None
    llm: str | None
    counts: Counts
    already_imported: bool
    enriched: bool
    problems: tuple[Problem, ...]


def read(name: str, data: bytes, tell: Tell = nobody) -> ImportReport:
    """Return the report of a file by itself; `tell` is called with how many questions are read."""
    try:
        found = json_runs.read(name, data, tell)
    except ImportRefused as refused:
        other = isinstance(refused, UnknownRunFormat)
        return ImportReport(name, None, tuple(refused.problems), is_something_else=other)
    return ImportReport(
        name=name,
        read=found,
        problems=found.problems,
        counts=_counted(
            Counter(str(query.state) for query in found.queries),
            sum(len(query.cards) for query in found.queries),
        ),
        undecided=tuple(query for query in found.queries if query.context_dependent is None),
        session_key=json_runs.session_key(found),
        question_keys=tuple(json_runs.question_key(query.question) for query in found.queries),
    )


def without_answers(report: ImportReport) -> ImportReport:
    """Return the same report for looking at only: its ``read`` has no questions."""
    read = replace(report.read, queries=()) if report.read else None
    undecided = [replace(q, response="", cards=(), extra={}) for q in report.undecided]
    return replace(report, read=read, undecided=tuple(undecided))


def examine(session: Session, study: Study, report: ImportReport) -> ImportReport:
    """Return the report of a file beside the runs of the study, as they are now."""
    if report.read is None:
        return report
    run = _holding(session, study, report.read, report.session_key)
    already = run is not None and _has_file(run, report.read)
    return replace(
        report,
        run_id=run.id if run else None,
        already_imported=already,
        enriches=run is not None and not already,
    )


def turns_blind(session: Session, study: Study, reports: Iterable[ImportReport]) -> bool:
    """Whether storing these files makes the study's rating blind, since runs then compete."""
    if study.blind is not None or studies.is_blind(session, study):
        return False
    new: list[ImportReport] = []
    for report in reports:
        is_new = report.read is not None and report.run_id is None
        if is_new and not any(_is_same_session(report, other) for other in new):
            new.append(report)
    return question_sets.are_shared(session, study, [report.question_keys for report in new])


def _is_same_session(one: ImportReport, other: ImportReport) -> bool:
    assert one.read is not None
    assert other.read is not None
    methods = {one.read.search_method, other.read.search_method} - {None}
    times = {one.read.timestamp, other.read.timestamp} - {None}
    return one.session_key == other.session_key and len(methods) < 2 and len(times) < 2


def store(
    session: Session, study: Study, read: ReadRun, labels: Labels, now: datetime
) -> ImportedRun:
    """Store a run file, or enrich the run of the same session, or find it is there already."""
    run = _holding(session, study, read, json_runs.session_key(read))
    already = run is not None and _has_file(run, read)
    enriched = run is not None and not already
    if run is None:
        run = _make(session, study, read, labels, now)
    elif already:
        _fill_extra(run, read)
    else:
        _enrich(session, run, read, labels)
    if not already:
        run.files.append(
            RunFile(
                sha256=read.sha256,
                name=read.name,
                file_format=read.file_format,
                problems=[asdict(problem) for problem in read.problems],
                imported_at=now,
            )
        )
        raters = session.scalars(select(Rater.id).where(Rater.study_id == study.id)).all()
        live_metrics.refresh(session, raters, Query.run_id == run.id)
    of_run = Query.run_id == run.id
    states = select(Query.state, func.count()).where(of_run).group_by(Query.state)
    cards = session.scalar(select(func.count()).select_from(Result).join(Query).where(of_run))
    return ImportedRun(
        id=run.id,
        search_method=run.search_method,
        llm=run.llm,
        counts=_counted(dict(session.execute(states).all()), cards or 0),
        already_imported=already,
        enriched=enriched,
        problems=read.problems,
    )


def _counted(states: Mapping[str, int], cards: int) -> Counts:
    of = [states.get(state, 0) for state in QueryState]
    return Counts(sum(of), cards, *of)


def _holding(session: Session, study: Study, read: ReadRun, session_key: str) -> Run | None:
    by_file = select(Run).join(RunFile).where(RunFile.sha256 == read.sha256)
    by_session = select(Run).where(
        Run.session_key == session_key,
        _agrees(Run.stated_search_method, read.search_method),
        _agrees(Run.timestamp, read.timestamp),
    )
    found = (
        session.scalars(wanted.where(Run.study_id == study.id).limit(1)).first()
        for wanted in (by_file, by_session)
    )
    return next(filter(None, found), None)


def _agrees(column: InstrumentedAttribute[str | None], stated: str | None) -> ColumnElement[bool]:
    return true() if stated is None else or_(column.is_(None), column == stated)


def _has_file(run: Run, read: ReadRun) -> bool:
    return any(file.sha256 == read.sha256 for file in run.files)


def _make(session: Session, study: Study, read: ReadRun, labels: Labels, now: datetime) -> Run:
    decided = labels.context_dependent
    queries = [
        replace(query, context_dependent=decided.get(query.query_id, False))
        if query.context_dependent is None
        else query
        for query in read.queries
    ]
    question_set, questions = question_sets.find_or_make(session, study, queries, now)
    run = Run(
        id=secrets.token_hex(RUN_ID_BYTES),
        study_id=study.id,
        question_set=question_set,
        search_method=labels.search_method or read.search_method,
        llm=labels.llm or read.llm,
        stated_search_method=read.search_method,
        stated_llm=read.llm,
        timestamp=read.timestamp,
        session_key=json_runs.session_key(read),
        total_questions=read.total_questions,
        extra=dict(read.extra),
        imported_at=now,
    )
    session.add(run)
    pool = Pool(session, question_set, (card for query in queries for card in query.cards))
    with session.no_autoflush:  # no query in here needs the rows that are not written yet
        for entry, question in zip(queries, questions, strict=True):
            run.queries.append(to_query(run, question, entry))
        fill(session, pool, zip(run.queries, queries, strict=True))
    return run


def to_query(run: Run, question: Question, entry: ReadQuery) -> Query:
    """Return the row of a query of a run as it was read, still without its results."""
    return Query(
        run_id=run.id,
        question=question,
        query_id=entry.query_id,
        response=entry.response,
        state=str(entry.state),
        claimed_count=entry.claimed_count,
        error=entry.error,
        extra=dict(entry.extra),
    )


def fill(session: Session, pool: Pool, entries: Iterable[tuple[Query, ReadQuery]]) -> None:
    """Give queries without results theirs in one statement, or the emptiness to be classified."""
    shown: list[tuple[Query, int, JudgedThing, Item]] = []
    for query, entry in entries:
        if entry.state is QueryState.EMPTY:
            query.emptiness = pool.place_emptiness(query, query.question)
        for rank, card in enumerate(entry.cards, start=1):
            shown.append((query, rank, pool.place(query, query.question, card), card))
    session.flush()
    rows = [
        {"query_key": query.id, "rank": rank, "judged_thing_id": thing.id, "card": to_row(card)}
        for query, rank, thing, card in shown
    ]
    if rows:
        session.execute(insert(Result), rows)
    for query in {query for query, *_ in shown}:
        session.expire(query, ["results"])


def _enrich(session: Session, run: Run, read: ReadRun, labels: Labels) -> None:
    run.search_method = run.search_method or labels.search_method or read.search_method
    run.llm = run.llm or labels.llm or read.llm
    run.stated_search_method = run.stated_search_method or read.search_method
    run.stated_llm = run.stated_llm or read.llm
    run.timestamp = run.timestamp or read.timestamp
    run.extra = {**read.extra, **run.extra}
    _fill_extra(run, read)
    by_id = {query.query_id: query for query in read.queries}
    cards = (card for query in read.queries for card in query.cards)
    pool = Pool(session, run.question_set, cards)
    for query in run.queries:
        entry = by_id.get(query.query_id)
        if entry is None:
            continue
        if entry.state is QueryState.FAILED:
            query.state, query.error = str(entry.state), entry.error
            query.emptiness_id = None
        for result, card in zip(query.results, entry.cards, strict=False):
            fuller = from_row(result.card).fullest(card)
            result.card = to_row(fuller)
            result.judged_thing = pool.place_again(result, query, fuller)


def _fill_extra(run: Run, read: ReadRun) -> None:
    by_id = {query.query_id: query for query in read.queries}
    for query in run.queries:
        if query.query_id not in by_id:
            continue
        entry = by_id[query.query_id]
        extra = {**entry.extra, **query.extra}
        if PROPERTIES in extra:
            listed = (query.extra.get(PROPERTIES), entry.extra.get(PROPERTIES))
            extra[PROPERTIES] = property_particulars.enriched(*listed)
        if extra != query.extra:
            query.extra = extra
