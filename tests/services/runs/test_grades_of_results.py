"""Grades that come with results: whose items they are of, and what the study shows then."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.db.tables.judging import Event, JudgedItem, Judgment
from relevansi.db.tables.runs import Query
from relevansi.db.tables.study import Question, Study
from relevansi.services.judging import stored_summaries
from relevansi.services.runs import results, stored_results
from relevansi.services.runs.stored_results import StoredResults
from relevansi.services.study import studies
from tests.conftest import NOW
from tests.services.runs.runs import count

RUN = "q1 Q0 d7 1 12.5 bm25\nq1 Q0 d2 2 11.0 bm25\n"


def imported(
    session: Session, study: Study, files: dict[str, str], **decided: Any
) -> StoredResults:
    contents = [(name, text.encode()) for name, text in files.items()]
    report = results.read_files("files", contents)
    process = stored_results.store(session, study, report, NOW, **decided)
    session.flush()
    session.expire_all()
    return process


def test_grades_of_items_without_ids_are_of_the_items_that_a_run_lists(
    session: Session, study: Study
) -> None:
    lines = (
        '{"query": "red dress", "results": [{"text": "Long red dress", "rating": 1}, '
        '{"title": "Hats", "rating": 0}, {"url": "https://a.example/1", "rating": 1}]}\n'
    )
    response = imported(session, study, {"lists.jsonl": lines})

    items = session.scalars(select(JudgedItem).order_by(JudgedItem.id)).all()
    verdicts = dict(session.execute(select(Judgment.judged_item_id, Judgment.verdict)).all())
    assert response.grades == {"qrels": 3}
    assert [verdicts.get(item.id) for item in items] == ["1", "0", "1"]


def test_an_id_that_reads_like_the_text_of_another_question_takes_none_of_its_grades(
    session: Session, study: Study
) -> None:
    topics, run = "boots\tred dress\nq2\tboots\n", "boots Q0 d7 1 1 a\nq2 Q0 d7 1 1 a\n"
    imported(session, study, {"topics.tsv": topics, "run.txt": run})
    imported(session, study, {"grades.csv": "query,doc_id,grade\nboots,d7,1\n"})

    graded = select(Question.external_id).join(JudgedItem).join(Judgment)
    assert session.scalars(graded).all() == ["q2"]


def test_figures_of_earlier_runs_follow_the_scale_that_later_grades_set(
    session: Session, study: Study
) -> None:
    studies.add_rater(session, study, "Ani", NOW)
    imported(session, study, {"run.txt": RUN})
    assert stored_summaries.check(session) == []
    imported(session, study, {"qrels.txt": "q1 0 d7 3\n"})
    assert stored_summaries.check(session) == []


def test_numbers_of_questions_never_collide(session: Session, study: Study) -> None:
    imported(session, study, {"topics.tsv": "2\ttwo\nx\tex\n", "a.txt": "2 Q0 d1 1 1 a\n"})
    (run,) = imported(session, study, {"b.txt": "x Q0 d1 1 1 b\n2 Q0 d1 1 1 b\n"}).runs

    numbers = session.scalars(select(Query.query_id).where(Query.run_id == run.id)).all()
    assert len(set(numbers)) == 2


def test_a_question_that_a_file_asks_twice_is_two_in_every_run(
    session: Session, study: Study
) -> None:
    lines = [
        f'{{"query": "red", "system": "{system}", "results": [{{"id": "{item}"}}]}}\n'
        for system in "ab"
        for item in ("d1", "d2")
    ]
    both = imported(session, study, {"a.jsonl": "".join(lines)}).runs
    for run in both:
        questions = session.scalars(select(Query.question_id).where(Query.run_id == run.id)).all()
        assert len(set(questions)) == 2


def test_titles_are_filled_when_the_run_comes_again_with_its_collection(
    session: Session, study: Study
) -> None:
    imported(session, study, {"run.txt": RUN})
    imported(
        session, study, {"run.txt": RUN, "corpus.jsonl": '{"_id": "d7", "title": "Red dress"}\n'}
    )

    cards = session.scalars(select(JudgedItem.card).order_by(JudgedItem.id)).all()
    assert [card and card.get("title", "") for card in cards] == ["Red dress", ""]


def test_the_last_file_of_a_rater_s_grades_wins_and_a_repeat_changes_nothing(
    session: Session, study: Study
) -> None:
    imported(session, study, {"run.txt": RUN})
    counts = []
    for grade in "1", "0", "1", "1":
        response = imported(session, study, {"qrels.txt": f"q1 0 d7 {grade}\n"}, confirmed=True)
        assert response.grades == {"qrels": 1}
        assert session.scalars(select(Judgment.verdict)).all() == [grade]
        counts.append(count(session, Event))

    assert counts == [1, 2, 3, 3]


@pytest.mark.thorough
def test_grades_of_more_questions_than_a_statement_takes_values_are_stored(
    session: Session, study: Study
) -> None:
    """SQLite takes 32,766 values in a statement, PostgreSQL 65,535."""
    numbers = range(40_000)
    lines = "".join(f"q{n} Q0 d{n} 1 1 a\n" for n in numbers)
    qrels = "".join(f"q{n} 0 d{n} 1\n" for n in numbers)
    response = imported(session, study, {"run.txt": lines, "qrels.txt": qrels})

    assert response.grades == {"qrels": len(numbers)}
    assert count(session, Judgment) == len(numbers)
