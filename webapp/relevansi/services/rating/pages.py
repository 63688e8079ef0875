"""The content of the rating pages for one rater: one query of a run, or one blind task.

Methods write their lists in different ways, so a blind answer is shown as its cards and what of its
text is no list. As it was written it is shown once its rater opens it, which is recorded.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from functools import cache
from operator import attrgetter, itemgetter
from typing import Any, ClassVar, NamedTuple

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import (
    Integer,
    Row,
    ScalarSelect,
    Select,
    String,
    and_,
    bindparam,
    case,
    exists,
    func,
    literal,
    or_,
    select,
)
from sqlalchemy.orm import Session, aliased

from relevansi.db.engine import core
from relevansi.db.tables.judging import (
    Event,
    JudgedItem,
    Judgment,
    QueryRating,
    RepeatRating,
    StoredSummary,
    Task,
    WordingOpened,
)
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query, Result, Run
from relevansi.db.tables.study import Question, Study
from relevansi.exporters.frame.json_files import fields
from relevansi.importers.runs import prices, property_cards
from relevansi.kinds import KINDS, from_row, listed_item
from relevansi.kinds.property import EMOJI
from relevansi.metrics.judging.graded import headline_of, ranking_names
from relevansi.metrics.judging.queries import QuerySummary as Summary
from relevansi.metrics.judging.queries import as_counted, suggested_quality
from relevansi.records import CannotTell, EmptyOutcome, Item, QueryState, Relevance, Scale
from relevansi.services.judging import reasons, stored_summaries, verdicts
from relevansi.services.judging.judgments import JudgedResult, UnknownQuery
from relevansi.services.judging.stored_summaries import RunProgress
from relevansi.services.judging.verdicts import Verdicts
from relevansi.services.rating import (
    asked_again,
    pool,
    task_judgments,
    task_order,
    tasks,
    workloads,
)
from relevansi.services.rating.pool import REPEAT, QueryFilter, Unit
from relevansi.services.rating.task_order import EVERYTHING, TaskPlace
from relevansi.services.rating.workloads import Progress
from relevansi.services.study.question_sets import is_answer_put_to_raters, is_put_to_raters


class EarlierTurn(Struct, frozen=True):
    """One question and its answer before a follow-up, in the same conversation."""

    question: str
    response: str


def of_question(session: Session, run_id: str | None, question_id: int) -> tuple[EarlierTurn, ...]:
    """Return the conversation of a follow-up in a run, back to the last independent question."""
    same_run = Query.run_id == run_id
    queries = select(Query.id).join(Question).where(same_run)
    follow_up = queries.where(Query.question_id == question_id, Question.context_dependent)
    last = session.scalar(follow_up) if run_id else None
    if last is None:
        return ()
    start = queries.with_only_columns(func.max(Query.id)).where(
        Query.id < last, Question.context_dependent.is_(False)
    )
    rows = session.execute(
        select(Question.text, Query.response)
        .join_from(Query, Question)
        .where(same_run, Query.id < last, Query.id >= func.coalesce(start.scalar_subquery(), 0))
        .order_by(Query.id)
    )
    return tuple(EarlierTurn(text, response) for text, response in rows)


ItemRow = JudgedItem | Row[Any]
_apart_from_content = attrgetter("question_id", "run_id", "item_id")  # the run where it matters


class EarlierVerdict(Struct, frozen=True):
    """The rater's verdict on the same item with other content, and what differs."""

    relevance: str
    card: Item
    now: Item
    differing: tuple[str, ...]


def earlier_verdicts(
    session: Session, rater: Rater, items: Sequence[ItemRow]
) -> dict[int, EarlierVerdict]:
    """Map each of `items` to the rater's latest verdict on another version of it, if any."""
    questions, item_ids = {item.question_id for item in items}, {item.item_id for item in items}
    values = {"rater_id": rater.id, "questions": [*questions], "items": [*item_ids]}
    rows = core(session).execute(_other_versions(), values)
    judgments = [(row, row.verdict, row.changed_at) for row in rows if row.verdict]
    return earlier_verdicts_by_item(items, judgments)


