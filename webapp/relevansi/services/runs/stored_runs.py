"""Runs as they are stored: made from what was read of a file, or enriched by a further one."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import count
from typing import Any, TypeVar

from msgspec import Struct, field
from msgspec.structs import asdict, replace
from sqlalchemy import ColumnElement, Row, func, or_, select, true, update
from sqlalchemy.orm import InstrumentedAttribute, Session

from relevansi.db.engine import to_json
from relevansi.db.rows import core, insert_rows, next_ids
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query, Result, Run, RunFile
from relevansi.db.tables.study import Question, QuestionSet, Study
from relevansi.failures import Refused
from relevansi.i18n import mark
from relevansi.importers.runs import json_runs, property_particulars
from relevansi.kinds import KINDS, from_row, to_row
from relevansi.kinds.document import Document
from relevansi.kinds.property import Card
from relevansi.records import (
    Counts,
    Item,
    OnProgress,
    Problem,
    QueryState,
    ReadQuery,
    ReadRun,
    no_progress,
)
from relevansi.services.judging import stored_summaries
from relevansi.services.judging.judged_items import PORTION, Pool, PooledItem
from relevansi.services.judging.verdicts import TAIL
from relevansi.services.study import question_sets, studies

AskedT = TypeVar("AskedT")
PROPERTIES = "properties"
"""The key under which a query keeps the properties its file lists beside the answer."""


class OtherKind(Refused):
    message = mark("This study judges items of another kind than these files hold")
    remedy = mark(
        "A database holds one study, of one kind. Start Relevansi with another database for these "
        "files: set RELEVANSI_INSTANCE to another folder."
    )


def begin(session: Session, study: Study, kind: str, now: datetime) -> None:
    """Make a study without runs one of this kind of items; raises ``OtherKind``."""
    if is_other_kind(session, study, kind):
        raise OtherKind
    if study.kind != kind:
        study.kind, study.asks_quality = kind, KINDS[kind].always_answered
        studies.log(session, study, "set kind", study.name, None, kind, now)


def is_other_kind(session: Session, study: Study, kind: str) -> bool:
    """Whether a study has runs of another kind of items."""
    a_run = select(Run.id).where(Run.study_id == study.id).limit(1)
    return study.kind != kind and session.scalar(a_run) is not None


class Labels(Struct, frozen=True):
    """The owner's labels, and by query id what the file does not say of ``context_dependent``."""

    search_method: str | None = None
    llm: str | None = None
    context_dependent: Mapping[int, bool] = field(default_factory=dict)


class ImportedRun(Struct, frozen=True):
    """A run as it is after an import of one of its files."""

    id: str
    search_method: str | None
    llm: str | None
    counts: Counts
    already_imported: bool
    enriched: bool
    problems: tuple[Problem, ...]


def store(
    session: Session, study: Study, read: ReadRun, labels: Labels, now: datetime
) -> ImportedRun:
    """Store a run file, or enrich the run of the same session, or find it is there already.

    Raises ``OtherKind``, and then stores nothing.
    """
    (run,), _changed = store_together(session, study, [read], labels, now)
    return run


def store_together(
    session: Session,
    study: Study,
    reads: Sequence[ReadRun],
    labels: Labels,
    now: datetime,
    *,
    visible_part: Callable[[Any], Item] | None = None,
    same_documents: bool = False,
    on_progress: OnProgress = no_progress,
) -> tuple[tuple[ImportedRun, ...], frozenset[str]]:
    """Store runs of one import: one run file, or results, whose runs all have the same questions.

    Returns the runs as they are then, and the identities of documents with another text.
    `visible_part` returns what is kept of an item. `same_documents`: a document with another text
    than before is the same, and has its new text. `on_progress` gets how many questions are
    done. Raises as ``store`` does.
    """
    is_of_results = reads[0].is_of_results
    begin(session, study, Document.kind if is_of_results else Card.kind, now)
    question_set: QuestionSet | None = None
    questions: list[Question] = []
    new: dict[str, Iterator[tuple[Question, ReadQuery]]] = {}
    stored: list[tuple[Run, ReadRun, bool]] = []
    for read in reads:
        session_key = read.key or json_runs.session_key(read)
        run = holding(session, study, read, session_key)
        # A run of results is told by its lists, so there is nothing to add to it.
        already = run is not None and (is_of_results or has_file(run, read))
        if run is None:
            queries = _decided(read.queries, labels)
            if question_set is None:
                find = question_sets.of_collection if is_of_results else question_sets.find_or_make
                question_set, questions = find(session, study, queries, now)
            run = _make(session, question_set, read, labels, session_key, now)
            new[run.id] = _answers(queries, questions, visible_part, by_place=is_of_results)
        else:
            if not already:
                _enrich(session, run, read, labels)
            _fill_extra(session, run, read)
        if not already:
            run.files.append(_file(read, now))
        stored.append((run, read, already))
    changed = add_answers(
        session,
        new,
        only_answers=is_of_results,
        same_documents=same_documents,
        on_progress=on_progress,
    )
    raters = session.scalars(select(Rater.id).where(Rater.study_id == study.id)).all()
    imported = []
    for run, read, already in stored:
        if not already:
            stored_summaries.refresh(session, raters, Query.run_id == run.id)
        is_enriched = not already and run.id not in new
        imported.append(_imported(session, run, read, already=already, enriched=is_enriched))
    return tuple(imported), frozenset(changed)


