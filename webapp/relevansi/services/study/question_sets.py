"""Which question set a run belongs to: the same questions, or a part of them in order."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from itertools import combinations, pairwise, product

from sqlalchemy import ColumnElement, Select, SQLColumnExpression, exists, select, update
from sqlalchemy.orm import Session, selectinload

from relevansi.db.rows import core, insert_rows
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

    A run that asks a part of a stored set's questions in order joins that set. A stored set
    that is a part of this run's questions grows to hold them all; its rows stay, and every
    judgment with them.
    """
    keys = [question_key(query.question) for query in queries]
    question_sets = _largest_first(session, study)
    for question_set in question_sets:
        positions = _positions(question_set.questions, queries, keys)
        if positions is not None:
            return question_set, [question_set.questions[place] for place in positions]
    return _grow_or_make(session, study, question_sets, queries, keys, now)


def of_collection(
    session: Session, study: Study, queries: Sequence[ReadQuery], now: datetime
) -> tuple[QuestionSet, list[Question]]:
    """Return the set that `queries` belong to and their questions, one per query in their order.

    Questions are the same by the ids of their collection, else by their texts, in any order. Those
    that a stored set lacks are added at its end. An id that has another text in a set is of another
    collection.
    """
    collection = known_collection(session, study, queries)
    if collection is None:
        collection = QuestionSet(study_id=study.id, created_at=now), [None] * len(queries)
        session.add(collection[0])
        session.flush()
    question_set, stored = collection
    last = max((question.position for question in question_set.questions), default=0)
    questions: list[Question] = []
    for query, same in zip(queries, stored, strict=True):
        question = same
        if question is None:
            last += 1
            question = Question(question_set_id=question_set.id, position=last)
            question.text, question.key = query.question, question_key(query.question)
            question.category, question.context_dependent = query.category, False
            question.external_id = query.external_id
            session.add(question)
        elif not has_text(question.text, question.external_id):  # an earlier file had the id only
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
    for question_set in _largest_first(session, study):
        stored = _same(question_set.questions, queries)
        if stored is not None and any(stored):
            return question_set, stored
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
        stored = _same(questions, queries)
        return stored if stored and any(stored) else None
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
    """Return the stored question of each query; no list where an id has another text in it."""
    by_id = {question.external_id: question for question in questions}
    by_key: dict[str, list[Question]] = {}  # a file may ask one text twice
    for each in questions:
        by_key.setdefault(each.key, []).append(each)
    stored: list[Question | None] = []
    for query in queries:
        key, by = question_key(query.question), query.external_id
        same = by_key.get(key)
        question = None
        if by is not None:
            question = by_id.get(by)
        elif same:
            question = same.pop(0)
        have_texts = question and has_text(query.question, by) and has_text(question.text, by)
        if question and have_texts and question.key != key:
            return None
        stored.append(question)
    return stored


def has_text(text: str, external_id: str | None) -> bool:
    """Whether a file stated the text of a question, not its id alone."""
    return text not in ("-", external_id)


def are_shared(session: Session, study: Study, key_lists: Sequence[Sequence[str]]) -> bool:
    """Whether a new run, by the keys of its questions, would share its set with another one."""
    with_runs = set(session.scalars(select(Run.question_set_id).where(Run.study_id == study.id)))
    question_sets = [each for each in _largest_first(session, study) if each.id in with_runs]
    stored = [[question.key for question in each.questions] for each in question_sets]
    pairs = [*product(stored, key_lists), *combinations(key_lists, 2)]
    return any(subsequence(keys, part) or subsequence(part, keys) for keys, part in pairs)


def _largest_first(session: Session, study: Study) -> Sequence[QuestionSet]:
    of_study = select(QuestionSet).where(QuestionSet.study_id == study.id).order_by(QuestionSet.id)
    with_questions = of_study.options(selectinload(QuestionSet.questions))
    return sorted(session.scalars(with_questions), key=lambda each: -len(each.questions))


def _positions(
    questions: Sequence[Question], queries: Sequence[ReadQuery], keys: Sequence[str]
) -> list[int] | None:
    """Return the places of the keys in `questions`, in order; ``None`` if they are not there.

    The ids of the file are tried first: a set may ask the same text twice, and only the ids show
    which of the two a part of the set left out.
    """
    by_id = [query.query_id - 1 for query in queries]
    within = all(0 <= place < len(questions) for place in by_id)
    ascending = all(a < b for a, b in pairwise(by_id))
    if within and ascending and [questions[place].key for place in by_id] == list(keys):
        return by_id
    return subsequence([question.key for question in questions], keys)


def subsequence(keys: Sequence[str], part: Sequence[str]) -> list[int] | None:
    """Return the first places at which `keys` has the entries of `part` in order, else ``None``.

    >>> subsequence(["a", "b", "a", "c"], ["a", "a", "c"])
    [0, 2, 3]
    >>> subsequence(["a", "b"], ["b", "a"]) is None
    True
    """
    places: list[int] = []
    start = 0
    for key in part:
        try:
            place = keys.index(key, start)
        except ValueError:
            return None
        places.append(place)
        start = place + 1
    return places


def _grow_or_make(
    session: Session,
    study: Study,
    question_sets: Sequence[QuestionSet],
    queries: Sequence[ReadQuery],
    keys: Sequence[str],
    now: datetime,
) -> tuple[QuestionSet, list[Question]]:
    """Return a set of all the queries, in which stored sets that are parts of it become one."""
    questions_at: dict[int, Question] = {}
    grown: QuestionSet | None = None
    absorbed: list[QuestionSet] = []
    for smaller in question_sets:
        places = subsequence(keys, [question.key for question in smaller.questions])
        if places is None or any(place in questions_at for place in places):
            continue
        questions_at.update(zip(places, list(smaller.questions), strict=True))
        grown = grown or smaller
        absorbed.append(smaller)
    question_set = grown or QuestionSet(study_id=study.id, created_at=now)
    session.add(question_set)
    session.flush()
    for place, question in questions_at.items():
        question.position, question.question_set_id = place + 1, question_set.id
    columns = "question_set_id, position, key, text, category, context_dependent"
    rows = [
        (question_set.id, place + 1, key, q.question, q.category, bool(q.context_dependent))
        for place, (q, key) in enumerate(zip(queries, keys, strict=True))
        if place not in questions_at
    ]
    insert_rows(core(session), Question, columns, rows)
    # The connection wrote rows that the session's objects do not know of.
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
    """Return the statement over the questions that a sample did not draw."""
    drawn = exists().where(
        SampledQuestion.rule_id == PlanningRule.id, SampledQuestion.question_id == Question.id
    )
    of_set = Question.question_set_id == PlanningRule.question_set_id
    statement = select(Question.id).join(PlanningRule, of_set).where(restricts_questions(), ~drawn)
    return statement.correlate(None)
