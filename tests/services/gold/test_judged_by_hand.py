"""The demo's decisions by hand, made run by run, contradict each other here and there."""

from __future__ import annotations

from sqlalchemy.orm import Session

from tests.demo import study_of
from webapp.services.agreement import agreement


def test_the_demos_runs_contradict_each_other_as_people_do(demo_session: Session) -> None:
    """As `relevansi conflicts` says of the files they were imported from."""
    found = agreement.in_study(demo_session, study_of(demo_session))

    assert found is not None
    assert found.problems == ()
    assert found.report.favours == {
        "Hybrid · openai": 5,
        "Vector Only · openai": 3,
        "API Only · openai": 0,
    }
    assert found.report.pairs_judged_more_than_once == 42
    assert len(found.report.contradictions) == 8
    for one in found.report.contradictions:
        assert found.questions[one.query_id].text
        assert found.titles[one.property_id]
