"""Gold questions changed one at a time; every change is a version of its own."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from fractions import Fraction
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Run
from webapp.db.tables.study import QuestionSet, Study
from webapp.exporters.gold.gold_questions import gold_json
from webapp.failures import Conflict, Missing
from webapp.i18n import mark
from webapp.importers.gold import gold_questions, known_places
from webapp.importers.gold.gold_questions import GoldFile
from webapp.importers.gold.known_places import KnownPlace
from webapp.metrics.gold.constraint_rules import CardFacts, Check, Outcome, check_card
from webapp.metrics.gold.constraints import Expected, GoldQuestion
from webapp.services.gold import constraints, gold
from webapp.services.gold.gold import Gold
from webapp.services.runs import runs

EDITED = "gold_questions.json"
"""The name of a version that was not read from a file."""


class GoldNumberTaken(Conflict):
    """Another gold question has that number already."""

    message = mark("Another question has this number")
    remedy = mark("Write another number.")


class UnknownGoldQuestion(Missing):
    """The gold questions in force have none of that number."""

    message = mark("There are no such gold questions")
    remedy = mark("The page of the gold questions lists all that there are.")


class ShownListing(Struct, frozen=True):
    """One listing that a run showed for any question; ``queries`` are those it answered."""

    facts: CardFacts
    queries: tuple[int, ...]


class Match(Struct, frozen=True):
    """A listing against one question: every check, and whether all that is asked passes."""

    listing: ShownListing
    checks: tuple[Check, ...]

    @property
    def satisfies(self) -> bool:
        """Whether everything that is asked passes."""
        return all(check.outcome in {Outcome.PASS, Outcome.NA} for check in self.checks)


def begin(session: Session, rater: Rater, question_set_id: int, now: datetime) -> None:
    """Make the first version of the set's own questions: each should bring data, asks nothing.

    Where there is one already nothing happens. Raises ``UnknownQuestionSet``.
    """
    gold.find_set(session, rater.study, question_set_id)
    if gold.in_force(session, question_set_id) is not None:
        return
    asked = session.get_one(QuestionSet, question_set_id).questions
    questions = tuple(
        GoldQuestion(one.position, one.text, one.category, Expected.HAS_DATA) for one in asked
    )
    gold.save(session, rater, question_set_id, GoldFile(EDITED, None, questions), now)


def put(
    session: Session,
    rater: Rater,
    question_set_id: int,
    number: int | None,
    question: GoldQuestion,
    now: datetime,
) -> None:
    """Put `question` in the place of the one called `number`, or at the end.

    Raises ``UnknownGoldQuestion``, ``GoldNumberTaken``, and an ``ImportRefused`` for a question
    that a gold file may not have.
    """
    file = _file(session, rater.study, question_set_id)
    numbers = [one.query_id for one in file.questions]
    if number is not None and number not in numbers:
        raise UnknownGoldQuestion(number)
    if question.query_id != number and question.query_id in numbers:
        raise GoldNumberTaken(question.query_id)
    kept = [question if one.query_id == number else one for one in file.questions]
    changed = (*kept, question) if number is None else tuple(kept)
    _save(session, rater, question_set_id, replace(file, questions=changed), now)


def remove(
    session: Session, rater: Rater, question_set_id: int, number: int, now: datetime
) -> None:
    """Take a question out; raises ``UnknownGoldQuestion``, also for the only one left."""
    file = _file(session, rater.study, question_set_id)
    kept = tuple(one for one in file.questions if one.query_id != number)
    if not kept or len(kept) == len(file.questions):
        raise UnknownGoldQuestion(number)
    _save(session, rater, question_set_id, replace(file, questions=kept), now)


def set_threshold(
    session: Session, rater: Rater, question_set_id: int, threshold: Fraction, now: datetime
) -> None:
    """Set the threshold T; raises ``UnknownGoldQuestion`` without gold questions."""
    file = _file(session, rater.study, question_set_id)
    _save(session, rater, question_set_id, replace(file, threshold=threshold), now)


def take_places(
    session: Session, rater: Rater, question_set_id: int, name: str, data: bytes, now: datetime
) -> None:
    """Take the known places of a locations.json in; raises an ``ImportRefused``."""
    file = _file(session, rater.study, question_set_id)
    extra = {**file.extra, known_places.PLACES: known_places.read(name, data)}
    _save(session, rater, question_set_id, replace(file, extra=extra), now)


def question_of(found: Gold, number: int) -> GoldQuestion:
    """Return one gold question; raises ``UnknownGoldQuestion``."""
    for question in found.questions:
        if question.query_id == number:
            return question
    raise UnknownGoldQuestion(number)


def places(found: Gold) -> tuple[KnownPlace, ...]:
    """Return the places that the gold file lists, then those its questions ask for."""
    listed = known_places.places(found.file.extra.get(known_places.PLACES))
    by_name = {place.name.casefold(): place for place in listed}
    for question in found.questions:
        asked = question.constraints.location
        if asked is None or asked.latitude is None or asked.longitude is None:
            continue
        name = asked.keywords[0] if asked.keywords else question.text
        place = KnownPlace(name, asked.keywords, asked.latitude, asked.longitude, asked.radius_km)
        by_name.setdefault(name.casefold(), place)
    return tuple(by_name.values())


def listings(session: Session, study: Study, run_id: str) -> tuple[ShownListing, ...]:
    """Return every distinct listing of a run, in the order in which it came first."""
    run = runs.find(session, study, run_id)
    found: dict[object, tuple[CardFacts, list[int]]] = {}
    for query_id, cards in constraints.card_facts(session, run).items():
        for card in cards:
            key = card.slug or (card.name, card.location, card.price)
            found.setdefault(key, (card, []))[1].append(query_id)
    return tuple(ShownListing(card, tuple(dict.fromkeys(ids))) for card, ids in found.values())


def matches(question: GoldQuestion, shown: Iterable[ShownListing]) -> tuple[Match, ...]:
    """Return every listing checked against the constraints of `question`."""
    return tuple(Match(one, check_card(question.constraints, one.facts)) for one in shown)


def newest_run(session: Session, question_set_id: int) -> str | None:
    """Return the newest run of a question set."""
    return session.scalar(
        select(Run.id)
        .where(Run.question_set_id == question_set_id)
        .order_by(Run.imported_at.desc(), Run.id)
        .limit(1)
    )


def _file(session: Session, study: Study, question_set_id: int) -> GoldFile:
    gold.find_set(session, study, question_set_id)
    found = gold.in_force(session, question_set_id)
    if found is None:
        raise UnknownGoldQuestion(question_set_id)
    return found.file


def _save(
    session: Session, rater: Rater, question_set_id: int, file: GoldFile, now: datetime
) -> None:
    """Save the document if the reader of gold files accepts it, else raise its error."""
    document: dict[str, Any] = gold_json(file.questions, file.threshold, file.extra)
    read = gold_questions.read(EDITED, json.dumps(document).encode())
    gold.save(session, rater, question_set_id, read, now)