def _file(read: ReadRun, now: datetime) -> RunFile:
    return RunFile(
        sha256=read.sha256,
        name=read.name,
        file_format=read.file_format,
        problems=[asdict(problem) for problem in read.problems],
        imported_at=now,
    )


def _imported(
    session: Session, run: Run, read: ReadRun, *, already: bool, enriched: bool
) -> ImportedRun:
    of_run = Query.run_id == run.id
    states = select(Query.state, func.count()).where(of_run).group_by(Query.state)
    cards = session.scalar(select(func.count(Result.judged_item_id)).join(Query).where(of_run))
    return ImportedRun(
        id=run.id,
        search_method=run.search_method,
        llm=run.llm,
        counts=counts_of(dict(session.execute(states).all()), cards or 0),
        already_imported=already,
        enriched=enriched,
        problems=read.problems,
    )


def counts_of(states: Mapping[str, int], cards: int) -> Counts:
    """Return the numbers of a run from those of its queries in each state."""
    of = [states.get(state, 0) for state in QueryState]
    return Counts(sum(of), cards, *of)


def holding(session: Session, study: Study, read: ReadRun, session_key: str) -> Run | None:
    """Return the run of the study that has this file, else one of the same session."""
    by_file = select(Run).join(RunFile).where(RunFile.sha256 == read.sha256)
    if read.is_of_results:  # several systems may be in one file
        by_file = by_file.where(
            Run.session_key == read.key, Run.stated_search_method == read.search_method
        )
    by_session = select(Run).where(
        Run.session_key == session_key,
        _agrees(Run.stated_search_method, read.search_method),
        _agrees(Run.timestamp, read.timestamp),
    )
    for statement in (by_file, by_session):
        run = session.scalars(statement.where(Run.study_id == study.id).limit(1)).first()
        if run is not None:
            return run
    return None


def _agrees(column: InstrumentedAttribute[str | None], label: str | None) -> ColumnElement[bool]:
    return true() if label is None else or_(column.is_(None), column == label)


def has_file(run: Run, read: ReadRun) -> bool:
    return any(file.sha256 == read.sha256 for file in run.files)


def _decided(queries: Sequence[ReadQuery], labels: Labels) -> list[ReadQuery]:
    decided = labels.context_dependent
    return [
        replace(query, context_dependent=decided.get(query.query_id, False))
        if query.context_dependent is None
        else query
        for query in queries
    ]


def _answers(
    queries: Sequence[ReadQuery],
    questions: Sequence[Question],
    visible_part: Callable[[Any], Item] | None,
    *,
    by_place: bool,
) -> Iterator[tuple[Question, ReadQuery]]:
    """Yield each question with its answer; `by_place`, unless ids are numbers, it has its place."""
    by_place = by_place and any(query.external_id != str(query.query_id) for query in queries)
    for question, query in zip(questions, queries, strict=True):
        number = question.position if by_place else query.query_id
        cards = tuple(map(visible_part, query.cards)) if visible_part else query.cards
        yield question, replace(query, query_id=number, cards=cards)


