"""The rows of a study for programs: runs, questions, items, results, judgments, answers' grades.

Long lists come in pages that begin at a ``cursor``, which is the ``next`` of the page before and
``None`` at the end. Rows that are stored meanwhile never make a page skip or repeat a row.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from datetime import datetime
from typing import Annotated, Any, Generic, TypeVar

from msgspec import Meta, Struct
from msgspec.structs import asdict
from sqlalchemy import ColumnElement, Select, exists, func, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from relevansi.db.rows import core
from relevansi.db.tables.judging import JudgedItem, Judgment, QueryRating, StoredItem
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query, Result
from relevansi.db.tables.study import Question, QuestionSet, Study
from relevansi.exporters.frame.json_files import fields
from relevansi.kinds import from_row, listed_item
from relevansi.metrics.judging.figures import figures, totals
from relevansi.records import LARGEST_INTEGER, Number, Scale, State
from relevansi.services.catalogue import evidence
from relevansi.services.judging import reasons, verdicts
from relevansi.services.runs import reports, runs
from relevansi.services.runs.reports import Rule
from relevansi.services.study import studies

RowT = TypeVar("RowT")


Text = Annotated[str, Meta(max_length=200, pattern="^[^\\x00]*$")]
Id = Annotated[int, Meta(ge=0, le=LARGEST_INTEGER)]


class InPages(Struct, forbid_unknown_fields=True):
    """The page of a list to return: ``limit`` rows from ``cursor`` on."""

    cursor: Id = 0
    limit: Annotated[int, Meta(ge=1, le=1000)] = 100


class Filtered(InPages):
    """The page of a list of what belongs to one question or run, or to any."""

    question: Id | None = None
    run: Text | None = None


class FilteredItems(Filtered):
    unjudged: bool = False
    """Only what nobody gave a verdict on."""


class FilteredJudgments(Filtered):
    rater: Text | None = None
    """Whose verdicts or grades; without one they are those of all people."""


class Page(Struct, Generic[RowT]):
    """One page of a list; ``next`` is the cursor of the next page, null at the end."""

    data: list[RowT]
    next: int | None = None


class RunRow(Struct):
    """One run: how many questions and cards it has, and how far it is judged under ``rule``.

    ``complete`` questions wait for no verdict; ``state`` has what is open, of which kind, and it is
    ``finished`` once nothing is that could move a figure. ``latency_ms`` has the mean, the median
    and the 95th percentile of the answers, in milliseconds, where the file states it.
    """

    id: str
    search_method: str | None
    llm: str | None
    queries: int
    cards: int
    with_results: int
    empty: int
    failed: int
    unreadable: int
    rule: str
    complete: int
    open_judgments: int
    finished: bool
    state: State
    timestamp: str | None
    imported_at: datetime
    latency_ms: dict[str, Any] | None


class QuestionRow(Struct):
    """One question: its place from 1 in its set, its pooled items, and those nobody judged."""

    id: int
    position: int
    external_id: str | None
    text: str
    category: str
    context_dependent: bool
    items: int
    unjudged: int


class ItemRow(Struct):
    """One judged item of a question, with its fields by name; ``run`` where it is of one alone.

    ``id`` is what verdicts are about. An empty list to judge has no identity and no fields.
    ``verdicts`` counts the people who gave one.
    """

    id: int
    question: int
    run: str | None
    identity: str | None
    content: int
    fields: dict[str, Any]
    verdicts: int


class ResultRow(Struct):
    """One result of a run at its rank from 1.

    ``relevance`` is the grade that the rule makes of all verdicts (1 or 0 on a binary scale),
    "unsure", or null where it is open.
    """

    run: str
    query_id: int
    question: int
    external_id: str | None
    rank: int
    item: int
    identity: str
    title: str
    relevance: Number


class JudgmentRow(Struct):
    """One rater's verdict in force on one item, and when it was given.

    ``verdict`` is a grade, "unsure", or of an empty list "correct_empty" or "false_negative"; null
    once it was taken back. ``relevant`` reads it at the threshold of the scale, null for "unsure"
    and empty lists. ``reason`` says why the item is not relevant, where the rater gave one.
    ``evidence``: the rater looked the item up, and it fits.
    """

    item: int
    question: int
    rater: str
    verdict: str | None
    relevant: bool | None
    reason: str | None
    at: datetime | None
    evidence: bool


class RatingRow(Struct):
    """One rater's grade of a whole answer, 0 to 5 or null, with their notes on it."""

    answer: int
    run: str
    query_id: int
    question: int
    rater: str
    quality: int | None
    notes: str
    at: datetime | None


