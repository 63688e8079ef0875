"""The content of a blind rater's page about one task, without any trace of the runs.

Methods write their lists in different ways, so an answer is shown as its cards, in the content and
the form in which cards are judged, and what of its text is no list. The answer as written is kept
back until its rater opens it, which is recorded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace
from sqlalchemy import Row, Select, and_, bindparam, case, exists, select
from sqlalchemy.orm import Session

from webapp.db.engine import tables
from webapp.db.tables.judging import (
    JudgedThing,
    QueryRating,
    RepeatRating,
    StoredSummary,
    Task,
    WordingOpened,
)
from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Query, Result, Run
from webapp.db.tables.study import Study
from webapp.importers.runs import prices, property_cards
from webapp.importers.runs.property_cards import Style
from webapp.records import CannotTell, Card, EmptyOutcome, QueryState, Relevance
from webapp.services.judging import answer_figures
from webapp.services.judging.answer_figures import AnswerFigures
from webapp.services.judging.judged_things import from_row
from webapp.services.rating import asked_again, pages, pool, shares, tasks
from webapp.services.rating.pages import EarlierTurn, EarlierVerdict, compared
from webapp.services.rating.pool import REPEAT, QueryFilter
from webapp.services.rating.shares import (
    PooledFigure,
    Progress,
    StudyShare,
    of_share,
    pooled_figure,
)
from webapp.services.rating.tasks import EVERYTHING, AskedThing, JudgedTask, TaskPlace
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


class BlindCard(Struct, frozen=True):
    """One property to judge, at its 1-based place in this rater's order; ``key`` names it.

    ``listing`` names its property: one that was shown in two contents is two cards.
    ``has_prices``: any card of the question states its price.
    """

    key: str
    position: int
    listing: int | None
    card: Card
    relevance: Relevance | None
    earlier: EarlierVerdict | None = None
    has_prices: bool = False


class BlindAnswer(Struct, frozen=True):
    """One whole answer to rate 0-5, called by a letter; ``key`` names it.

    It is its ``cards`` in their order, between the prose ``before`` and ``after`` them.
    ``response`` is the answer as written, ``None`` until its rater opened it, and empty where that
    shows nothing further.
    ``suggested`` is the quality that its share of relevant cards suggests, and 0 for an empty
    list, where the owner lets blind raters see it.
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


class MovingAnswers(Struct, frozen=True):
    """The values of a task's page that a verdict can change; ``answers`` once all cards are judged.

    ``contradicts_itself``: "truly nothing" was given beside a property judged relevant. ``figure``
    and ``figures`` are there only where the study lets raters see figures while rating, ``figure``
    not while their order follows from verdicts.
    """

    task_id: str
    question: str
    stage: TaskStage
    asks_cards: bool
    asks_emptiness: bool
    empty_outcome: EmptyOutcome | None
    contradicts_itself: bool
    answers: tuple[BlindAnswer, ...]
    place: TaskPlace
    is_put_off: bool
    progress: Progress
    figure: PooledFigure | None
    figures: tuple[AnswerFigures, ...]
    show_pictures: bool
    cannot_tell: CannotTell


class BlindPage(MovingAnswers, frozen=True):
    """One task as its rater sees it."""

    category: str
    context_dependent: bool
    earlier_turns: tuple[EarlierTurn, ...]
    cards: tuple[BlindCard, ...]
    guidelines: str
    filter: QueryFilter
    categories: tuple[str, ...]


def blind_page(
    session: Session, rater: Rater, task_id: str, wanted: QueryFilter = EVERYTHING
) -> BlindPage:
    """Return the page of one of the rater's tasks; raises ``UnknownTask``."""
    task = tasks.read(session, rater, task_id)
    things = tasks.asked_things(session, task, with_cards=True)
    share = shares.of_rater(session, rater)
    moving = _moving(session, rater, task, things, share, wanted)
    return BlindPage(
        **asdict(moving),
        category=task.category,
        context_dependent=task.context_dependent,
        earlier_turns=tuple(
            EarlierTurn(turn.question, _in_one_style(turn))
            for turn in pages.of_question(session, task.run_id, task.question_id)
        ),
        cards=_cards(session, rater, task, things),
        guidelines=studies.guidelines(rater.study),
        filter=wanted,
        categories=tasks.categories(session, rater, share),
    )


