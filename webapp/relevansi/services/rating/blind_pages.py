"""The page of one blind task, as its rater sees it.

Methods write their lists in different ways, so a blind answer is shown as its cards and what of its
text is no list. As it was written it is shown once its rater opens it, which is recorded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache
from typing import Any, ClassVar, NamedTuple

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Row, Select, and_, bindparam, case, exists, func, or_, select
from sqlalchemy.orm import Session

from relevansi.db.rows import core
from relevansi.db.tables.judging import (
    JudgedItem,
    QueryRating,
    RepeatRating,
    StoredSummary,
    Task,
    WordingOpened,
)
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query, Result, Run
from relevansi.db.tables.study import Study
from relevansi.exporters.frame.json_files import fields
from relevansi.importers.runs import prices, property_cards
from relevansi.kinds import KINDS, from_row
from relevansi.kinds.property import EMOJI
from relevansi.metrics.judging.graded import headline_of, ranking_names
from relevansi.metrics.judging.queries import QuerySummary as Summary
from relevansi.records import EmptyOutcome, Item, QueryState, Scale
from relevansi.services.judging import reasons, stored_summaries, verdicts
from relevansi.services.judging.verdicts import Verdicts
from relevansi.services.rating import (
    asked_again,
    pool,
    task_judgments,
    task_order,
    tasks,
    workloads,
)
from relevansi.services.rating.conversations import EarlierTurn, of_question
from relevansi.services.rating.earlier_verdicts import earlier_verdicts, earlier_verdicts_by_item
from relevansi.services.rating.pages import SHARED_COLUMNS, JudgedCard, QuestionPage, suggested
from relevansi.services.rating.pool import REPEAT, QueryFilter, Unit
from relevansi.services.rating.task_order import EVERYTHING, TaskPlace
from relevansi.services.rating.workloads import Progress

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
