"""Which judged thing a shown card belongs to: the pooling that makes one verdict serve all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp.db.tables.judging import JudgedThing, Property
from webapp.db.tables.runs import Query, Result
from webapp.db.tables.study import Question, QuestionSet
from webapp.kinds import from_row, to_row
from webapp.records import Item

PORTION = 5_000

_Place = tuple[int, str | None, str | None]  # question, run where it matters, identity


class Pool:
    """The judged things of some questions, growing as runs are read."""

    def __init__(self, session: Session, question_set: QuestionSet, cards: Iterable[Item]):
        self._session = session
        self._properties: dict[str, Property] = {}
        names = sorted({card.identity for card in cards})
        for start in range(0, len(names), PORTION):
            portion = Property.identity.in_(names[start : start + PORTION])
            for row in session.scalars(select(Property).where(portion)):
                self._properties[row.identity] = row
        self._things: dict[_Place, list[JudgedThing]] = defaultdict(list)
        for thing, name in session.execute(
            select(JudgedThing, Property.identity)
            .join(Question, Question.id == JudgedThing.question_id)
            .outerjoin(Property)
            .where(Question.question_set_id == question_set.id)
            .order_by(JudgedThing.content)
        ):
            self._things[thing.question_id, thing.run_id, name].append(thing)

    def place(self, query: Query, question: Question, card: Item) -> JudgedThing:
        """Return the judged thing of a card shown in `query`, made if it is a new one."""
        scope = _scope(query, question)
        name = card.identity
        versions = self._things[question.id, scope, name]
        for thing in versions:
            if _joins(thing, card):
                return thing
        if name not in self._properties:
            self._properties[name] = Property(identity=name)
        thing = JudgedThing(
            question_id=question.id,
            property=self._properties[name],
            content=len(versions) + 1,
            run_id=scope,
            card=to_row(card),
        )
        self._session.add(thing)
        versions.append(thing)
        return thing

    def place_again(self, result: Result, query: Query, card: Item) -> JudgedThing:
        """Return the judged thing of a result whose card has more fields now."""
        if _joins(result.judged_thing, card):
            return result.judged_thing
        return self.place(query, query.question, card)

    def place_emptiness(self, query: Query, question: Question) -> JudgedThing:
        scope = _scope(query, question)
        versions = self._things[question.id, scope, None]
        if not versions:
            thing = JudgedThing(question_id=question.id, content=1, run_id=scope)
            self._session.add(thing)
            versions.append(thing)
        return versions[0]


def _joins(thing: JudgedThing, card: Item) -> bool:
    # It keeps the fuller version.
    stored = from_row(thing.card) if thing.card else card
    if stored.differences(card):
        return False
    thing.card = to_row(stored.fullest(card))
    return True


def _scope(query: Query, question: Question) -> str | None:
    return query.run_id if question.context_dependent else None


def identity_of(result: Result) -> str:
    shown = result.judged_thing.property
    assert shown is not None  # only an emptiness has none, and nothing shows one
    return shown.identity