@cache
def _other_versions() -> Select[*tuple[Any, ...]]:
    # The join is an outer one so that SQLite does not begin with all the rater's judgments.
    item = JudgedItem
    is_own = and_(Judgment.judged_item_id == item.id, Judgment.rater_id == bindparam("rater_id"))
    return (
        select(item.id, item.question_id, item.run_id, item.item_id, item.card)
        .add_columns(Judgment.verdict, Judgment.changed_at)
        .outerjoin(Judgment, is_own)
        .where(
            item.question_id.in_(bindparam("questions", expanding=True)),
            item.item_id.in_(bindparam("items", expanding=True)),
        )
    )


def earlier_verdicts_by_item(
    items: Sequence[ItemRow], judgments: Iterable[tuple[ItemRow, str, datetime]]
) -> dict[int, EarlierVerdict]:
    """Map each item to the latest of `judgments` on another version of it, before its own."""
    by_item: dict[tuple[Any, ...], list[tuple[ItemRow, str, datetime]]] = defaultdict(list)
    for judgment in sorted(judgments, key=itemgetter(2)):
        by_item[_apart_from_content(judgment[0])].append(judgment)
    earlier: dict[int, EarlierVerdict] = {}
    for item in items:
        judged = by_item[_apart_from_content(item)]
        own_moment = next((at for version, _, at in judged if version.id == item.id), None)
        for version, verdict, at in judged:
            if version.id != item.id and (own_moment is None or at < own_moment):
                before, now = from_row(version.card or {}), from_row(item.card or {})
                earlier[item.id] = EarlierVerdict(verdict, before, now, before.differences(now))
    return earlier


_RATER, _RUN = bindparam("rater_id", type_=Integer), bindparam("run_id", type_=String)


class JudgedCard(Struct, frozen=True):
    """One card with the rater's verdict on it, of the study's scale; ``listing`` names its item.

    ``key`` names it in clicks. ``repeats`` are the other ranks that show the same item.
    ``reason`` says why it is not relevant, and counts only beside such a verdict.
    """

    number: int
    key: str
    listing: int | None
    card: Item
    relevance: str | None
    repeats: tuple[int, ...] = ()
    earlier: EarlierVerdict | None = None
    has_prices: bool = False
    reason: str | None = None


class Navigation(NamedTuple):
    """The place of a question among those that are walked through, and the ways from it."""

    position: int | None
    of: int
    previous: int | None
    next: int | None
    next_open: int | None


class QuestionPage(Struct, frozen=True, kw_only=True):
    """Fields shared by the page of a run's question and the page of a blind task."""

    question: str
    category: str
    context_dependent: bool
    earlier_turns: tuple[EarlierTurn, ...]
    cards: tuple[JudgedCard, ...]
    empty_outcome: EmptyOutcome | None
    show_pictures: bool
    marks_words: bool
    scale: Scale
    headline: tuple[str, ...]
    cannot_tell: CannotTell
    filter: QueryFilter
    categories: tuple[str, ...]
    reasons: tuple[str, ...]
    is_blind: ClassVar[bool] = False

    def cards_to_refresh(self, clicked: JudgedCard | None) -> tuple[JudgedCard, ...]:
        """Return the cards whose listing is shown several times, and the clicked one if cleared."""
        times = Counter(card.listing for card in self.cards)
        cleared = clicked.key if clicked is not None and clicked.relevance is None else None
        return tuple(card for card in self.cards if times[card.listing] > 1 or card.key == cleared)

    def card(self, key: str | None) -> JudgedCard | None:
        """Return the card of that key, ``None`` where there is none."""
        return next((card for card in self.cards if card.key == key), None)


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


def suggested(summary: Row[Any] | Summary, cannot_tell: CannotTell) -> int | None:
    """Return the quality that a rater's own verdicts suggest for an answer, from its summary."""
    verdicts = (
        [Relevance.RELEVANT] * summary.relevant_count
        + [Relevance.NOT_RELEVANT] * summary.not_relevant_count
        + [Relevance.UNSURE] * summary.unsure_count
        + [None] * (summary.results_count - summary.judged_count)
    )
    counted_verdicts = as_counted(verdicts, cannot_tell=cannot_tell)
    return suggested_quality(QueryState(summary.state), counted_verdicts)


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


