from __future__ import annotations

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.db.tables.judging import Judgment, QueryRating
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query
from relevansi.db.tables.study import Study
from relevansi.importers.runs import csv_ratings
from relevansi.records import EmptyOutcome
from relevansi.services.exports import exports, rated_imports
from relevansi.services.exports.rated_imports import RatedFileReport
from relevansi.services.exports.ratings import FileValue
from relevansi.services.judging import judgments, stored_summaries
from relevansi.services.judging.answer_ratings import AnswerRating
from relevansi.services.judging.verdicts import blindness
from relevansi.services.people import raters
from relevansi.services.runs import reports
from tests.conftest import NOW
from tests.services.runs.runs import YES, card, click, count, query, run, store

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


@pytest.fixture(name="rated_csv")
def _rated_csv(session: Session, study: Study, rater: Rater, rated_run: str) -> bytes:
    """The rated run as a CSV: quality 3 and a note on question 1, a false negative on 3."""
    return exports.export(session, study, rated_run, reports.of_rater(rater), "csv").data


def fields_of(values: tuple[FileValue, ...]) -> list[tuple[int, str]]:
    return [(value.query_id, value.field) for value in values]


RATED_FIELDS = [(1, "quality"), (1, "notes"), (3, "empty_outcome")]


def test_examining_a_file_reports_what_a_new_rater_would_get_and_stores_nothing(
    session: Session, study: Study, rated_run: str, rated_csv: bytes
) -> None:
    read = csv_ratings.read("rated.csv", rated_csv)
    result = rated_imports.examine(session, study, read, " Budi ")

    assert (result.rater, result.rater_is_new, result.run_id) == ("Budi", True, rated_run)
    assert (fields_of(result.new), result.others, result.lines) == (RATED_FIELDS, (), 4)
    assert raters.find_named(session, study, "Budi") is None
    nobody = rated_imports.examine(session, study, read, None)
    assert (nobody.run_id, nobody.storable, nobody.new) == (rated_run, False, ())


@pytest.mark.usefixtures("rated_run")
def test_stored_values_are_the_raters_own_and_a_second_import_adds_nothing(
    session: Session, study: Study, rated_csv: bytes
) -> None:
    rated_imports.store(session, study, csv_ratings.read("rated.csv", rated_csv), "Budi", NOW)
    session.flush()

    budi = raters.find_named(session, study, "Budi")
    assert budi is not None
    qualities = select(QueryRating.quality).where(QueryRating.rater_id == budi.id)
    assert session.scalars(qualities.where(QueryRating.quality.is_not(None))).all() == [3]
    verdicts = select(Judgment.verdict).where(Judgment.rater_id == budi.id)
    assert session.scalars(verdicts).all() == [EmptyOutcome.FALSE_NEGATIVE]  # none on a card
    assert stored_summaries.check(session) == []
    blind = blindness(session, Query.id > 0, [budi.id])
    assert (blind.verdicts.unknown, blind.grades.unknown) == (1, 1)
    again = rated_imports.examine(session, study, csv_ratings.read("rated.csv", rated_csv), "Budi")
    assert (again.new, again.others) == ((), ())


def test_values_that_differ_are_replaced_only_on_request(
    session: Session, study: Study, rater: Rater, rated_run: str, rated_csv: bytes
) -> None:
    judgments.rate(session, rater, rated_run, 1, AnswerRating(quality=5), click("later", minute=1))

    differing = rated_imports.store(
        session, study, csv_ratings.read("r.csv", rated_csv), rater.name, NOW
    )
    assert differing.others == (FileValue(1, "quality", here="5", in_file="3"),)
    assert differing.new == ()
    quality = select(QueryRating.quality).where(QueryRating.quality.is_not(None))
    assert session.scalars(quality).all() == [5]

    rated_imports.store(
        session, study, csv_ratings.read("r.csv", rated_csv), rater.name, NOW, overwrite=True
    )
    session.expire_all()
    assert session.scalars(quality).all() == [3]


@pytest.mark.usefixtures("rated_run")
def test_a_removed_rater_and_a_machine_get_nothing(
    session: Session, study: Study, rated_csv: bytes
) -> None:
    budi = raters.add(session, study, "Budi", NOW)
    budi.removed_at = NOW
    raters.add(session, study, "Model", NOW).is_machine = True
    session.flush()
    before = count(session, QueryRating)

    for name in ("Budi", "Model"):
        result = rated_imports.store(
            session, study, csv_ratings.read("rated.csv", rated_csv), name, NOW
        )
        assert result.refused
    assert count(session, QueryRating) == before


def test_a_file_differs_in_the_questions_that_were_rated_since(
    session: Session, study: Study, rater: Rater, rated_run: str, rated_csv: bytes
) -> None:
    # Questions 1 to 3 are rated; the card of question 4 is open.
    equal = rated_imports.compare(session, study, "rated.csv", rated_csv, [rated_run])
    assert equal == RatedFileReport("rated.csv", rated_run, rated=3, rated_here=True)

    judgments.judge(session, rater, rated_run, 4, 1, YES, click("since", minute=30))
    moved = rated_imports.compare(session, study, "rated.csv", rated_csv, [rated_run])
    assert moved.differing == (4,)


def test_a_file_of_other_questions_belongs_to_no_run(
    session: Session, study: Study, rated_run: str, rated_csv: bytes
) -> None:
    data = rated_csv.replace(b"Question 3", b"Something else")

    compared = rated_imports.compare(session, study, "rated.csv", data, [rated_run])
    assert (compared.run_id, compared.rated, compared.differing) == (None, 3, ())
    result = rated_imports.store(session, study, csv_ratings.read("r.csv", data), "Budi", NOW)
    assert (result.fits, result.run_id, result.storable) == ((), None, False)
    assert raters.find_named(session, study, "Budi") is None


def test_a_file_that_misses_a_line_still_has_its_run_unless_another_has_just_these(
    session: Session, study: Study, rated_run: str, rated_csv: bytes
) -> None:
    lines = rated_csv.splitlines(keepends=True)
    shorter = csv_ratings.read("rated.csv", b"".join(lines[:-1])).report
    assert rated_imports.runs_of(session, study, shorter, [rated_run]) == [rated_run]

    queries = query(1, *map(card, "uvw")), query(2, *map(card, "xy")), query(3)
    just_these = store(session, study, run(*queries), search_method="dense").id
    both = [rated_run, just_these]
    assert rated_imports.runs_of(session, study, shorter, both) == [just_these]