def moved(
    session: Session, rater: Rater, judged: JudgedTask, wanted: QueryFilter, key: str | None = None
) -> tuple[MovingAnswers, tuple[BlindCard, ...]]:
    """Return the values that a verdict changed, and the cards that show each other's verdicts.

    Beside them the card named `key`. Nothing else is read, since this is part of every click.
    """
    task, things = judged.task, judged.things
    cards: tuple[BlindCard, ...] = ()
    if key is not None or len({thing.property_id for thing in things}) < len(things):
        everything = _cards(
            session, rater, task, tasks.asked_things(session, task, with_cards=True)
        )
        several = pages.shown_several_times(everything)
        cards = tuple(card for card in everything if card in several or card.key == key)
    share = shares.of_rater(session, rater)
    return _moving(session, rater, task, things, share, wanted), cards


def _moving(
    session: Session,
    rater: Rater,
    task: Row[Any],
    things: Sequence[AskedThing],
    share: StudyShare,
    wanted: QueryFilter,
) -> MovingAnswers:
    said = [thing.verdict for thing in things if thing.property_id is not None]
    empty = next((thing for thing in things if thing.property_id is None), None)
    outcome = EmptyOutcome(empty.verdict) if empty and empty.verdict else None
    answers = () if None in said else _answers(session, task)
    stage = _stage(said, empty is not None and outcome is None, answers)
    so_far = of_share(session, rater, share)
    sees_figures = task.figures == ALL_FIGURES
    return MovingAnswers(
        task_id=task.id,
        question=task.text,
        stage=stage,
        asks_cards=bool(said),
        asks_emptiness=empty is not None,
        empty_outcome=outcome,
        contradicts_itself=outcome is EmptyOutcome.CORRECT_EMPTY and Relevance.RELEVANT in said,
        answers=answers if stage in {TaskStage.ANSWERS, TaskStage.DONE} else (),
        place=tasks.place(session, rater, share, so_far, task.id, wanted),
        is_put_off=task.postponed_at is not None and stage is not TaskStage.DONE,
        progress=so_far,
        figure=pooled_figure(session, rater) if sees_figures else None,
        figures=answer_figures.of_task(session, task) if sees_figures else (),
        show_pictures=task.show_pictures,
        cannot_tell=task.cannot_tell,
    )


def _stage(
    said: Sequence[str | None], unclassified: bool, answers: Sequence[BlindAnswer]
) -> TaskStage:
    if None in said:
        return TaskStage.CARDS
    if unclassified:
        return TaskStage.EMPTINESS
    if any(answer.quality is None for answer in answers):
        return TaskStage.ANSWERS
    return TaskStage.DONE


def _cards(
    session: Session, rater: Rater, task: Row[Any], things: Sequence[AskedThing]
) -> tuple[BlindCard, ...]:
    found = [thing for thing in things if thing.property_id is not None]
    earlier = _earlier_verdicts(session, rater, task, found)
    has_prices = any((thing.card or {}).get("price") for thing in found)
    return tuple(
        BlindCard(
            key=tasks.key(task, thing.id),
            position=position,
            listing=thing.property_id,
            card=_uniform(from_row(thing.card or {"title": ""}), task.text),
            relevance=Relevance(thing.verdict) if thing.verdict else None,
            earlier=compared(earlier.get(thing.id), from_row(thing.card)) if thing.card else None,
            has_prices=has_prices,
        )
        for position, thing in enumerate(found, start=1)
    )


def _earlier_verdicts(
    session: Session, rater: Rater, task: Row[Any], found: Sequence[AskedThing]
) -> dict[int, tuple[str, Card]]:
    """Return earlier verdicts on other contents: in a repeat, those of the repeat alone."""
    if task.kind != REPEAT:
        return pages.earlier_verdicts(session, rater, found)
    again = shares.verdicts(session, task)
    return pages.said_before(
        found, [(thing, *again[thing.id]) for thing in found if thing.id in again]
    )


