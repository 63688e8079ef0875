"""What the demo's raters looked up: nothing fits one empty answer, and a listing fits another."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.db.tables.judging import Event, JudgedItem
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query
from relevansi.db.tables.study import Question, Study
from relevansi.records import Click, EmptyOutcome, Relevance
from relevansi.services.catalogue.filters import Filters
from relevansi.services.judging import events
from relevansi.services.judging.events import Target
from relevansi.services.rating import lookups
from relevansi.services.rating.lookups import Place
from relevansi.services.study import studies

NOTHING, MISSED = 12, 9
SEARCHES = {
    NOTHING: ("gudang KIM", Filters(type="warehouse")),
    MISSED: ("rumah medan kota", Filters(type="house", offer="sale", price_to=1_000_000_000)),
}
"""What is looked up for a question, by its number: one listing fits the second, none the first."""
PACE = timedelta(seconds=10)


def add(session: Session, study: Study, _folder: Path, _now: datetime) -> None:
    """Let each rater look before their outcome; whoever misses results pins what was found.

    Whoever calls an answer right that has such an item did not look, and finds it unfit when asked.
    """
    raters, pinned = studies.raters(session, study), dict[int, int]()
    for rater in raters:
        for outcome, question in _outcomes(session, rater):
            words, filters = SEARCHES[question.position]
            place = _place(session, rater, outcome)
            if question.position == MISSED and outcome.new == EmptyOutcome.CORRECT_EMPTY:
                continue
            look = lookups.search(session, rater, place, words, filters, outcome.received_at - PACE)
            if look.matches.items:
                click = Click(f"{outcome.event_id}-pin", outcome.received_at + PACE)
                lookups.pin(session, rater, place, look.matches.items[0].id, click)
                [evidence] = lookups.evidence(session, rater, place)
                pinned[question.id] = evidence.item_id
    for rater in raters:
        for outcome, question in _outcomes(session, rater):
            item_id = pinned.get(question.id)
            if item_id is not None and outcome.new == EmptyOutcome.CORRECT_EMPTY:
                target = Target("verdict", item_id, outcome.query_key, outcome.task_id)
                click = Click(f"{outcome.event_id}-asked", outcome.received_at + 2 * PACE)
                events.record(session, rater, target, Relevance.NOT_RELEVANT, click)
                events.refresh(session, rater, [target])


def _outcomes(session: Session, rater: Rater) -> list[tuple[Event, Question]]:
    """Return a rater's first verdict on each of the empty answers that are looked up."""
    clicks = (
        select(Event, Question)
        .join(JudgedItem, JudgedItem.id == Event.judged_item_id)
        .join(Question, Question.id == JudgedItem.question_id)
        .where(Event.rater_id == rater.id, Event.field == "verdict", JudgedItem.item_id.is_(None))
        .where(Question.position.in_(SEARCHES))
        .order_by(Event.id.desc())
    )
    first = {question.id: (click, question) for click, question in session.execute(clicks)}
    return [first[question_id] for question_id in sorted(first)]


def _place(session: Session, rater: Rater, click: Event) -> Place:
    if click.task_id is not None:
        return lookups.of_task(session, rater, click.task_id)
    query = session.get_one(Query, click.query_key)
    return lookups.of_answer(session, rater, query.run_id, query.query_id)
