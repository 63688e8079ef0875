"""The page of one query of a run, as its rater sees it."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import Any, NamedTuple

from msgspec import Struct
from sqlalchemy import Integer, ScalarSelect, Select, String, and_, bindparam, func, literal, select
from sqlalchemy.orm import Session, aliased

from relevansi.db.rows import core
from relevansi.db.tables.judging import Event, JudgedItem, Judgment, QueryRating, StoredSummary
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query, Result, Run
from relevansi.db.tables.study import Question, Study
from relevansi.exporters.frame.json_files import fields
from relevansi.kinds import listed_item
from relevansi.metrics.judging.graded import headline_of
from relevansi.metrics.judging.queries import QuerySummary as Summary
from relevansi.records import CannotTell, QueryState, Scale
from relevansi.services.judging import reasons, stored_summaries, verdicts
from relevansi.services.judging.judgments import JudgedResult, UnknownQuery
from relevansi.services.judging.stored_summaries import RunProgress
from relevansi.services.rating.conversations import of_question
from relevansi.services.rating.earlier_verdicts import earlier_verdicts
from relevansi.services.rating.pages import SHARED_COLUMNS, JudgedCard, QuestionPage, suggested
from relevansi.services.rating.pool import QueryFilter
from relevansi.services.rating.task_order import EVERYTHING
from relevansi.services.study.question_sets import is_answer_put_to_raters, is_put_to_raters

_RATER, _RUN = bindparam("rater_id", type_=Integer), bindparam("run_id", type_=String)


class Navigation(NamedTuple):
    """The place of a question among those that are walked through, and the ways from it."""

    position: int | None
    of: int
    previous: int | None
    next: int | None
    next_open: int | None


class ClickedQuestion(Struct, frozen=True):
    """The parts of a question that a click on its card moves, and no other column of it."""

    name: str
    state: QueryState
    scale: Scale
    headline: tuple[str, ...]
    cannot_tell: CannotTell
    asks_quality: bool
    quality: float | None
    suggested_quality: int | None
    may_suggest: bool

    @classmethod
    def of(cls, query_id: int, judged: JudgedResult) -> ClickedQuestion:
        summary, study = judged.summary, judged.study
        suggests = study.suggest_quality is not False
        return cls(
            name=str(query_id),
            state=summary.state,
            scale=Scale.stored(study.scale),
            headline=headline_of(study),
            cannot_tell=study.cannot_tell,
            asks_quality=summary.asks_quality,
            quality=summary.quality,
            suggested_quality=suggested(summary, study.cannot_tell) if suggests else None,
            may_suggest=suggests and summary.results_count - summary.judged_count <= 1,
        )


class RatingPage(QuestionPage, frozen=True, kw_only=True):
    """One query of a run as its rater sees it; ``asked_at`` is its question's place in the set.

    ``holes`` are the ranks whose results could not be read.
    """

    run_id: str
    search_method: str | None
    llm: str | None
    query_id: int
    asked_at: int
    state: QueryState
    response: str
    error: str | None
    claimed_count: int | None
    asks_quality: bool
    quality: int | None
    suggested_quality: int | None
    notes: str
    summary: Summary
    run_progress: RunProgress
    place: Navigation
    allow_bulk: bool
    pool_depth: int | None
    holes: tuple[int, ...]

    @property
    def name(self) -> str:
        return str(self.query_id)


def rating_page(
    session: Session,
    rater: Rater,
    run_id: str,
    query_id: int,
    query_filter: QueryFilter = EVERYTHING,
) -> RatingPage:
    """Return the page of one query; a fixed number of statements for runs of any size."""
    statement = _row_of_query(
        only_open=query_filter.only_open, in_category=bool(query_filter.category)
    )
    query = {"run_id": run_id, "query_id": query_id, "study_id": rater.study_id}
    values = {**query, "rater_id": rater.id, "category": query_filter.category}
    row = core(session).execute(statement, values).first()
    if row is None:
        raise UnknownQuery(run_id, query_id)
    summary = stored_summaries.summary(row)
    progress = stored_summaries.by_category(session, rater.id, run_id)
    suggests = row.suggest_quality is not False
    return RatingPage(
        **fields(row, *OPEN_PAGE_COLUMNS),
        earlier_turns=of_question(session, run_id, row.question_id),
        cards=_cards(session, rater, row.id),
        holes=verdicts.holes(session, Query.id == row.id).get(row.id, ()),
        empty_outcome=summary.empty_outcome,
        scale=Scale.stored(row.scale),
        headline=headline_of(row),
        filter=query_filter,
        categories=_categories(session, run_id),
        reasons=reasons.offered(row.kind, row.reasons),
        state=summary.state,
        asks_quality=summary.asks_quality and summary.state is not QueryState.UNREADABLE,
        quality=row.grade,
        suggested_quality=suggested(row, row.cannot_tell) if suggests else None,
        notes=row.notes or "",
        summary=summary,
        run_progress=RunProgress.together(progress.values()),
        place=Navigation(
            row.position if row.is_asked else None, row.of, row.previous, row.next, row.next_open
        ),
    )


def first_open(session: Session, rater: Rater, run_id: str) -> int | None:
    """Return the query id to resume at: the last one touched if it is open, else the next open."""
    last = session.scalar(
        select(Event.query_key)
        .join(Query, Query.id == Event.query_key)
        .where(Event.rater_id == rater.id, Query.run_id == run_id)
        .order_by(Event.id.desc())
        .limit(1)
    )
    values = {"rater_id": rater.id, "run_id": run_id, "after": (last or 0) - 1}
    return core(session).scalar(_first_open(), values)


OPEN_PAGE_COLUMNS = (
    *(*SHARED_COLUMNS, "run_id", "search_method", "llm", "query_id", "asked_at"),
    *("response", "error", "claimed_count", "allow_bulk", "pool_depth"),
)
"""The columns that are fields of both pages, and those of the page of a run's question."""