class UnjudgedResults(Struct):
    """The results of a run down to rank ``k`` without a verdict, the first ranks first.

    Several raters' verdicts are merged, so that a tie is none. ``judged`` is Judged@k, the mean
    share of these results that has one.
    """

    k: int
    judged: float | None
    results: list[ResultRow]


def run_rows(session: Session, study: Study, among: Container[str] | None = None) -> list[RunRow]:
    """Return runs of a study in its order, all or those `among` some ids; by its usual rule."""
    rater, rule = studies.raters(session, study)[0], reports.rule_of(session, study)
    rows = []
    for overview in runs.overviews(session, rater):
        run = overview.run
        if among is not None and run.id not in among:
            continue
        state = reports.state(session, study, Query.run_id == run.id, rule)
        latency = runs.latency_of(session, run.id)
        rows.append(
            RunRow(
                **fields(run, "id", "search_method", "llm", "timestamp", "imported_at"),
                **asdict(overview.counts),
                rule=rule.name,
                complete=state.complete,
                open_judgments=state.cards + state.lists + state.ties + state.decided,
                finished=state.is_complete,
                state=state,
                latency_ms=asdict(latency) if latency else None,
            )
        )
    return rows


def question_rows(session: Session, study: Study, page: InPages) -> Page[QuestionRow]:
    """Return questions in the order of their ids."""
    of_study = select(Question).join(QuestionSet).where(QuestionSet.study_id == study.id)
    ids, next_cursor = _page(session, of_study, Question.id, page)
    rows = select(Question).where(Question.id.in_(ids)).order_by(Question.id)
    counts = (
        select(JudgedItem.question_id, func.count())
        .where(JudgedItem.question_id.in_(ids), JudgedItem.item_id.is_not(None))
        .group_by(JudgedItem.question_id)
    )
    items = dict(session.execute(counts).all())
    unjudged = dict(session.execute(counts.where(~_is_judged(study))).all())
    page_rows = [
        QuestionRow(
            **fields(question, "id", "position", "external_id", "text", "category"),
            context_dependent=question.context_dependent,
            items=items.get(question.id, 0),
            unjudged=unjudged.get(question.id, 0),
        )
        for question in session.scalars(rows)
    ]
    return Page(page_rows, next_cursor)


def item_rows(session: Session, study: Study, filters: FilteredItems) -> Page[ItemRow]:
    """Return items in the order of their ids."""
    items = _items(session, study, filters)
    if filters.unjudged:
        items = items.where(~_is_judged(study))
    ids, next_cursor = _page(session, items, JudgedItem.id, filters)
    counts = (
        _verdicts_of(study)
        .with_only_columns(Judgment.judged_item_id, func.count())
        .where(Judgment.judged_item_id.in_(ids))
        .group_by(Judgment.judged_item_id)
    )
    n_verdicts = dict(session.execute(counts).all())
    rows = items.where(JudgedItem.id.in_(ids)).order_by(JudgedItem.id)
    page_rows = [
        ItemRow(
            **fields(row, "id", "question", "run", "identity", "content"),
            fields=_fields(row.card),
            verdicts=n_verdicts.get(row.id, 0),
        )
        for row in core(session).execute(rows)
    ]
    return Page(page_rows, next_cursor)


def result_rows(
    session: Session, study: Study, run_id: str, rule: Rule, page: InPages
) -> Page[ResultRow]:
    """Return the results of a run; a page has those of `limit` questions, by their query ids."""
    of_run = Query.run_id == runs.find(session, study, run_id).id
    ids, next_cursor = _page(session, select(Query).where(of_run), Query.query_id, page)
    return Page(_results(session, study, of_run & Query.query_id.in_(ids), rule), next_cursor)


def unjudged(session: Session, study: Study, run_id: str, k: int) -> UnjudgedResults:
    """Return the results of a run down to rank `k` that have no verdict, and Judged@k."""
    rule, name = Rule(reports.MAJORITY), f"Judged@{k}"
    report = reports.report(session, study, run_id, rule, figures=[name])
    results = _results(session, study, reports.asked_of(run_id), rule, down_to=k)
    open_results = [row for row in results if row.relevance is None]
    return UnjudgedResults(
        k=k,
        judged=figures(totals(report), [name])[name].value,
        results=sorted(open_results, key=lambda row: (row.rank, row.query_id)),
    )


