"""Everything a blind rater's page says about one task, and nothing about runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from string import ascii_uppercase

from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp.db.models import (
    JudgedThing,
    Judgment,
    Query,
    QueryRating,
    QuerySummary,
    Rater,
    RepeatRating,
    Task,
)
from webapp.importers.property_identity import differences
from webapp.metrics.ranking import suggested_quality
from webapp.records import Card, EmptyOutcome, QueryState, Relevance
from webapp.services import rating_page, repeats, tasks
from webapp.services.judged_things import from_row
from webapp.services.pool import REPEAT
from webapp.services.progress import PooledFigure, Progress, pooled_figure, progress
from webapp.services.rating_page import EarlierVerdict, Turn

ALL_FIGURES = "all"


class Stage(StrEnum):
    """What a task asks for now: cards first, then emptiness, then whole answers."""

    CARDS = "cards"
    EMPTINESS = "emptiness"
    ANSWERS = "answers"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class BlindCard:
    """One property to judge, at its 1-based place in this rater's order; ``key`` names it."""

    key: str
    position: int
    card: Card
    relevance: Relevance | None
    earlier: EarlierVerdict | None = None


@dataclass(frozen=True, slots=True)
class BlindAnswer:
    """One whole answer to rate 0-5, called by a letter; ``key`` names it.

    ``suggested`` is what the share of relevant cards in it suggests, if all are judged.
    """

    key: str
    letter: str
    response: str
    quality: int | None
    notes: str
    suggested: int | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a task stands among those the rater was given; ids, ``None`` at the ends.

    ``position`` is 1-based.
    """

    position: int
    previous: str | None
    next: str | None


@dataclass(frozen=True, slots=True)
class BlindPage:
    """One task as its rater sees it. ``answers`` is empty until every card is judged.

    ``figure`` is there only where the study lets raters see figures while rating.
    """

    task_id: str
    question: str
    category: str
    context_dependent: bool
    earlier_turns: tuple[Turn, ...]
    stage: Stage
    cards: tuple[BlindCard, ...]
    asks_emptiness: bool
    empty_outcome: EmptyOutcome | None
    answers: tuple[BlindAnswer, ...]
    place: Place
    progress: Progress
    figure: PooledFigure | None
    guidelines: str
    show_pictures: bool

    @property
    def contradicts_itself(self) -> bool:
        """Whether "truly nothing" stands beside a property judged relevant."""
        found = any(shown.relevance is Relevance.RELEVANT for shown in self.cards)
        return found and self.empty_outcome is EmptyOutcome.CORRECT_EMPTY


def blind_page(session: Session, rater: Rater, task_id: str) -> BlindPage:
    """Return the page of one of the rater's tasks; raises ``UnknownTask``."""
    task = tasks.find(session, rater, task_id)
    cards = _cards(session, task)
    empty = tasks.emptiness(session, task)
    outcome = _outcome(session, task, empty)
    answers = _answers(session, task)
    stage = _stage(cards, empty is not None and outcome is None, answers)
    return BlindPage(
        task_id=task.id,
        question=task.question.text,
        category=task.question.category,
        context_dependent=task.question.context_dependent,
        earlier_turns=_earlier_turns(session, task),
        stage=stage,
        cards=cards,
        asks_emptiness=empty is not None,
        empty_outcome=outcome,
        answers=answers if stage in {Stage.ANSWERS, Stage.DONE} else (),
        place=_place(session, task),
        progress=progress(session, rater),
        figure=pooled_figure(session, rater) if rater.study.figures == ALL_FIGURES else None,
        guidelines=rater.study.guidelines,
        show_pictures=rater.study.show_pictures,
    )


def _place(session: Session, task: Task) -> Place:
    given = tasks.given_to(session, task.rater)
    at = given.index(task.id)
    return Place(
        position=at + 1,
        previous=given[at - 1] if at else None,
        next=given[at + 1] if at + 1 < len(given) else None,
    )


def _stage(cards: Sequence[BlindCard], unclassified: bool, answers: Sequence[BlindAnswer]) -> Stage:
    if any(card.relevance is None for card in cards):
        return Stage.CARDS
    if unclassified:
        return Stage.EMPTINESS
    if any(answer.quality is None for answer in answers):
        return Stage.ANSWERS
    return Stage.DONE