@cache
def _row_of_query(*, only_open: bool, in_category: bool) -> Select[*tuple[Any, ...]]:
    query_key = StoredSummary.query_key
    summary_row = aliased(StoredSummary)
    walk = _walk(summary_row, only_open=only_open, in_category=in_category)
    key = summary_row.query_key
    within = aliased(Query)
    all_of_run = select(func.count()).where(
        within.run_id == Query.run_id, is_answer_put_to_raters(within.id)
    )
    still_open = _walk(summary_row, only_open=True, in_category=in_category).order_by(key)
    return (
        select(
            *(Query.id, Query.query_id, Query.question_id, Query.emptiness_id),
            *(Query.response, Query.error, Query.claimed_count, Run.search_method, Run.llm),
            *(Question.text.label("question"), Question.category, Question.context_dependent),
            *(Question.position.label("asked_at"), Study.allow_bulk, Study.pool_depth),
            *(Study.show_pictures, Study.suggest_quality, Study.cannot_tell, Study.marks_words),
            *(Study.scale, Study.measures, Study.kind, Study.reasons),
            *(QueryRating.quality.label("grade"), QueryRating.notes),
            *(column for column in StoredSummary.__table__.columns if column.name != "rater_id"),
            _first(all_of_run.where(within.id <= Query.id)).label("position"),
            _first(all_of_run).label("of"),
            is_put_to_raters(Query.question_id).label("is_asked"),
            _first(walk.where(key < query_key).order_by(key.desc())).label("previous"),
            _first(walk.where(key > query_key).order_by(key)).label("next"),
            func.coalesce(
                _first(still_open.where(key > query_key)), _first(still_open.where(key < query_key))
            ).label("next_open"),
        )
        .select_from(Query)
        .join(Run, Run.id == Query.run_id)
        .join(Study, Study.id == Run.study_id)
        .join(Question, Question.id == Query.question_id)
        .join(StoredSummary, and_(query_key == Query.id, StoredSummary.rater_id == _RATER))
        .outerjoin(
            QueryRating, and_(QueryRating.query_key == Query.id, QueryRating.rater_id == _RATER)
        )
        .where(
            Query.run_id == _RUN,
            Query.query_id == bindparam("query_id"),
            Run.study_id == bindparam("study_id"),
        )
    )