SHARED_COLUMNS = (
    *("question", "category", "context_dependent"),
    *("show_pictures", "marks_words", "cannot_tell"),
)
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


ALL_FIGURES = "all"
_ZERO_DECIMAL = re.compile(r"\.0(?=m²)")


class TaskStage(StrEnum):
    CARDS = "cards"
    EMPTINESS = "emptiness"
    ANSWERS = "answers"
    DONE = "done"


class AnswerLine(NamedTuple):
    """One card of an answer with the rater's verdict on it; ``key`` names the card to its task."""

    key: str
    card: Item
    relevance: str | None


class BlindAnswer(Struct, frozen=True):
    """One answer to rate from 0 to 5: its cards between the prose before and after them.

    ``response`` is the answer as written: ``None`` until opened, empty where it shows nothing more.
    """

    key: str
    letter: str
    state: QueryState
    lines: tuple[AnswerLine, ...]
    before: str
    after: str
    response: str | None
    quality: int | None
    notes: str
    suggested: int | None = None

    @property
    def cards(self) -> tuple[Item, ...]:
        return tuple(line.card for line in self.lines)

    @property
    def verdicts(self) -> tuple[str | None, ...]:
        return tuple(line.relevance for line in self.lines)


class BlindPage(QuestionPage, frozen=True, kw_only=True):
    """One task as its rater sees it; ``answers`` are there once all cards are judged.

    Where no quality is asked there are none, and the ``notes`` are on the question.
    """

    task_id: str
    stage: TaskStage
    asks_quality: bool
    notes: str
    asks_emptiness: bool
    contradicts_itself: bool
    answers: tuple[BlindAnswer, ...]
    letters: tuple[str, ...]
    place: TaskPlace
    is_put_off: bool
    progress: Progress
    figure: tuple[int, int, float | None] | None
    figures: tuple[tuple[str, Summary], ...]
    is_blind: ClassVar[bool] = True

    @property
    def name(self) -> str:
        return self.task_id

    @property
    def below(self) -> str:
        return str(TaskStage.ANSWERS if self.stage is TaskStage.DONE else self.stage)


def blind_page(
    session: Session, rater: Rater, task_id: str, query_filter: QueryFilter = EVERYTHING
) -> BlindPage:
    """Return the page of one task; raises ``UnknownTask``."""
    task = tasks.read(session, rater, task_id)
    items = tasks.items_of(session, task)
    scale = Scale.stored(task.scale)
    verdicts_of_cards = [item.verdict for item in items if item.item_id is not None]
    is_judged = None not in verdicts_of_cards
    empty = next((item for item in items if item.item_id is None), None)
    outcome = EmptyOutcome(empty.verdict) if empty and empty.verdict else None
    sees_figures = task.figures == ALL_FIGURES
    suggests = task.suggest_quality and is_judged
    summaries = _summaries_of(session, rater, task) if sees_figures or suggests else {}
    rated: Sequence[Row[Any]] = ()
    if is_judged or not task.asks_quality:
        rows = core(session).execute(_rated(again=task.kind == REPEAT), {"task_id": task.id})
        rated = sorted(rows, key=lambda row: tasks.key(task, -row.id))
    answers = _answers(session, task, rated, summaries, items) if is_judged else ()
    n_answers = len(answers)
    if not answers:
        answer_count = _of_answers(select(func.count(Query.id)).where(Query.asks_quality))
        n_answers = session.scalar(answer_count, {"task_id": task.id}) or 0
    stage = TaskStage.DONE
    if not is_judged:
        stage = TaskStage.CARDS
    elif empty is not None and outcome is None:
        stage = TaskStage.EMPTINESS
    elif any(answer.quality is None for answer in answers):
        stage = TaskStage.ANSWERS
    workload = workloads.of_rater(session, rater)
    progress = workloads.progress_in(session, rater, workload)
    rater_units = {*(each.unit for each in workload.tasks), *workload.free}
    categories = [of.category for unit, of in workload.units.items() if unit in rater_units]
    notes = ""
    if not task.asks_quality:
        notes = "\n".join(dict.fromkeys(row.notes for row in rated if row.notes))
    return BlindPage(
        **fields(task, *SHARED_COLUMNS),
        task_id=task.id,
        earlier_turns=tuple(
            EarlierTurn(turn.question, _in_one_style(turn))
            for turn in of_question(session, task.run_id, task.question_id)
        ),
        cards=_task_cards(session, rater, task, items),
        stage=stage,
        asks_quality=task.asks_quality,
        notes=notes,
        asks_emptiness=empty is not None,
        empty_outcome=outcome,
        contradicts_itself=outcome is EmptyOutcome.CORRECT_EMPTY
        and not scale.relevant.isdisjoint(verdicts_of_cards),
        answers=answers if stage in {TaskStage.ANSWERS, TaskStage.DONE} else (),
        letters=tuple(map(tasks.letter, range(n_answers))),
        place=task_order.place(session, rater, workload, progress, task.id, query_filter),
        is_put_off=task.postponed_at is not None and stage is not TaskStage.DONE,
        progress=progress,
        figure=workloads.pooled_figure(session, rater) if sees_figures else None,
        figures=_figures(task, summaries) if sees_figures else (),
        scale=scale,
        headline=_headline(task),
        filter=query_filter,
        reasons=reasons.offered(task.of_items, task.reasons),
        categories=tuple(dict.fromkeys(categories)),
    )