def _cards(session: Session, task: Task) -> tuple[BlindCard, ...]:
    found = tasks.things(session, task)
    said = _said(session, task, [thing.id for thing in found])
    earlier = _earlier_verdicts(session, task, found)
    return tuple(
        BlindCard(
            key=tasks.key(task, thing.id),
            position=position,
            card=from_row(thing.card or {"title": ""}),
            relevance=Relevance(said[thing.id]) if thing.id in said else None,
            earlier=_earlier(earlier.get(thing.id), thing),
        )
        for position, thing in enumerate(found, start=1)
    )


def _earlier_verdicts(
    session: Session, task: Task, found: Sequence[JudgedThing]
) -> dict[int, tuple[str, Card]]:
    """Return what was said before of other contents: of a repeat, in the repeat alone."""
    if task.kind != REPEAT:
        return rating_page.earlier_verdicts(session, task.rater, found)
    again = repeats.verdicts(session, task)
    return rating_page.said_before(
        found, [(thing, *again[thing.id]) for thing in found if thing.id in again]
    )


def _earlier(found: tuple[str, Card] | None, thing: JudgedThing) -> EarlierVerdict | None:
    if found is None or thing.card is None:
        return None
    verdict, other = found
    return EarlierVerdict(Relevance(verdict), other, differences(other, from_row(thing.card)))


def _said(session: Session, task: Task, things: Sequence[int]) -> dict[int, str]:
    """Return the verdicts given in the task, by judged thing."""
    if task.kind == REPEAT:
        again = repeats.verdicts(session, task)
        return {thing: verdict for thing, (verdict, _) in again.items()}
    rows = session.execute(
        select(Judgment.judged_thing_id, Judgment.verdict).where(
            Judgment.rater_id == task.rater_id, Judgment.judged_thing_id.in_(things)
        )
    )
    return {thing_id: verdict for thing_id, verdict in rows if verdict}


def _outcome(session: Session, task: Task, empty: JudgedThing | None) -> EmptyOutcome | None:
    said = _said(session, task, [empty.id]) if empty else {}
    return EmptyOutcome(said[empty.id]) if empty and empty.id in said else None


def _answers(session: Session, task: Task) -> tuple[BlindAnswer, ...]:
    found = tasks.answers(session, task)
    keys = [query.id for query in found]
    rated = _ratings(session, task, keys)
    suggested = (
        repeats.suggested(session, task, keys)
        if task.kind == REPEAT
        else _suggested(session, task, keys)
    )
    return tuple(
        BlindAnswer(
            key=tasks.key(task, -query.id),
            letter=letter(number),
            response=query.response,
            quality=rated[query.id].quality if query.id in rated else None,
            notes=rated[query.id].notes if query.id in rated else "",
            suggested=suggested.get(query.id),
        )
        for number, query in enumerate(found)
    )


def _ratings(
    session: Session, task: Task, keys: Sequence[int]
) -> Mapping[int, QueryRating | RepeatRating]:
    """Return quality and notes given in the task, by answer."""
    if task.kind == REPEAT:
        return repeats.ratings(session, task)
    ratings = select(QueryRating).where(
        QueryRating.rater_id == task.rater_id, QueryRating.query_key.in_(keys)
    )
    return {row.query_key: row for row in session.scalars(ratings)}


def _suggested(session: Session, task: Task, keys: Sequence[int]) -> dict[int, int | None]:
    """Return what the rater's own verdicts suggest for each of these answers."""
    rows = session.scalars(
        select(QuerySummary).where(
            QuerySummary.rater_id == task.rater_id, QuerySummary.query_key.in_(keys)
        )
    )
    return {
        row.query_key: suggested_quality(
            QueryState(row.state),
            [Relevance.RELEVANT] * row.relevant_count
            + [Relevance.NOT_RELEVANT] * row.not_relevant_count
            + [None] * (row.results_count - row.judged_count),
        )
        for row in rows
    }


def letter(number: int) -> str:
    """Return the name of the answer at `number`, counted from 0.

    >>> letter(0), letter(25), letter(26)
    ('A', 'Z', 'A2')
    """
    round_, place = divmod(number, len(ascii_uppercase))
    return ascii_uppercase[place] + (str(round_ + 1) if round_ else "")


def _earlier_turns(session: Session, task: Task) -> tuple[Turn, ...]:
    """Return the conversation that a follow-up depends on; it belongs to the task's run."""
    if task.run_id is None:
        return ()
    query = session.scalar(
        select(Query).where(Query.run_id == task.run_id, Query.question_id == task.question_id)
    )
    return rating_page.earlier_turns(session, query) if query else ()
