"""The content of a blind rater's page about one task, without any trace of the runs.

Methods write their lists in different ways, so an answer is shown as its cards, in the content and
the form in which cards are judged, and what of its text is no list. The answer as written is kept
back until its rater opens it, which is recorded.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Row, Select, and_, bindparam, case, exists, select
from sqlalchemy.orm import Session, aliased

from webapp.db.engine import tables
from webapp.db.tables.judging import (
    JudgedThing,
    QueryRating,
    Repeat,
    RepeatRating,
    StoredSummary,
    Task,
    WordingOpened,
)
from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Query, Result, Run
from webapp.db.tables.study import Study
from webapp.importers.runs import prices, property_cards
from webapp.metrics.judging.queries import QueryJudgments, summarise
from webapp.metrics.judging.queries import QuerySummary as Summary
from webapp.records import VERDICTS, Card, EmptyOutcome, QueryState, Relevance
from webapp.services.judging import live_metrics
from webapp.services.judging.judged_things import from_row
from webapp.services.rating import asked_again, pages, pool, shares, tasks
from webapp.services.rating.pages import EarlierTurn, JudgedCard, QuestionPage
from webapp.services.rating.pool import REPEAT, QueryFilter
from webapp.services.rating.shares import Progress
from webapp.services.rating.tasks import EVERYTHING, TaskPlace
from webapp.services.study import studies

ALL_FIGURES = "all"
_WHOLE = re.compile(r"\.0(?=m²)")
_EMOJI = re.compile("[\U0001f000-\U0001faff\u2600-\u27bf\ufe0e\ufe0f\u200d]+ ?")


class TaskStage(StrEnum):
    """The stages of a task: cards first, then emptiness, then whole answers."""

    CARDS = "cards"
    EMPTINESS = "emptiness"
    ANSWERS = "answers"
    DONE = "done"


class BlindAnswer(Struct, frozen=True):
    """One whole answer to rate 0-5: its cards between the prose before and after them.

    ``response`` is the answer as written: ``None`` until opened, empty where it shows nothing more.
    """

    key: str
    letter: str
    state: QueryState
    cards: tuple[Card, ...]
    before: str
    after: str
    response: str | None
    quality: int | None
    notes: str
    suggested: int | None = None


class BlindPage(QuestionPage, frozen=True, kw_only=True):
    """One task as its rater sees it; ``answers`` are there once all cards are judged."""

    task_id: str
    stage: TaskStage
    asks_cards: bool
    asks_emptiness: bool
    contradicts_itself: bool
    answers: tuple[BlindAnswer, ...]
    place: TaskPlace
    is_put_off: bool
    progress: Progress
    figure: tuple[int, int, float | None] | None
    figures: tuple[tuple[str, Summary], ...]
    guidelines: str

    @property
    def is_blind(self) -> bool:
        return True

    @property
    def name(self) -> str:
        return self.task_id

    @property
    def below(self) -> str:
        return str(TaskStage.ANSWERS if self.stage is TaskStage.DONE else self.stage)


def blind_page(
    session: Session, rater: Rater, task_id: str, wanted: QueryFilter = EVERYTHING
) -> BlindPage:
    """Return the page of one of the rater's tasks; raises ``UnknownTask``."""
    task = tasks.read(session, rater, task_id)
    things = tasks.asked_things(session, task)
    said = [thing.verdict for thing in things if thing.property_id is not None]
    empty = next((thing for thing in things if thing.property_id is None), None)
    outcome = EmptyOutcome(empty.verdict) if empty and empty.verdict else None
    sees_figures = task.figures == ALL_FIGURES
    suggests = task.suggest_quality and None not in said
    summaries = _summaries_of(session, task) if sees_figures or suggests else {}
    answers = () if None in said else _answers(session, task, summaries)
    stage = TaskStage.DONE
    if None in said:
        stage = TaskStage.CARDS
    elif empty is not None and outcome is None:
        stage = TaskStage.EMPTINESS
    elif any(answer.quality is None for answer in answers):
        stage = TaskStage.ANSWERS
    share = shares.of_rater(session, rater)
    so_far = shares.of_share(session, rater, share)
    mine = {one.unit for one in share.given} | set(share.free)
    return BlindPage(
        task_id=task.id,
        question=task.text,
        category=task.category,
        context_dependent=task.context_dependent,
        earlier_turns=tuple(
            EarlierTurn(turn.question, _in_one_style(turn))
            for turn in pages.of_question(session, task.run_id, task.question_id)
        ),
        cards=_cards(session, rater, task, things),
        stage=stage,
        asks_cards=bool(said),
        asks_emptiness=empty is not None,
        empty_outcome=outcome,
        contradicts_itself=outcome is EmptyOutcome.CORRECT_EMPTY and Relevance.RELEVANT in said,
        answers=answers if stage in {TaskStage.ANSWERS, TaskStage.DONE} else (),
        place=tasks.place(session, rater, share, so_far, task.id, wanted),
        is_put_off=task.postponed_at is not None and stage is not TaskStage.DONE,
        progress=so_far,
        figure=shares.pooled_figure(session, rater) if sees_figures else None,
        figures=_figures(task, summaries) if sees_figures else (),
        show_pictures=task.show_pictures,
        cannot_tell=task.cannot_tell,
        guidelines=studies.guidelines(rater.study),
        filter=wanted,
        categories=tuple(
            dict.fromkeys(one.category for unit, one in share.units.items() if unit in mine)
        ),
    )