def _headline(task: Row[Any]) -> tuple[str, ...]:
    study = Study(kind=task.of_items, scale=task.scale, measures=task.measures)
    return headline_of(study)


def _task_cards(
    session: Session, rater: Rater, task: Row[Any], items: Sequence[Row[Any]]
) -> tuple[JudgedCard, ...]:
    cards = [item for item in items if item.item_id is not None]
    if task.kind == REPEAT:
        again = workloads.verdicts(session, task)
        repeated = [(item, *again[item.id]) for item in cards if item.id in again]
        earlier = earlier_verdicts_by_item(cards, repeated)
        own_reasons = task_judgments.repeated_reasons(session, task)
    else:
        own_reasons = {item.id: item.reason for item in cards}
        earlier = earlier_verdicts(session, rater, cards)
    has_prices = any(item.card.get("price") for item in cards)
    offer = prices.read_note(task.question)
    return tuple(
        JudgedCard(
            key=tasks.key(task, item.id),
            number=number,
            listing=item.item_id,
            card=from_row(item.card).uniform(offer),
            relevance=item.verdict,
            earlier=earlier.get(item.id),
            has_prices=has_prices,
            reason=own_reasons.get(item.id),
        )
        for number, item in enumerate(cards, start=1)
    )


def _answers(
    session: Session,
    task: Row[Any],
    rated: Sequence[Row[Any]],
    summaries: Mapping[int, Summary],
    items: Sequence[Row[Any]],
) -> tuple[BlindAnswer, ...]:
    answers = [row for row in rated if row.asks_quality]
    grades: Mapping[int, int | None] = {}
    if task.suggest_quality:
        grades = {key: suggested(summary, task.cannot_tell) for key, summary in summaries.items()}
    listed: dict[int, list[AnswerLine]] = {row.id: [] for row in answers}
    own_verdicts = {item.id: item.verdict for item in items}
    offer = prices.read_note(task.question)
    cards = select(Result.query_key, JudgedItem.id, JudgedItem.card).join(JudgedItem)
    cards = cards.where(Result.query_key.in_([*listed])).order_by(Result.query_key, Result.rank)
    rows = session.execute(cards).all()
    uniform = KINDS[task.of_items].alike([from_row(card or {}).uniform(offer) for *_, card in rows])
    for (answer, item_id, _card), item in zip(rows, uniform, strict=True):
        verdict = own_verdicts.get(item_id)
        listed[answer].append(AnswerLine(tasks.key(task, item_id), item, verdict))
    answers_shown = []
    for number, row in enumerate(answers):
        before, after = property_cards.prose(row.response)
        response = row.response if row.opened else None
        if row.response.split() == (before + after).split():
            response = ""
        answers_shown.append(
            BlindAnswer(
                key=tasks.key(task, -row.id),
                letter=tasks.letter(number),
                state=QueryState(row.state),
                lines=tuple(listed[row.id]),
                before=EMOJI.sub("", before),
                after=EMOJI.sub("", after),
                response=response,
                quality=row.quality,
                notes=row.notes or "",
                suggested=grades.get(row.id),
            )
        )
    return tuple(answers_shown)