def _make(
    session: Session,
    question_set: QuestionSet,
    read: ReadRun,
    labels: Labels,
    session_key: str,
    now: datetime,
) -> Run:
    last = select(func.max(Run.sequence)).where(Run.study_id == question_set.study_id)
    run = Run(
        id=secrets.token_hex(5),
        study_id=question_set.study_id,
        sequence=(session.scalar(last) or 0) + 1,
        question_set_id=question_set.id,
        search_method=labels.search_method or read.search_method,
        llm=labels.llm or read.llm,
        stated_search_method=read.search_method,
        stated_llm=read.llm,
        timestamp=read.timestamp,
        session_key=session_key,
        total_questions=read.total_questions,
        extra=dict(read.extra),
        imported_at=now,
    )
    session.add(run)
    session.flush()
    return run


_QUERY_COLUMNS = (
    "id, run_id, question_id, query_id, response, state, claimed_count, error, extra, "
    "asks_quality, emptiness_id"
)


def add_answers(
    session: Session,
    answers: Mapping[str, Iterable[tuple[Question, ReadQuery]]],
    *,
    only_answers: bool = False,
    same_documents: bool = False,
    on_progress: OnProgress = no_progress,
) -> set[str]:
    """Store answers of runs, by their ids, each to the same questions in the same order.

    Their results are stored, and what is judged of them. Returns the identities of documents with
    another text than is stored: another version, or, of the `same_documents`, the text from now
    on. `only_answers`: no quality is asked of a list that came without an answer.

    All answers to a question are taken together, so that what is stored of it is read once.
    Besides the answers themselves there is only a portion of their rows in memory.
    """
    connection = core(session)
    switches = select(Study.asks_quality).join(Run, Run.study_id == Study.id)
    asks_quality = session.scalar(switches.where(Run.id.in_(answers)).limit(1))
    changed: set[str] = set()
    n_stored = 0
    for portion in _portions(zip(*answers.values(), strict=True)):
        listed = [
            (run_id, question, entry)
            for run_id, of_run in zip(answers, zip(*portion, strict=True), strict=True)
            for question, entry in of_run
        ]
        question_ids = {question.id for _, question, _ in listed}
        pool = Pool(session, question_ids, same_documents=same_documents)
        placed = [
            _placed(pool, run_id, question, _judged_items(entry))
            for run_id, question, entry in listed
        ]
        pool.store()
        changed |= pool.changed
        keys = next_ids(connection, Query, len(listed))
        rows, results = [], []
        for key, (run_id, question, entry), items in zip(keys, listed, placed, strict=True):
            rows.append(
                (
                    *(key, run_id, question.id, entry.query_id, entry.response, str(entry.state)),
                    *(entry.claimed_count, entry.error, to_json(_extra(entry))),
                    asks_quality and bool(entry.response.strip() or not only_answers),
                    items[0].id if entry.state is QueryState.EMPTY else None,
                )
            )
            results.append((key, entry.cards, entry.holes, items))
        insert_rows(connection, Query, _QUERY_COLUMNS, rows)
        _add_results(session, results)
        n_stored += len(portion)
        on_progress(n_stored, n_stored)
    if connection.dialect.name == "postgresql" and answers:
        # Its own statistics come minutes later, and without them it may join so many rows one by
        # one that the figures of a large run, made next, take minutes.
        connection.exec_driver_sql("ANALYZE questions, queries, results, judged_items, items")
    return changed


def add_cards(session: Session, query: Query, cards: Sequence[Item]) -> None:
    """Give a stored query without results these."""
    pool = Pool(session, [query.question_id])
    items = _placed(pool, query.run_id, query.question, cards)
    pool.store()
    _add_results(session, [(query.id, cards, (), items)])
    session.expire(query, ["results"])


def _portions(
    answers: Iterable[tuple[tuple[AskedT, ReadQuery], ...]],
) -> Iterator[list[tuple[tuple[AskedT, ReadQuery], ...]]]:
    """Yield the answers to some questions at a time, those of all runs to each."""
    portion: list[tuple[tuple[AskedT, ReadQuery], ...]] = []
    weight = 0
    for to_one in answers:
        portion.append(to_one)
        # Answers without cards have their weight too.
        weight += sum(5 + len(entry.cards) for _, entry in to_one)
        if weight >= PORTION:
            yield portion
            portion, weight = [], 0
    if portion:
        yield portion


