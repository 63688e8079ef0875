"""Versions of gold questions: the expected results of a question set, each version a whole file.

The newest version is in force. An older one is put in force again by saving it as the newest, so
that no version is ever altered.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import asdict
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from relevansi.db.tables.evaluations import GoldVersion
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query, Run
from relevansi.db.tables.study import Question, QuestionSet, Study
from relevansi.failures import Missing
from relevansi.i18n import mark
from relevansi.importers.frame import bounded
from relevansi.importers.gold import gold_questions
from relevansi.importers.gold.gold_questions import GoldFile
from relevansi.importers.runs.json_runs import question_key
from relevansi.importers.runs.problems import warning
from relevansi.metrics.gold.constraint_rules import AskedPlace
from relevansi.metrics.gold.constraints import DEFAULT_THRESHOLD, Expected
from relevansi.records import Problem


class UnknownQuestionSet(Missing):
    message = mark("There is no question set %(name)s")
    remedy = mark("The page of the gold questions lists all that there are.")
    command_remedy = mark("`relevansi gold list` lists them.")


class UnknownGoldVersion(Missing):
    message = mark("The gold questions have no version %(name)s")
    remedy = mark("The page of the gold questions lists all that there are.")


class Version(NamedTuple):
    """One version of a set's gold questions, numbered from 1; ``name`` is that of its file."""

    id: int
    number: int
    name: str
    by: str
    at: datetime


class Gold(GoldFile, frozen=True, kw_only=True):
    version: Version


class GoldSet(Struct, frozen=True):
    """A question set and the texts of its questions; ``runs`` and ``versions`` the newest first."""

    id: int
    questions: tuple[str, ...]
    runs: Sequence[Any]
    versions: Sequence[Version]


def sets(session: Session, study: Study) -> list[GoldSet]:
    """Return the study's question sets with their gold questions' versions, the newest first."""
    of_study = select(QuestionSet).where(QuestionSet.study_id == study.id)
    question_sets = session.scalars(of_study.order_by(QuestionSet.id.desc()))
    return [_set(session, question_set) for question_set in question_sets]


def find_set(session: Session, study: Study, question_set_id: int) -> GoldSet:
    """Return a question set of the study; raises ``UnknownQuestionSet``."""
    question_set = session.get(QuestionSet, question_set_id)
    if question_set is None or question_set.study_id != study.id:
        raise UnknownQuestionSet(question_set_id)
    return _set(session, question_set)


def in_force(session: Session, question_set_id: int) -> Gold | None:
    """Return the gold questions that count for a question set; ``None`` where it has none."""
    saved = versions(session, question_set_id)
    return _gold(session, saved[0]) if saved else None


def read_questions(session: Session, set_ids: set[int], numbers: set[int]) -> GoldFile | None:
    """Return the gold file in force with only the questions of these numbers, ``None`` if none.

    All are of one question set. A click needs one question, and parsing the whole file for it
    would take longer the more questions it has.
    """
    newest = _newest(session, set_ids)
    if newest is None:
        return None
    questions = [each for each in newest.document["questions"] if each["id"] in numbers]
    if not questions:
        return None
    document = {**newest.document, "questions": questions}
    return gold_questions.read(newest.name, json.dumps(document).encode())


def read(session: Session, question_set_id: int, number: int) -> Gold:
    """Return the version of that number; raises ``UnknownGoldVersion``."""
    for version in versions(session, question_set_id):
        if version.number == number:
            return _gold(session, version)
    raise UnknownGoldVersion(number)


def versions(session: Session, question_set_id: int) -> Sequence[Version]:
    """Return all versions of a set's gold questions, the newest first."""
    number = func.row_number().over(order_by=GoldVersion.id).label("number")
    newest_first = (
        select(GoldVersion.id, number, GoldVersion.name, Rater.name.label("by"), GoldVersion.at)
        .join(Rater, Rater.id == GoldVersion.rater_id)
        .where(GoldVersion.question_set_id == question_set_id)
        .order_by(GoldVersion.id.desc())
    )
    return [Version(*row) for row in session.execute(newest_first)]


