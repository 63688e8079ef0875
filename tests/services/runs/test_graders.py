"""Whose grades the grades of a file become."""

from datetime import UTC, datetime

import pytest
from sqlalchemy.orm import Session

from relevansi.services.runs import results, stored_results
from relevansi.services.runs.stored_results import KnownRater
from relevansi.services.study import studies

NOW = datetime(2026, 11, 25, tzinfo=UTC)
RUN = ("bm25.run", b"q1 Q0 d1 1 2.0 bm25\nq1 Q0 d2 2 1.0 bm25\n")
QRELS = ("qrels.txt", b"q1 0 d1 1\nq1 0 d2 0\n")


def test_grades_without_a_name_are_added_to_a_known_rater_only_when_that_is_confirmed(
    session: Session,
) -> None:
    study = studies.open_or_make(session, NOW)
    owner = studies.raters(session, study)[0].name
    report = results.read_files("files", [RUN, QRELS])

    with pytest.raises(KnownRater):
        stored_results.store(session, study, report, NOW, owner)
    process = stored_results.store(session, study, report, NOW, owner, confirmed=True)

    assert process.grades == {owner: 2}
    assert [rater.name for rater in studies.raters(session, study)] == [owner]
