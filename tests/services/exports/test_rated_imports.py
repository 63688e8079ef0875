"""A rated CSV brings its rater's quality, notes and empty outcomes, and no verdict on a card."""

from __future__ import annotations

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.runs.runs import click, count
from webapp.db.tables.judging import Judgment, QueryRating
from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Query
from webapp.db.tables.study import Study
from webapp.importers.runs import csv_ratings
from webapp.records import EmptyOutcome
from webapp.services.exports import exports, rated_imports
from webapp.services.exports.rated_imports import RatedValue
from webapp.services.judging import events, live_metrics
from webapp.services.judging import verdicts as blindness
from webapp.services.judging.events import AnswerRating
from webapp.services.people import raters
from webapp.services.runs import reports

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


@pytest.fixture(name="rated_csv")
def _rated_csv(session: Session, study: Study, rater: Rater, rated_run: str) -> bytes:
    """The rated run as a CSV: quality 3 and a note on question 1, a false negative on 3."""
    return exports.rated_csv(session, study, rated_run, reports.of_rater(rater)).data


def named(values: tuple[RatedValue, ...]) -> list[tuple[int, str]]:
    """Return the question and the field of each value."""
    return [(value.query_id, value.field) for value in values]


GIVEN = [(1, "quality"), (1, "notes"), (3, "empty_outcome")]


def test_looking_says_what_a_new_rater_would_get_and_stores_nothing(
    session: Session, study: Study, rated_run: str, rated_csv: bytes
) -> None:
    found = rated_imports.examine(
        session, study, csv_ratings.read("rated.csv", rated_csv), " Budi "
    )

    assert (found.rater, found.rater_is_new, found.run_id) == ("Budi", True, rated_run)
    assert (named(found.new), found.others, found.lines) == (GIVEN, (), 4)
    assert raters.named(session, study, "Budi") is None


def test_without_a_rater_only_run_and_counts_are_known(
    session: Session, study: Study, rated_run: str, rated_csv: bytes
) -> None:
    found = rated_imports.examine(session, study, csv_ratings.read("rated.csv", rated_csv), None)

    assert (found.run_id, found.storable, found.new) == (rated_run, False, ())


@pytest.mark.usefixtures("rated_run")
def test_stored_values_are_the_raters_own_and_a_second_import_adds_nothing(
    session: Session, study: Study, rated_csv: bytes
) -> None:
    rated_imports.store(session, study, csv_ratings.read("rated.csv", rated_csv), "Budi", NOW)
    session.flush()

    budi = raters.named(session, study, "Budi")
    assert budi is not None
    said = select(QueryRating.quality).where(QueryRating.rater_id == budi.id)
    assert session.scalars(said.where(QueryRating.quality.is_not(None))).all() == [3]
    verdicts = select(Judgment.verdict).where(Judgment.rater_id == budi.id)
    assert session.scalars(verdicts).all() == [EmptyOutcome.FALSE_NEGATIVE]  # none on a card
    assert live_metrics.check(session) == []
    blind = blindness.counts(session, Query.id > 0, [budi.id])
    assert (blind.verdicts.unknown, blind.grades.unknown) == (1, 1)
    again = rated_imports.examine(session, study, csv_ratings.read("rated.csv", rated_csv), "Budi")
    assert (again.new, again.others) == ((), ())


def test_values_that_differ_are_replaced_only_where_that_is_wanted(
    session: Session, study: Study, rater: Rater, rated_run: str, rated_csv: bytes
) -> None:
    events.rate(session, rater, rated_run, 1, AnswerRating(quality=5), click("later", minute=1))

    kept = rated_imports.store(
        session, study, csv_ratings.read("r.csv", rated_csv), rater.name, NOW
    )
    assert kept.others == (RatedValue(1, "quality", here="5", in_file="3"),)
    assert kept.new == ()
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
        found = rated_imports.store(
            session, study, csv_ratings.read("rated.csv", rated_csv), name, NOW
        )
        assert found.refused
    assert count(session, QueryRating) == before


@pytest.mark.usefixtures("rated_run")
def test_a_file_of_other_questions_fits_no_run(
    session: Session, study: Study, rated_csv: bytes
) -> None:
    other = rated_csv.replace(b"Question 2", b"Another question")

    found = rated_imports.store(session, study, csv_ratings.read("rated.csv", other), "Budi", NOW)
    assert (found.fits, found.run_id, found.storable) == ((), None, False)
    assert raters.named(session, study, "Budi") is None