def import_file(
    session: Session, rater: Rater, question_set_id: int, name: str, data: bytes, now: datetime
) -> None:
    """Save the gold file `name` as the newest version; one that changes nothing is not saved.

    Raises ``UnknownQuestionSet``, and an ``ImportRefused`` that names all that is wrong with
    the file.
    """
    find_set(session, rater.study, question_set_id)
    document = bounded.call(name, gold_questions.read, name, data).document
    newest = _newest(session, [question_set_id])
    if newest is None or newest.document != document:
        saved = GoldVersion(question_set_id=question_set_id, name=name, document=document)
        saved.rater_id, saved.at = rater.id, now
        session.add(saved)
        session.flush()


def _newest(session: Session, question_set_ids: Iterable[int]) -> GoldVersion | None:
    of_sets = select(GoldVersion).where(GoldVersion.question_set_id.in_(question_set_ids))
    return session.scalars(of_sets.order_by(GoldVersion.id.desc()).limit(1)).first()


def restore(
    session: Session, rater: Rater, question_set_id: int, number: int, now: datetime
) -> None:
    """Put an earlier version in force again, by saving it as the newest."""
    file = read(session, question_set_id, number)
    data = json.dumps(file.document).encode()
    import_file(session, rater, question_set_id, file.name, data, now)


def remarks(session: Session, run_id: str, gold: Gold) -> tuple[Problem, ...]:
    """Return warnings where the questions of a run and the gold questions differ."""
    texts_of_run = select(Query.query_id, Question.text).join_from(Query, Question)
    texts = dict(session.execute(texts_of_run.where(Query.run_id == run_id)).all())
    gold_texts = {question.query_id: question.text for question in gold.questions}
    problems = []
    for query_id in sorted(gold_texts.keys() | texts.keys()):
        code = "gold_text_differs"
        if query_id not in texts:
            code = "gold_not_asked"
        elif query_id not in gold_texts:
            code = "asked_without_gold"
        elif question_key(gold_texts[query_id]) == question_key(texts[query_id]):
            continue
        problems.append(warning(code, gold.version.name, query_id=query_id))
    return tuple(problems)


def _set(session: Session, question_set: QuestionSet) -> GoldSet:
    rows = session.execute(
        select(Run.id, Run.search_method, Run.llm)
        .where(Run.question_set_id == question_set.id)
        .order_by(Run.imported_at.desc(), Run.sequence, Run.id)
    )
    texts = tuple(question.text for question in question_set.questions)
    return GoldSet(question_set.id, texts, rows.all(), versions(session, question_set.id))


def _gold(session: Session, version: Version) -> Gold:
    document = session.get_one(GoldVersion, version.id).document
    file = gold_questions.read(version.name, json.dumps(document).encode())
    return Gold(**asdict(file), version=version)


def starter(session: Session, question_set_id: int) -> dict[str, Any]:
    """Return a gold file to fill in: every question of the set expects data, no constraints."""
    entries = [
        {
            "id": question.position,
            "question": question.text,
            "category": question.category,
            "expected_result": str(Expected.HAS_DATA),
            "constraints": {},
        }
        for question in session.get_one(QuestionSet, question_set_id).questions
    ]
    return {"threshold_t": float(DEFAULT_THRESHOLD), "questions": entries}


def has_gold(session: Session, run_id: str) -> bool:
    """Whether the question set of a run has gold questions."""
    of_run = select(GoldVersion.id).join(Run, Run.question_set_id == GoldVersion.question_set_id)
    return session.scalar(of_run.where(Run.id == run_id).limit(1)) is not None


def asked_places(session: Session, set_ids: set[int], numbers: set[int]) -> dict[int, AskedPlace]:
    """Return the places that these questions of one question set ask for, by their numbers."""
    file = read_questions(session, set_ids, numbers)
    if file is None:
        return {}
    places = {}
    for question in file.questions:
        location = question.constraints.location
        if location and location.point:
            name = location.keywords[0] if location.keywords else ""
            places[question.query_id] = AskedPlace(name, *location.point)
    return places
