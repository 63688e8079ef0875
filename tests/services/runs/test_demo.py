"""The demo's runs are rated to the end by three people, but for one that is left to try."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.demo import study_of
from webapp.db.tables.judging import StoredSummary
from webapp.db.tables.runs import Query, Run
from webapp.services.judging import live_metrics
from webapp.services.rating import shares, tasks
from webapp.services.rating.pool import REPEAT, Unit
from webapp.services.study import studies


def test_three_people_rated_five_runs_and_left_one_half_open(demo_session: Session) -> None:
    study = study_of(demo_session)
    people = studies.raters(demo_session, study)
    runs = demo_session.scalars(select(Run).where(Run.study_id == study.id)).all()
    left = (
        select(Run.search_method, Run.llm)
        .join(Query, Query.run_id == Run.id)
        .join(StoredSummary, StoredSummary.query_key == Query.id)
        .where(StoredSummary.rater_id.in_([person.id for person in people]))
        .where(live_metrics.is_open())
    )
    open_runs = {tuple(row) for row in demo_session.execute(left)}

    assert [person.name for person in people] == ["Sari", "Budi", "Citra"]
    assert {run.search_method for run in runs} == {"hybrid", "api_only", "vector_only"}
    assert {run.llm for run in runs} == {"openai", "gemini", "llama"}
    assert len(runs) == 6
    assert open_runs == {("vector_only", "gemini")}
    assert live_metrics.check(demo_session) == []


def test_a_rater_of_the_demo_begins_with_something_to_judge(demo_session: Session) -> None:
    """With a question that lacks verdicts or grades, or with one that is asked again."""
    for person in studies.raters(demo_session, study_of(demo_session))[:3]:
        task = tasks.next_task(demo_session, person, NOW)
        assert task is not None
        unit = shares.of_rater(demo_session, person).units[Unit(task.question_id, task.run_id)]
        made = shares.progress(demo_session, person)

        assert unit.is_open or task.kind == REPEAT
        assert 0 < made.done < made.of
    demo_session.rollback()