def _cards(
    session: Session, rater: Rater, task: Row[Any], things: Sequence[Row[Any]]
) -> tuple[JudgedCard, ...]:
    found = [thing for thing in things if thing.property_id is not None]
    if task.kind == REPEAT:
        again = shares.verdicts(session, task)
        said = [(thing, *again[thing.id]) for thing in found if thing.id in again]
        earlier = pages.said_before(found, said)
    else:
        earlier = pages.earlier_verdicts(session, rater, found)
    has_prices = any(thing.card.get("price") for thing in found)
    return tuple(
        JudgedCard(
            key=tasks.key(task, thing.id),
            number=number,
            listing=thing.property_id,
            card=_uniform(from_row(thing.card), task.text),
            relevance=VERDICTS[thing.verdict or ""],
            earlier=earlier.get(thing.id),
            has_prices=has_prices,
        )
        for number, thing in enumerate(found, start=1)
    )


def _answers(
    session: Session, task: Row[Any], summaries: Mapping[int, Summary]
) -> tuple[BlindAnswer, ...]:
    rated = _rated(again=task.kind == REPEAT)
    rows = tables(session).execute(rated, {"task_id": task.id}).all()
    found = sorted(rows, key=lambda row: tasks.key(task, -row.id))
    suggested: Mapping[int, int | None] = {}
    if task.suggest_quality:
        suggested = {key: pages.suggested(one, task.cannot_tell) for key, one in summaries.items()}
    listed: dict[int, list[Card]] = {row.id: [] for row in found}
    for answer, card in tables(session).execute(_listed(), {"answers": [*listed]}):
        listed[answer].append(_uniform(from_row(card), task.text))
    shown = []
    for number, row in enumerate(found):
        before, after = property_cards.prose(row.response)
        shows_more = row.response.split() != (before + after).split()
        shown.append(
            BlindAnswer(
                key=tasks.key(task, -row.id),
                letter=tasks.letter(number),
                state=QueryState(row.state),
                cards=tuple(listed[row.id]),
                before=_EMOJI.sub("", before),
                after=_EMOJI.sub("", after),
                response="" if not shows_more else row.response if row.opened else None,
                quality=row.quality,
                notes=row.notes or "",
                suggested=suggested.get(row.id),
            )
        )
    return tuple(shown)


@cache
def _listed() -> Select[*tuple[Any, ...]]:
    return (
        select(Result.query_key, JudgedThing.card)
        .join(JudgedThing, JudgedThing.id == Result.judged_thing_id)
        .where(Result.query_key.in_(bindparam("answers", expanding=True)))
        .order_by(Result.query_key, Result.rank)
    )


def _uniform(card: Card, question: str) -> Card:
    # Without what only some methods write: emoji, and the sale that was asked for.
    asked = prices.read_note(question)
    return replace(
        card,
        title=_EMOJI.sub("", card.title) or card.title,
        location=card.location and _EMOJI.sub("", card.location),
        price_note=None if card.price_note == asked else card.price_note,
        listing_type=None if card.listing_type == asked else card.listing_type,
    )