def _first(statement: Select[Any]) -> ScalarSelect[Any]:
    return statement.correlate(Query, StoredSummary).scalar_subquery()


def _cards(session: Session, rater: Rater, query_key: int) -> tuple[JudgedCard, ...]:
    rows = session.execute(
        select(Result.rank, Result.card, JudgedItem, Judgment.verdict, Judgment.reason)
        .join_from(Result, JudgedItem)
        .outerjoin(
            Judgment, (Judgment.judged_item_id == JudgedItem.id) & (Judgment.rater_id == rater.id)
        )
        .where(Result.query_key == query_key)
        .order_by(Result.rank)
    ).all()
    ranks: dict[int, list[int]] = defaultdict(list)
    for rank, _, item, _, _ in rows:
        ranks[item.id].append(rank)
    earlier = earlier_verdicts(session, rater, [item for _, _, item, _, _ in rows])
    has_prices = any(card.get("price") for _, card, _, _, _ in rows)
    return tuple(
        JudgedCard(
            number=rank,
            key=str(rank),
            listing=item.item_id,
            card=listed_item(card, item.card),
            relevance=verdict,
            repeats=tuple(other_rank for other_rank in ranks[item.id] if other_rank != rank),
            earlier=earlier.get(item.id),
            has_prices=has_prices,
            reason=reason,
        )
        for rank, card, item, verdict, reason in rows
    )


class OtherAnswer(Struct, frozen=True):
    """The answer of another run to the same question, with the rater's count of relevant cards."""

    run_id: str
    query_id: int
    search_method: str | None
    llm: str | None
    relevant_count: int
    results_count: int


def other_answers(session: Session, rater: Rater, page: RatingPage) -> list[OtherAnswer]:
    """Return the answers of the other runs to the question of an empty list."""
    shown_query = aliased(Query)
    question = select(shown_query.question_id).where(
        shown_query.run_id == page.run_id, shown_query.query_id == page.query_id
    )
    row = StoredSummary
    rows = session.execute(
        select(Run.id, Query.query_id, Run.search_method, Run.llm)
        .add_columns(row.relevant_count, row.results_count)
        .join_from(row, Query, and_(row.query_key == Query.id, row.rater_id == rater.id))
        .join(Run, Run.id == Query.run_id)
        .where(
            Query.question_id == question.scalar_subquery(),
            Query.run_id != page.run_id,
            literal(not page.context_dependent),
        )
        .order_by(Run.sequence, Run.id)
    )
    return [OtherAnswer(*row) for row in rows]


def _walk(row: type[StoredSummary], *, only_open: bool, in_category: bool) -> Select[int]:
    query = aliased(Query)
    statement = (
        select(query.query_id)
        .join_from(row, query, query.id == row.query_key)
        .where(row.rater_id == _RATER, row.run_id == _RUN, is_answer_put_to_raters(row.query_key))
    )
    if only_open:
        statement = statement.where(stored_summaries.is_open(row))
    if in_category:
        question = aliased(Question)
        statement = statement.join(question, question.id == query.question_id)
        statement = statement.where(question.category == bindparam("category"))
    return statement.limit(1)


@cache
def _first_open() -> Select[int | None]:
    row, after = aliased(StoredSummary), bindparam("after", type_=Integer)
    walk = _walk(row, only_open=True, in_category=False).order_by(row.query_key)
    ahead, behind = walk.where(row.query_key > after), walk.where(row.query_key < after)
    return select(func.coalesce(ahead.scalar_subquery(), behind.scalar_subquery()))


def _categories(session: Session, run_id: str) -> tuple[str, ...]:
    categories = (
        select(Question.category)
        .join(Query, Query.question_id == Question.id)
        .where(Query.run_id == run_id)
        .group_by(Question.category)
        .order_by(func.min(Question.position))
    )
    return tuple(session.scalars(categories))
