"""Assignments: the questions that the owner names for a rater, as plain text and stored.

A rater without named questions gets all. Questions are written as people say them: "1-10, 14",
a category, "all"; where a study has several question sets, with the letter of the set.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from string import ascii_uppercase

from msgspec import Struct
from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from relevansi.db.tables.judging import WordingOpened
from relevansi.db.tables.people import LogEntry, Rater
from relevansi.db.tables.runs import Query
from relevansi.db.tables.study import Assignment, Question, QuestionSet, Study
from relevansi.i18n import gettext, mark
from relevansi.notation import ranges
from relevansi.services.study import studies

ALL = mark("all")
_ITEM = re.compile(r"([A-Za-z]*)\s*([0-9]{1,9})(?:\s*[-–—]\s*([A-Za-z]*)\s*([0-9]{1,9}))?")
_BETWEEN = re.compile(r"[,;\n]")

EVERYTHING: frozenset[int] = frozenset()
"""The assignment of a rater for whom no question is named: all questions."""


class Why(StrEnum):
    """Why an item names no questions, with the remedy, as message ids."""

    UNKNOWN = mark(
        '"%(item)s" is not a number, a range such as 1-10 or a category of the list below. '
        "Put commas between several."
    )
    OUTSIDE = mark('"%(item)s" is not among the questions there are: %(extent)s.')
    BACKWARDS = mark('"%(item)s" runs backwards: write the smaller number first.')
    WHICH_SET = mark(
        '"%(item)s" could be of several question sets: write the letter of the set before it, '
        "as in A%(item)s."
    )


class NotQuestions(ValueError):
    def __init__(self, item: str, why: Why) -> None:
        super().__init__(item, why)
        self.item, self.why = item, why


class NumberedSet(Struct, frozen=True):
    """One question set: its letter, and of each question the id and category by position."""

    letter: str
    ids: Mapping[int, int]
    categories: Mapping[int, str]

    def of(self, category: str) -> list[int]:
        return [
            self.ids[place]
            for place, name in self.categories.items()
            if _plain(name) == _plain(category)
        ]


def assigned(session: Session, rater: Rater) -> frozenset[int] | None:
    """Return the questions named for a rater; ``None`` where none is, which means all."""
    question_ids = select(Assignment.question_id).where(Assignment.rater_id == rater.id)
    return frozenset(session.scalars(question_ids)) or None


def by_rater(session: Session, study: Study) -> dict[int, frozenset[int]]:
    """Return the questions named for each rater; raters who get all are left out."""
    rows = session.execute(
        select(Assignment.rater_id, Assignment.question_id)
        .join(Rater, Rater.id == Assignment.rater_id)
        .where(Rater.study_id == study.id)
    )
    assignments: dict[int, set[int]] = defaultdict(set)
    for rater_id, question_id in rows:
        assignments[rater_id].add(question_id)
    return {rater_id: frozenset(questions) for rater_id, questions in assignments.items()}


def numbered(session: Session, study: Study) -> tuple[NumberedSet, ...]:
    """Return the study's question sets, the oldest first, to name questions by."""
    rows = session.execute(
        select(Question.question_set_id, Question.position, Question.id, Question.category)
        .join(QuestionSet, QuestionSet.id == Question.question_set_id)
        .where(QuestionSet.study_id == study.id)
        .order_by(Question.question_set_id, Question.position)
    )
    ids: dict[int, dict[int, int]] = defaultdict(dict)
    categories: dict[int, dict[int, str]] = defaultdict(dict)
    for set_id, position, question_id, category in rows:
        ids[set_id][position] = question_id
        categories[set_id][position] = category
    return tuple(
        NumberedSet(set_letter(number), ids[set_id], categories[set_id])
        for number, set_id in enumerate(ids)
    )


def assign(session: Session, rater: Rater, questions: frozenset[int], now: datetime) -> None:
    """Name the questions that a rater gets, logged; what the rater has begun stays theirs."""
    # In one queue with raters who are given questions just now (``tasks.lock``).
    session.execute(select(Study.id).where(Study.id == rater.study_id).with_for_update())
    before = assigned(session, rater) or EVERYTHING
    if before == questions:
        return
    session.execute(delete(Assignment).where(Assignment.rater_id == rater.id))
    session.add_all(Assignment(rater_id=rater.id, question_id=keys) for keys in sorted(questions))
    session.flush()
    sets = numbered(session, rater.study)
    old, new = (written(keys, sets) or ALL for keys in (before, questions))
    studies.log(session, rater.study, "assign", studies.rater_subject(rater), old, new, now)


def read(text: str, sets: Sequence[NumberedSet]) -> frozenset[int]:
    """Return the questions that `text` names; ``EVERYTHING`` for "all" and for nothing.

    Raises ``NotQuestions``.

    >>> one_set = NumberedSet("A", {1: 11, 2: 12, 3: 13}, {1: "area", 2: "price", 3: "price"})
    >>> sorted(read("1-2, 3", [one_set])), sorted(read("Price", [one_set]))
    ([11, 12, 13], [12, 13])
    """
    items = [" ".join(item.split()) for item in _BETWEEN.split(text)]
    words = [item for item in items if item]
    if any(item.casefold() in {ALL, gettext(ALL).casefold()} for item in words):
        return EVERYTHING
    return frozenset(question for item in words for question in _read(item, sets))