def judgment_rows(session: Session, study: Study, filters: FilteredJudgments) -> Page[JudgmentRow]:
    """Return current verdicts; a page has those on `limit` items."""
    scale = Scale.stored(study.scale)
    items = _items(session, study, filters).with_only_columns(JudgedItem.id)
    judgments = _verdicts_of(study, _rater_ids(session, study, filters.rater))
    judgments = judgments.where(Judgment.judged_item_id.in_(items))
    ids, next_cursor = _page(session, judgments, Judgment.judged_item_id, filters)
    rows = (
        judgments.join(JudgedItem, JudgedItem.id == Judgment.judged_item_id)
        .with_only_columns(Judgment, JudgedItem.question_id, Rater.name)
        .where(Judgment.judged_item_id.in_(ids))
        .order_by(Judgment.judged_item_id, Rater.id)
    )
    page_rows = [_judgment_row(*row, scale) for row in session.execute(rows)]
    return Page(page_rows, next_cursor)


def rating_rows(session: Session, study: Study, filters: FilteredJudgments) -> Page[RatingRow]:
    """Return grades and notes; a page has those on `limit` answers."""
    scope = reports.in_study(study)
    if filters.run is not None:
        scope &= Query.run_id == runs.find(session, study, filters.run).id
    if filters.question is not None:
        scope &= Query.question_id == filters.question
    rated = (
        select(QueryRating)
        .join(Rater, Rater.id == QueryRating.rater_id)
        .join(Query, Query.id == QueryRating.query_key)
        .where(Rater.id.in_(_rater_ids(session, study, filters.rater)), scope)
        .where(QueryRating.quality.is_not(None) | (QueryRating.notes != ""))
    )
    ids, next_cursor = _page(session, rated, Query.id, filters)
    rows = (
        rated.with_only_columns(
            QueryRating, Query.run_id, Query.query_id, Query.question_id, Rater.name
        )
        .where(Query.id.in_(ids))
        .order_by(Query.id, Rater.id)
    )
    return Page([_rating_row(*row) for row in session.execute(rows)], next_cursor)


def judgment_row(session: Session, rater: Rater, item: int) -> JudgmentRow:
    """Return a rater's current verdict on an item."""
    question_id = session.get_one(JudgedItem, item).question_id
    judgment = session.get(Judgment, (rater.id, item))
    # Never added to the session: the row of an item on which nobody has said anything.
    judgment = judgment or Judgment(judged_item_id=item, is_evidence=False)
    return _judgment_row(judgment, question_id, rater.name, Scale.stored(rater.study.scale))


def _judgment_row(
    judgment: Judgment, question_id: int, rater_name: str, scale: Scale
) -> JudgmentRow:
    verdict = judgment.verdict
    is_grade = verdict is not None and verdict.isdecimal()
    return JudgmentRow(
        item=judgment.judged_item_id,
        question=question_id,
        rater=rater_name,
        verdict=verdict,
        relevant=verdict in scale.relevant if is_grade else None,
        reason=reasons.in_force(judgment.reason, verdict, scale),
        at=judgment.changed_at,
        evidence=judgment.is_evidence,
    )


def rating_row(session: Session, rater: Rater, run_id: str, query_id: int) -> RatingRow:
    """Return a rater's current grade of an answer."""
    of_answer = (Query.run_id == run_id) & (Query.query_id == query_id)
    query = session.scalars(select(Query).where(of_answer)).one()
    rating = session.get(QueryRating, (rater.id, query.id))
    # Never added to the session: the row of an answer that nobody has rated.
    rating = rating or QueryRating(query_key=query.id, notes="")
    return _rating_row(rating, run_id, query_id, query.question_id, rater.name)


def _rating_row(
    rating: QueryRating, run_id: str, query_id: int, question_id: int, rater_name: str
) -> RatingRow:
    return RatingRow(
        answer=rating.query_key,
        run=run_id,
        query_id=query_id,
        question=question_id,
        rater=rater_name,
        quality=rating.quality,
        notes=rating.notes,
        at=rating.changed_at,
    )


