"""Which question set a run belongs to: the same questions, or a part of them in order."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from itertools import combinations, pairwise

from sqlalchemy import ColumnElement, Select, SQLColumnExpression, exists, insert, select, update
from sqlalchemy.orm import Session, selectinload

from relevansi.db.engine import tables
from relevansi.db.tables.base import belonging_to
from relevansi.db.tables.planning import PlanningRule, SampledQuestion, restricts_questions
from relevansi.db.tables.runs import Query, Run
from relevansi.db.tables.study import Question, QuestionSet, Study
from relevansi.importers.runs.json_runs import question_key
from relevansi.records import ReadQuery


def find_or_make(
    session: Session, study: Study, queries: Sequence[ReadQuery], now: datetime
) -> tuple[QuestionSet, list[Question]]:
    """Return the set that `queries` belong to and their questions, one per query in order.

    A run that asks a part of a known set's questions in order joins that set. A known set
    that is a part of this run's questions grows to hold them all, and keeps its rows, so
    that every judgment stays where it was made.
    """
    keys = [question_key(query.question) for query in queries]
    known = _known(session, study)
    for question_set in known:
        positions = _positions(question_set.questions, queries, keys)
        if positions is not None:
            return question_set, [question_set.questions[place] for place in positions]
    return _grow_or_make(session, study, known, queries, keys, now)


def of_collection(
    session: Session, study: Study, queries: Sequence[ReadQuery], now: datetime
) -> tuple[QuestionSet, list[Question]]:
    """Return the set that `queries` belong to and their questions, one per query in their order.

    Questions are the same by the ids of their collection, else by their texts, in whatever order
    a file lists them. Those that a known set lacks are added at its end. An id that has another
    text in a set is of another collection.
    """
    known = known_collection(session, study, queries)
    if known is None:
        known = QuestionSet(study_id=study.id, created_at=now), [None] * len(queries)
        session.add(known[0])
        session.flush()
    question_set, found = known
    last = max((one.position for one in question_set.questions), default=0)
    questions: list[Question] = []
    for query, same in zip(queries, found, strict=True):
        question = same
        if question is None:
            last += 1
            question = Question(
                question_set_id=question_set.id,
                position=last,
                text=query.question,
                key=question_key(query.question),
                category=query.category,
                context_dependent=False,
                external_id=query.external_id,
            )
            session.add(question)
        elif not is_told(question.text, question.external_id):  # by an earlier file
            question.text, question.key = query.question, question_key(query.question)
            question.category = question.category or query.category
        questions.append(question)
    session.flush()
    session.expire(question_set, ["questions"])
    return question_set, questions


def known_collection(
    session: Session, study: Study, queries: Sequence[ReadQuery]
) -> tuple[QuestionSet, list[Question | None]] | None:
    """Return the set that has some of a collection's questions, and those that it has."""
    for question_set in _known(session, study):
        found = _same(question_set.questions, queries)
        if found is not None and any(found):
            return question_set, found
    return None


def matched(
    question_set: QuestionSet, queries: Sequence[ReadQuery], *, by_id: bool
) -> list[Question | None] | None:
    """Return the question of a set that each of `queries` asks, ``None`` for one that it lacks.

    There is no list where the queries are of another set: none of a collection's questions
    (`by_id`) is the same, or neither of two conversations is a part of the other in order.
    """
    questions = question_set.questions
    if by_id:
        found = _same(questions, queries)
        return found if found and any(found) else None
    keys = [question_key(query.question) for query in queries]
    places = _positions(questions, queries, keys)
    if places is not None:
        return [questions[place] for place in places]
    places = subsequence(keys, [question.key for question in questions])
    if places is None:
        return None
    within = dict(zip(places, questions, strict=True))
    return [within.get(place) for place in range(len(keys))]


def _same(
    questions: Sequence[Question], queries: Sequence[ReadQuery]
) -> list[Question | None] | None:
    by_id = {one.external_id: one for one in questions if one.external_id is not None}
    by_key: dict[str, list[Question]] = {}  # a file may ask one text twice
    for one in questions:
        by_key.setdefault(one.key, []).append(one)
    found: list[Question | None] = []
    for query in queries:
        key, by = question_key(query.question), query.external_id
        same = by_key.get(key)
        known = by_id.get(by) if by is not None else same.pop(0) if same else None
        are_told = known and is_told(query.question, by) and is_told(known.text, by)
        if known and are_told and known.key != key:
            return None
        found.append(known)
    return found


def is_told(text: str, external_id: str | None) -> bool:
    """Whether a file stated the text of a question, not its id alone."""
    return text not in ("-", external_id)


