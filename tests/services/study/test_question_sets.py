"""Runs of the same questions, or of a part of them, share a question set."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.services.runs.runs import card, click, count, query, run, store
from webapp.db.tables.judging import JudgedThing
from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Query, Result, Run
from webapp.db.tables.study import Question, QuestionSet, Study
from webapp.records import Relevance
from webapp.services.judging import events, live_metrics
from webapp.services.rating import pages
from webapp.services.rating.pool import QueryFilter
from webapp.services.runs.imports import ImportedRun
from webapp.services.study.question_sets import is_answer_put_to_raters, is_put_to_raters, unasked


def questions(session: Session, imported: ImportedRun) -> list[tuple[int, str]]:
    question_set = session.get_one(Run, imported.id).question_set_id
    rows = session.execute(
        select(Question.position, Question.text)
        .where(Question.question_set_id == question_set)
        .order_by(Question.position)
    )
    return [(position, text) for position, text in rows]


def test_blanks_and_case_make_no_other_question(session: Session, study: Study) -> None:
    store(session, study, run(query(1, text="apakah ada gudang di KIM?")))
    store(session, study, run(query(1, card("a"), text="Apakah ada gudang di KIM ?"), method="b"))

    assert count(session, QuestionSet) == 1
    assert count(session, Question) == 1


def test_a_part_in_order_joins_the_larger_set(session: Session, study: Study) -> None:
    whole = store(session, study, run(query(1), query(2), query(3)))
    part = store(session, study, run(query(1), query(3, card("a")), method="b"))

    assert questions(session, part) == questions(session, whole)
    assert count(session, Question) == 3


def test_a_set_grows_and_keeps_judgments(session: Session, study: Study, rater: Rater) -> None:
    part = store(session, study, run(query(2, card("a"), text="B"), method="b"))
    events.judge(session, rater, part.id, 2, 1, Relevance.RELEVANT, click("e1"))
    whole = store(session, study, run(query(1, text="A"), query(2, card("a"), text="B")))

    assert questions(session, part) == questions(session, whole) == [(1, "A"), (2, "B")]
    page = pages.rating_page(session, rater, whole.id, 2, QueryFilter())
    assert page.cards[0].relevance is Relevance.RELEVANT
    assert live_metrics.check(session) == []


def test_two_parts_are_brought_together_by_the_whole(session: Session, study: Study) -> None:
    first = store(session, study, run(query(1, text="A"), method="a"))
    second = store(session, study, run(query(1, text="B"), method="b"))
    store(session, study, run(query(1, text="A"), query(2, text="B")))

    assert questions(session, first) == questions(session, second) == [(1, "A"), (2, "B")]
    assert count(session, QuestionSet) == 1


def test_ids_of_the_file_tell_equal_texts_apart(session: Session, study: Study) -> None:
    whole = run(query(1, text="more"), query(2, text="with"), query(3, text="more"))
    store(session, study, whole)
    part = store(session, study, run(query(3, card("a"), text="more"), method="b"))

    thing = session.scalars(select(JudgedThing).join(Result)).one()
    asked = session.get_one(Question, thing.question_id)
    assert asked.position == 3
    assert part.counts.queries == 1


def test_without_a_sample_every_question_is_asked(session: Session, study: Study) -> None:
    store(session, study, run(*(query(number, card(f"a{number}")) for number in (1, 2, 3))))

    assert unasked(session, study.id) == frozenset()
    for asked in (
        select(Question.id).where(is_put_to_raters(Question.id)),
        select(Query.id).where(is_answer_put_to_raters(Query.id)),
    ):
        assert len(session.scalars(asked).all()) == 3