def _extra(entry: ReadQuery) -> dict[str, Any]:
    """Return what is kept beside an answer; a key of its own called as our tail gets another."""
    extra = {f"{name}_" if name == TAIL else name: value for name, value in entry.extra.items()}
    return extra | ({TAIL: list(entry.tail)} if entry.tail else {})


def _judged_items(entry: ReadQuery) -> Sequence[Item | None]:
    """Return what is judged of an answer: its cards, or that its list is empty."""
    return [None] if entry.state is QueryState.EMPTY else entry.cards


def _placed(
    pool: Pool, run_id: str, question: Question, cards: Iterable[Item | None]
) -> list[PooledItem]:
    scope = question.id, run_id if question.context_dependent else None
    return [pool.place(*scope, card) for card in cards]


def _add_results(
    session: Session,
    answers: Iterable[tuple[int, Sequence[Item], Sequence[int], Sequence[PooledItem]]],
) -> None:
    """Add the cards of answers, each the key of its query, at the ranks between its holes."""
    rows: list[tuple[int, int, int | None, str]] = []
    for key, cards, holes, items in answers:
        rows += [(key, rank, None, "{}") for rank in holes]
        ranks = (rank for rank in count(1) if rank not in holes)
        rows += [
            (key, rank, item.id, _own_row(card, item))
            for rank, card, item in zip(ranks, cards, items, strict=False)
        ]
    insert_rows(core(session), Result, "query_key, rank, judged_item_id, card", rows)


def _own_row(card: Item, item: PooledItem) -> str:
    if item.text and card is item.card and card.of_one_run is None:
        return item.text  # as most are, where results keep whole cards
    return to_json(card if card.of_one_run is None else to_row(card, card.of_one_run))


def _enrich(session: Session, run: Run, read: ReadRun, labels: Labels) -> None:
    run.search_method = run.search_method or labels.search_method or read.search_method
    run.llm = run.llm or labels.llm or read.llm
    run.stated_search_method = run.stated_search_method or read.search_method
    run.stated_llm = run.stated_llm or read.llm
    run.timestamp = run.timestamp or read.timestamp
    run.extra = {**read.extra, **run.extra}
    connection = core(session)
    by_id = {query.query_id: query for query in read.queries}
    queries = connection.execute(
        select(Query.id, Query.query_id, Query.question_id)
        .where(Query.run_id == run.id)
        .order_by(Query.id)
    ).all()
    answers = (((query, by_id[query.query_id]),) for query in queries if query.query_id in by_id)
    for alone in _portions(answers):
        portion = [answer for (answer,) in alone]
        pool = Pool(session, {query.question_id for query, _ in portion})
        keys = [query.id for query, _ in portion]
        listed: dict[int, list[Row[Any]]] = {key: [] for key in keys}
        for result in connection.execute(
            select(Result.query_key, Result.id, Result.card, Result.judged_item_id)
            .where(Result.query_key.in_(keys))
            .order_by(Result.query_key, Result.rank)
        ):
            listed[result.query_key].append(result)
        fuller = [
            (result.id, card, pool.place_renewed(result.judged_item_id, card))
            for query, entry in portion
            for result, further in zip(listed[query.id], entry.cards, strict=False)
            for card in [from_row(result.card).fullest(further)]
        ]
        pool.store()
        rewritten = [
            {"id": result_id, "card": to_row(card), "judged_item_id": item.id}
            for result_id, card, item in fuller
        ]
        if rewritten:
            session.execute(update(Result), rewritten)
        for query, entry in portion:
            if entry.state is QueryState.FAILED:
                failed = {"state": str(entry.state), "error": entry.error, "emptiness_id": None}
                connection.execute(update(Query).where(Query.id == query.id).values(failed))
    session.expire_all()


def _fill_extra(session: Session, run: Run, read: ReadRun) -> None:
    connection = core(session)
    by_id = {query.query_id: query for query in read.queries}
    statement = select(Query.id, Query.query_id, Query.extra).where(Query.run_id == run.id)
    for key, query_id, before in connection.execute(statement).all():
        if query_id not in by_id:
            continue
        entry = by_id[query_id]
        extra = {**entry.extra, **before}
        if PROPERTIES in extra:
            listed = (before.get(PROPERTIES), entry.extra.get(PROPERTIES))
            extra[PROPERTIES] = property_particulars.enriched(*listed)
        if extra != before:
            connection.execute(update(Query).where(Query.id == key).values(extra=extra))
    session.expire_all()