def _page(
    session: Session, rows: Select[Any], key: InstrumentedAttribute[int], page: InPages
) -> tuple[Sequence[int], int | None]:
    """Return the keys of a page, and the first key of the next page."""
    # By keys, not offsets: rows that are stored meanwhile move no row to another page.
    from_cursor = rows.with_only_columns(key).where(key >= page.cursor).distinct()
    keys = session.scalars(from_cursor.order_by(key).limit(page.limit + 1)).all()
    next_cursor = keys[page.limit] if len(keys) > page.limit else None
    return keys[: page.limit], next_cursor


def _items(session: Session, study: Study, filters: Filtered) -> Select[Any]:
    rows = (
        select(JudgedItem.id, JudgedItem.question_id.label("question"), StoredItem.identity)
        .add_columns(JudgedItem.run_id.label("run"), JudgedItem.content, JudgedItem.card)
        .join_from(JudgedItem, Question, Question.id == JudgedItem.question_id)
        .join(QuestionSet, QuestionSet.id == Question.question_set_id)
        .outerjoin(StoredItem, StoredItem.id == JudgedItem.item_id)
        .where(QuestionSet.study_id == study.id)
    )
    if filters.question is not None:
        rows = rows.where(JudgedItem.question_id == filters.question)
    if filters.run is not None:
        of_run = Query.run_id == runs.find(session, study, filters.run).id
        in_run = JudgedItem.id.in_(verdicts.judged_items(of_run))
        rows = rows.where(in_run | JudgedItem.id.in_(evidence.pinned(of_run)))
    return rows


def _results(
    session: Session,
    study: Study,
    scope: ColumnElement[bool],
    rule: Rule,
    *,
    down_to: int = LARGEST_INTEGER,
) -> list[ResultRow]:
    ratings = reports.verdicts_under(session, study, scope, rule)
    rows = (
        select(Query.run_id.label("run"), Query.query_id, Query.question_id.label("question"))
        .add_columns(Question.external_id, Result.rank, Result.judged_item_id.label("item"))
        .add_columns(StoredItem.identity, Result.card, JudgedItem.card.label("shared"))
        .join_from(Result, Query, Query.id == Result.query_key)
        .join(Question, Question.id == Query.question_id)
        .join(JudgedItem, JudgedItem.id == Result.judged_item_id)
        .join(StoredItem, StoredItem.id == JudgedItem.item_id)
        .where(scope, Result.rank <= down_to)
        .order_by(Query.query_id, Result.rank)
    )
    results = [dict(row) for row in core(session).execute(rows).mappings()]
    return [
        ResultRow(
            title=listed_item(row.pop("card"), row.pop("shared")).title,
            relevance=ratings.scale.numbers[ratings.by_item.get(row["item"])],
            **row,
        )
        for row in results
    ]


def _verdicts_of(study: Study, raters: Sequence[int] | None = None) -> Select[Any]:
    """Return the statement of the verdicts of raters by their ids, without any of all people."""
    of_people = (Rater.study_id == study.id) & ~Rater.is_machine
    return (
        select(Judgment)
        .join(Rater, Rater.id == Judgment.rater_id)
        .where(of_people if raters is None else Rater.id.in_(raters), Judgment.verdict.is_not(None))
    )


def _is_judged(study: Study) -> ColumnElement[bool]:
    """Return the condition on ``JudgedItem`` that a person gave a verdict on it."""
    people = select(Rater.id).where(Rater.study_id == study.id, ~Rater.is_machine)
    has_verdict = (Judgment.judged_item_id == JudgedItem.id) & Judgment.verdict.is_not(None)
    return exists().where(has_verdict, Judgment.rater_id.in_(people)).correlate(JudgedItem)


def _rater_ids(session: Session, study: Study, rater: str | None) -> list[int]:
    if rater is None:
        return [person.id for person in studies.raters(session, study)]
    people_and_machines = studies.people_and_machines(session, study)
    ids = [person.id for person in people_and_machines if person.name == rater]
    if not ids:
        raise reports.UnknownRater(rater)
    return ids


def _fields(stored: dict[str, Any] | None) -> dict[str, Any]:
    if stored is None:
        return {}
    item = from_row(stored)
    values = {name: getattr(item, name) for name in item.columns}
    return {name: value for name, value in values.items() if value is not None}