def _in_one_style(turn: EarlierTurn) -> str:
    before, after = property_cards.prose(turn.response)
    cards = [
        replace(_uniform(card, turn.question), source=None)
        for card in property_cards.parse(turn.response)
    ]
    parts = (before, property_cards.render(cards, plain=True), after)
    return _WHOLE.sub("", _EMOJI.sub("", "\n\n".join(filter(None, parts))))


@cache
def _rated(*, again: bool) -> Select[*tuple[Any, ...]]:
    said, own = RepeatRating if again else QueryRating, Task.id == bindparam("task_id")
    first = case((asked_again.hides(QueryRating), None), else_=QueryRating.quality)
    quality = (RepeatRating.quality if again else first).label("quality")
    is_opened = exists().where(
        WordingOpened.query_key == Query.id, WordingOpened.rater_id == Task.rater_id
    )
    columns = select(
        Query.id, Query.state, Query.response, quality, said.notes, is_opened.label("opened")
    )
    if again:
        asked = columns.join_from(Task, RepeatRating, RepeatRating.task_id == Task.id)
        return asked.join(Query, Query.id == RepeatRating.query_key).where(own)
    mine = Task.rater_id
    return (
        columns.join_from(Task, Rater, Rater.id == mine)
        .join(Study, Study.id == Rater.study_id)
        .join(Query, Query.question_id == Task.question_id)
        .join(Run, Run.id == Query.run_id)
        .outerjoin(
            QueryRating, and_(QueryRating.query_key == Query.id, QueryRating.rater_id == mine)
        )
        .where(own, pool.answers_in(Study.id, Task))
    )


def _summaries_of(session: Session, task: Row[Any]) -> dict[int, Summary]:
    # A repeat's come from its own verdicts alone: the stored ones would reveal that it is one.
    if task.kind == REPEAT:
        return dict(_again(session, task))
    rows = tables(session).execute(_summaries(), {"task_id": task.id}).all()
    return {row.query_key: live_metrics.summary(row) for row in rows}


def _figures(task: Row[Any], summaries: Mapping[int, Summary]) -> tuple[tuple[str, Summary], ...]:
    in_order = sorted(summaries, key=lambda answer: tasks.key(task, -answer))
    return tuple((tasks.letter(n), summaries[answer]) for n, answer in enumerate(in_order))


@cache
def _summaries() -> Select[*tuple[Any, ...]]:
    row, mine = StoredSummary, Task.rater_id
    return (
        select(*row.__table__.columns)
        .join_from(Task, Rater, Rater.id == mine)
        .join(Study, Study.id == Rater.study_id)
        .join(Query, Query.question_id == Task.question_id)
        .join(Run, Run.id == Query.run_id)
        .join(row, and_(row.query_key == Query.id, row.rater_id == mine))
        .where(Task.id == bindparam("task_id"), pool.answers_in(Study.id, Task))
    )


def _again(session: Session, task: Row[Any]) -> Iterator[tuple[int, Summary]]:
    listed: dict[int, list[Row[Any]]] = defaultdict(list)
    for row in tables(session).execute(_said_again(), {"task_id": task.id}).all():
        listed[row.id].append(row)
    for answer, rows in listed.items():
        first = rows[0]
        said = QueryJudgments(
            state=QueryState(first.state),
            verdicts=tuple(VERDICTS[row.verdict or ""] for row in rows if row.rank is not None),
            empty_outcome=EmptyOutcome(first.outcome) if first.outcome else None,
            quality=first.quality,
        )
        yield answer, summarise(said, cannot_tell=task.cannot_tell)


@cache
def _said_again() -> Select[*tuple[Any, ...]]:
    emptiness = aliased(Repeat)
    same, empty = Repeat.task_id == Task.id, emptiness.task_id == Task.id
    return (
        select(
            *(Query.id, Query.state, RepeatRating.quality, Result.rank, Repeat.verdict),
            emptiness.verdict.label("outcome"),
        )
        .join_from(Task, RepeatRating, RepeatRating.task_id == Task.id)
        .join(Query, Query.id == RepeatRating.query_key)
        .outerjoin(Result, Result.query_key == Query.id)
        .outerjoin(Repeat, and_(same, Repeat.judged_thing_id == Result.judged_thing_id))
        .outerjoin(emptiness, and_(empty, emptiness.judged_thing_id == Query.emptiness_id))
        .where(Task.id == bindparam("task_id"))
        .order_by(Query.id, Result.rank)
    )