def _in_one_style(turn: EarlierTurn) -> str:
    """Return an earlier answer written as any method's is, so that its style names none."""
    before, after = property_cards.prose(turn.response)
    cards = [
        replace(card.uniform(prices.read_note(turn.question)), source=None)
        for card in property_cards.parse(turn.response)
    ]
    parts = (before, property_cards.render(cards, plain=True), after)
    return _ZERO_DECIMAL.sub("", EMOJI.sub("", "\n\n".join(filter(None, parts))))


@cache
def _rated(*, again: bool) -> Select[*tuple[Any, ...]]:
    ratings: Any = RepeatRating if again else QueryRating
    first = case((asked_again.hides(QueryRating), None), else_=QueryRating.quality)
    quality = (RepeatRating.quality if again else first).label("quality")
    is_opened = exists().where(
        WordingOpened.query_key == Query.id, WordingOpened.rater_id == Task.rater_id
    )
    answer = Query.id, Query.state, Query.response, Query.asks_quality
    is_own = ratings.task_id == Task.id if again else ratings.rater_id == Task.rater_id
    columns = select(*answer, quality, ratings.notes, is_opened.label("opened"))
    of_answer = and_(ratings.query_key == Query.id, is_own)
    return _of_answers(columns).join(ratings, of_answer, isouter=not again)


def _of_answers(columns: Select[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]]:
    return (
        columns.join_from(Task, Rater, Rater.id == Task.rater_id)
        .join(Study, Study.id == Rater.study_id)
        .join(Query, Query.question_id == Task.question_id)
        .join(Run, Run.id == Query.run_id)
        .where(Task.id == bindparam("task_id"), pool.answers_in(Study.id, Task))
    )


def _summaries_of(session: Session, rater: Rater, task: Row[Any]) -> dict[int, Summary]:
    if task.kind != REPEAT:
        rows = core(session).execute(_summaries(), {"task_id": task.id}).all()
        return {row.query_key: stored_summaries.summary(row) for row in rows}
    # A repeat's come from its own verdicts alone: the stored summaries would reveal that it is one.
    rated = select(RepeatRating.query_key, RepeatRating.quality)
    grades = session.execute(rated.where(RepeatRating.task_id == task.id)).all()
    repeated = Verdicts(
        by_item={item: verdict for item, (verdict, _) in workloads.verdicts(session, task).items()},
        quality={key: grade for key, grade in grades if grade is not None},
        scale=Scale.stored(task.scale),
    )
    unit = pool.answers_in(rater.study_id, Unit(task.question_id, task.run_id))
    is_shown = or_(Query.id.in_([key for key, _ in grades]), Query.asks_quality.is_(False))
    scope = and_(Query.id.in_(select(Query.id).join(Run).where(unit)), is_shown)
    ranking = ranking_names(_headline(task))
    return {
        answer.key: repeated.summary(answer, cannot_tell=task.cannot_tell, ranking=ranking)
        for answer in verdicts.asked_queries(session, scope, pooled=bool(ranking))
    }


def _figures(task: Row[Any], summaries: Mapping[int, Summary]) -> tuple[tuple[str, Summary], ...]:
    in_order = sorted(summaries, key=lambda answer: tasks.key(task, -answer))
    return tuple((tasks.letter(n), summaries[answer]) for n, answer in enumerate(in_order))


@cache
def _summaries() -> Select[*tuple[Any, ...]]:
    is_own = and_(StoredSummary.query_key == Query.id, StoredSummary.rater_id == Task.rater_id)
    return _of_answers(select(*StoredSummary.__table__.columns)).join(StoredSummary, is_own)
