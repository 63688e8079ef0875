"""A file for rating without a server has the questions of the sample only."""

from __future__ import annotations

from sqlalchemy.orm import Session

from webapp.db.tables.study import Study
from webapp.services.offline import runs as offline


def test_a_file_for_rating_without_a_server_has_sampled_questions_only(
    session: Session, study: Study, run_id: str, drawn: tuple[int, ...]
) -> None:
    found = offline.offline_run(session, study, run_id)

    assert [one.query_id for one in found.questions] == [*drawn]
    assert found.unasked == (1, 3, 5)
    *_, last = found.questions
    # It depends on question 5, which is not asked: its rater reads that all the same.
    assert [(turn.query_id, turn.response) for turn in last.turns] == [(5, "Answer 5: ['a5']")]