def written(questions: Iterable[int], sets: Sequence[NumberedSet]) -> str:
    """Return the text that `read` understands as these questions, empty for none.

    >>> one_set = NumberedSet("A", {number: number for number in range(1, 9)}, {})
    >>> written({1, 2, 3, 5, 7, 8}, [one_set])
    '1-3, 5, 7-8'
    """
    keys = set(questions)
    return ", ".join(
        f"{question_set.letter if len(sets) > 1 else ''}{run}"
        for question_set in sets
        for run in ranges(place for place, key in question_set.ids.items() if key in keys)
    )


def _read(item: str, sets: Sequence[NumberedSet]) -> Iterable[int]:
    match = _ITEM.fullmatch(item)
    if match is None:
        of_category = [question for question_set in sets for question in question_set.of(item)]
        if of_category:
            return of_category
        for question_set in sets:
            if len(sets) > 1 and question_set.letter == item.upper():
                return question_set.ids.values()
        raise NotQuestions(item, Why.UNKNOWN)
    letter, first, until_letter, until = match.groups()
    if until_letter and until_letter.upper() != letter.upper():
        raise NotQuestions(item, Why.UNKNOWN)
    places = range(int(first), int(until or first) + 1)
    if not places:
        raise NotQuestions(item, Why.BACKWARDS)
    ids = _set(letter, item, sets).ids
    if places[0] not in ids or places[-1] not in ids:
        raise NotQuestions(item, Why.OUTSIDE)
    return [ids[place] for place in places if place in ids]


def _set(letter: str, item: str, sets: Sequence[NumberedSet]) -> NumberedSet:
    if not letter and len(sets) > 1:
        raise NotQuestions(item, Why.WHICH_SET)
    for question_set in sets:
        if not letter or question_set.letter == letter.upper():
            return question_set
    raise NotQuestions(item, Why.UNKNOWN if letter else Why.OUTSIDE)


def _plain(text: str) -> str:
    return " ".join(text.replace("_", " ").split()).casefold()


def set_letter(number: int) -> str:
    """Return the name of the question set at `number`, counted from 0: A to Z, then AA."""
    higher, place = divmod(number, len(ascii_uppercase))
    return (set_letter(higher - 1) if higher else "") + ascii_uppercase[place]


SWITCHES = ("set badges_while_blind", "set show_record", "set suggest_quality")
"""The log's name of the switches behind ``Exposure``; see ``studies.set_switches``."""
OPENED = "open answer of run"


class Period(Struct, frozen=True):
    """A time in which a switch was on; ``until`` is ``None`` while it still is."""

    since: datetime
    until: datetime | None = None


class Exposure(Struct, frozen=True):
    """The times, earliest first, in which raters saw more than the cards.

    They saw constraint badges, details that only a listing's record has, or a suggested grade.
    """

    badged: tuple[Period, ...]
    record_shown: tuple[Period, ...]
    suggested: tuple[Period, ...]


def exposure(session: Session, study: Study) -> Exposure:
    """Return the times of each switch, as the log of its changes has them."""
    changes = session.execute(
        select(LogEntry.action, LogEntry.at, LogEntry.new)
        .where(LogEntry.study_id == study.id, LogEntry.action.in_(SWITCHES))
        .order_by(LogEntry.id)
    )
    periods: dict[str, list[Period]] = {action: [] for action in SWITCHES}
    for action, at, new in changes:
        times = periods[action]
        if new == str(True):
            times.append(Period(at))
        elif times and times[-1].until is None:
            times[-1] = Period(times[-1].since, at)
    return Exposure(*(tuple(periods[action]) for action in SWITCHES))


def wordings_opened(session: Session, run_ids: Sequence[str]) -> tuple[int, int]:
    """Return how often blind raters opened answers as written, and how many raters did."""
    of_runs = select(func.count(), func.count(WordingOpened.rater_id.distinct())).where(
        WordingOpened.query_key == Query.id, Query.run_id.in_(run_ids)
    )
    times, raters = session.execute(of_runs).one()
    return times, raters


def note_opened(
    session: Session, study: Study, run_ids: Sequence[str], position: int, now: datetime
) -> None:
    """Log that the owner opened these runs' answers to a question by run, each once."""
    subjects = [f"{run_id}/{position}" for run_id in run_ids]
    logged = session.scalars(
        select(LogEntry.subject).where(
            LogEntry.study_id == study.id, LogEntry.action == OPENED, LogEntry.subject.in_(subjects)
        )
    ).all()
    for subject in subjects:
        if subject not in logged:
            studies.log(session, study, OPENED, subject, None, None, now)
