"""A rated CSV beside a run is compared with the figures that are stored here."""

from __future__ import annotations

import pytest
from sqlalchemy.orm import Session

from tests.services.runs.runs import YES, card, click, query, run, store
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study
from webapp.importers.runs import csv_ratings
from webapp.services.exports import exports, rated_imports
from webapp.services.exports.rated_imports import RatedFileReport
from webapp.services.judging import events
from webapp.services.runs import reports

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


def rated(session: Session, study: Study, rater: Rater, run_id: str) -> bytes:
    """Return the rated CSV of a run by one rater."""
    return exports.rated_csv(session, study, run_id, reports.of_rater(rater)).data


def test_a_file_differs_in_the_questions_that_were_rated_since(
    session: Session, study: Study, rater: Rater, rated_run: str
) -> None:
    data = rated(session, study, rater, rated_run)

    # Questions 1 to 3 are rated; the card of question 4 is open.
    equal = rated_imports.compare(session, study, "rated.csv", data, [rated_run])
    assert equal == RatedFileReport("rated.csv", rated_run, rated=3, rated_here=True)

    events.judge(session, rater, rated_run, 4, 1, YES, click("since", minute=30))
    moved = rated_imports.compare(session, study, "rated.csv", data, [rated_run])
    assert moved.differing == (4,)


def test_a_file_of_other_questions_belongs_to_no_run(
    session: Session, study: Study, rater: Rater, rated_run: str
) -> None:
    data = rated(session, study, rater, rated_run).replace(b"Question 3", b"Something else")

    found = rated_imports.compare(session, study, "rated.csv", data, [rated_run])
    assert (found.run_id, found.rated, found.differing) == (None, 3, ())


def test_a_file_that_misses_a_line_still_has_its_run_unless_another_has_just_these(
    session: Session, study: Study, rater: Rater, rated_run: str
) -> None:
    lines = rated(session, study, rater, rated_run).splitlines(keepends=True)
    shorter = csv_ratings.read("rated.csv", b"".join(lines[:-1])).report
    assert rated_imports.runs_of(session, study, shorter, [rated_run]) == [rated_run]

    asked = query(1, *map(card, "uvw")), query(2, *map(card, "xy")), query(3)
    just_these = store(session, study, run(*asked), search_method="dense").id
    both = [rated_run, just_these]
    assert rated_imports.runs_of(session, study, shorter, both) == [just_these]