def _answers(session: Session, task: Row[Any]) -> tuple[BlindAnswer, ...]:
    again = task.kind == REPEAT
    rows = tables(session).execute(_rated(again=again), {"task_id": task.id}).all()
    found = sorted(rows, key=lambda row: tasks.key(task, -row.id))
    suggested: Mapping[int, int | None] = {}
    if task.suggest_quality and again:
        states = {row.id: QueryState(row.state) for row in found}
        suggested = shares.suggested(session, task, states)
    elif task.suggest_quality:
        suggested = {row.id: pages.suggested(row, task.cannot_tell) for row in found}
    listed: dict[int, list[Card]] = {row.id: [] for row in found}
    of_answers = tables(session).execute(_listed(), {"answers": [*listed]})
    for answer, card in of_answers:
        listed[answer].append(_uniform(from_row(card), task.text))
    texts = {row.id: property_cards.prose(row.response) for row in found}
    return tuple(
        BlindAnswer(
            key=tasks.key(task, -row.id),
            letter=tasks.letter(number),
            state=QueryState(row.state),
            cards=tuple(listed[row.id]),
            before=_EMOJI.sub("", texts[row.id][0]),
            after=_EMOJI.sub("", texts[row.id][1]),
            response=_wording(row, "".join(texts[row.id])),
            quality=row.quality,
            notes=row.notes or "",
            suggested=suggested.get(row.id),
        )
        for number, row in enumerate(found)
    )


def _wording(row: Row[Any], prose: str) -> str | None:
    if row.response.split() == prose.split():
        return ""
    return row.response if row.opened else None


@cache
def _listed() -> Select[*tuple[Any, ...]]:
    """Return the statement over the cards of some answers, in the content that is judged."""
    return (
        select(Result.query_key, JudgedThing.card)
        .join(JudgedThing, JudgedThing.id == Result.judged_thing_id)
        .where(Result.query_key.in_(bindparam("answers", expanding=True)))
        .order_by(Result.query_key, Result.rank)
    )


def _uniform(card: Card, question: str) -> Card:
    """Return a card without what only some methods write: emoji, and the sale that was asked for.

    Where a question asks for houses for sale, "for sale" tells nothing but who wrote it.
    """
    asked = prices.read_note(question)
    return replace(
        card,
        title=_EMOJI.sub("", card.title) or card.title,
        location=card.location and _EMOJI.sub("", card.location),
        price_note=None if card.price_note == asked else card.price_note,
        listing_type=None if card.listing_type == asked else card.listing_type,
    )


def _in_one_style(turn: EarlierTurn) -> str:
    """Return an answer with its list written in one style, whichever method wrote it."""
    before, after = property_cards.prose(turn.response)
    cards = [
        replace(_uniform(card, turn.question), source=None)
        for card in property_cards.parse(turn.response)
    ]
    style = Style(bold=False, linked_titles=False)
    parts = (before, property_cards.render(cards, style), after)
    return _WHOLE.sub("", _EMOJI.sub("", "\n\n".join(filter(None, parts))))


@cache
def _rated(*, again: bool) -> Select[*tuple[Any, ...]]:
    """Return the statement over the answers to rate in a task, with their ratings."""
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
    row, mine = StoredSummary, Task.rater_id
    return (
        columns.add_columns(
            *(row.results_count, row.judged_count, row.relevant_count, row.not_relevant_count),
            row.unsure_count,
        )
        .join_from(Task, Rater, Rater.id == mine)
        .join(Study, Study.id == Rater.study_id)
        .join(Query, Query.question_id == Task.question_id)
        .join(Run, Run.id == Query.run_id)
        .join(row, and_(row.query_key == Query.id, row.rater_id == mine))
        .outerjoin(
            QueryRating, and_(QueryRating.query_key == Query.id, QueryRating.rater_id == mine)
        )
        .where(own, pool.answers_in(Study.id, Task))
    )