def are_shared(session: Session, study: Study, asked: Sequence[Sequence[str]]) -> bool:
    """Whether a new run, by the keys of its questions, would share its set with another one."""
    with_runs = set(session.scalars(select(Run.question_set_id).where(Run.study_id == study.id)))
    known = [one for one in _known(session, study) if one.id in with_runs]
    lists = [*([question.key for question in one.questions] for one in known), *asked]
    pairs = combinations(range(len(lists)), 2)
    return any(
        second >= len(known)
        and (subsequence(lists[first], lists[second]) or subsequence(lists[second], lists[first]))
        for first, second in pairs
    )


def _known(session: Session, study: Study) -> Sequence[QuestionSet]:
    found = session.scalars(
        select(QuestionSet)
        .where(QuestionSet.study_id == study.id)
        .options(selectinload(QuestionSet.questions))
        .order_by(QuestionSet.id)
    )
    return sorted(found, key=lambda question_set: -len(question_set.questions))


def _positions(
    questions: Sequence[Question], queries: Sequence[ReadQuery], keys: Sequence[str]
) -> list[int] | None:
    """Return the places of the keys in `questions`, in order; ``None`` if they are not there.

    The ids of the file are tried first: the same text may stand at two positions, and only
    the ids show which of the two a part of the set left out.
    """
    by_id = [query.query_id - 1 for query in queries]
    within = all(0 <= place < len(questions) for place in by_id)
    ascending = all(a < b for a, b in pairwise(by_id))
    if within and ascending and [questions[place].key for place in by_id] == list(keys):
        return by_id
    return subsequence([question.key for question in questions], keys)


def subsequence(whole: Sequence[str], part: Sequence[str]) -> list[int] | None:
    """Return the first places at which `part` is found in `whole` in order, else ``None``.

    >>> subsequence(["a", "b", "a", "c"], ["a", "a", "c"])
    [0, 2, 3]
    >>> subsequence(["a", "b"], ["b", "a"]) is None
    True
    """
    places: list[int] = []
    start = 0
    for wanted in part:
        try:
            place = whole.index(wanted, start)
        except ValueError:
            return None
        places.append(place)
        start = place + 1
    return places


def _grow_or_make(
    session: Session,
    study: Study,
    known: Sequence[QuestionSet],
    queries: Sequence[ReadQuery],
    keys: Sequence[str],
    now: datetime,
) -> tuple[QuestionSet, list[Question]]:
    kept: dict[int, Question] = {}
    grown: QuestionSet | None = None
    absorbed: list[QuestionSet] = []
    for smaller in known:
        places = subsequence(keys, [question.key for question in smaller.questions])
        if places is None or any(place in kept for place in places):
            continue
        kept.update(zip(places, list(smaller.questions), strict=True))
        grown = grown or smaller
        absorbed.append(smaller)
    question_set = grown or QuestionSet(study_id=study.id, created_at=now)
    session.add(question_set)
    session.flush()
    for place, question in kept.items():
        question.position, question.question_set_id = place + 1, question_set.id
    rows = [
        {
            "question_set_id": question_set.id,
            "position": place + 1,
            "text": query.question,
            "key": key,
            "category": query.category,
            "context_dependent": bool(query.context_dependent),
        }
        for place, (query, key) in enumerate(zip(queries, keys, strict=True))
        if place not in kept
    ]
    if rows:
        tables(session).execute(insert(Question), rows)
    session.flush()
    session.expire_all()
    of_set = Question.question_set_id == question_set.id
    questions = session.scalars(select(Question).where(of_set).order_by(Question.position)).all()
    for smaller in absorbed[1:]:
        for column in belonging_to(QuestionSet.id):
            moved = update(column.table).where(column == smaller.id)
            session.execute(moved.values({column: question_set.id}))
        session.delete(smaller)
    return question_set, [*questions]


def unasked(session: Session, study_id: int) -> frozenset[int]:
    """Return the ids of the questions of a study that nobody is asked."""
    sets = select(QuestionSet.id).where(QuestionSet.study_id == study_id)
    return frozenset(session.scalars(_left_out().where(Question.question_set_id.in_(sets))))


def is_put_to_raters(question_id: SQLColumnExpression[int]) -> ColumnElement[bool]:
    """Return the condition that the study asks the question with this id."""
    return question_id.not_in(_left_out())


def is_answer_put_to_raters(query_key: SQLColumnExpression[int]) -> ColumnElement[bool]:
    """Return the condition that the study asks the question of the ``Query`` with this key."""
    answers = select(Query.id).where(Query.question_id.in_(_left_out()))
    return query_key.not_in(answers.correlate(None))


@cache
def _left_out() -> Select[int]:
    drawn = exists().where(
        SampledQuestion.rule_id == PlanningRule.id, SampledQuestion.question_id == Question.id
    )
    of_set = Question.question_set_id == PlanningRule.question_set_id
    found = select(Question.id).join(PlanningRule, of_set).where(restricts_questions(), ~drawn)
    return found.correlate(None)
