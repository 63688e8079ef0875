"""Statements that go to the driver: the same rows, values and refusals as through SQLAlchemy."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from sqlalchemy import bindparam, exists, insert, select, text
from sqlalchemy.exc import IntegrityError, ProgrammingError
from sqlalchemy.exc import OperationalError as Refused

from tests.conftest import NOW
from webapp.db.drivers import Driver
from webapp.db.engine import Database
from webapp.db.outages import outage
from webapp.db.prepared import Prepared, joined
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study
from webapp.db.upserts import added, upsert

JAKARTA = timezone(timedelta(hours=7))
NEW_STUDY = Prepared(
    lambda: insert(Study.__table__).inline(),  # type: ignore[arg-type]
    columns=["id", "name", "order_seed", "order_secret", "password", "created_at"],
)
NEW_RATER = Prepared(
    lambda: insert(Rater.__table__).inline(),  # type: ignore[arg-type]
    columns=["study_id", "name", "created_at", "removed_at"],
)
STUDIES = Prepared(
    lambda: (
        select(
            *(Study.id, Study.name, Study.guidelines, Study.blind, Study.allow_bulk),
            *(Study.overlap, Study.password, Study.created_at),
            exists().where(Rater.study_id == Study.id).label("has_raters"),
        )
        .where(Study.allow_bulk.is_(False), Study.id >= bindparam("from_id"))
        .order_by(Study.id)
    )
)


def study(number: int, **said: Any) -> dict[str, Any]:
    """The values of a study for an INSERT."""
    return {
        "id": number,
        "name": f"Study {number}",
        "order_seed": 2**40,
        "order_secret": "5" * 64,
        "password": None,
        "created_at": NOW,
    } | said


def test_what_was_written_is_read_as_sqlalchemy_reads_it(database: Database) -> None:
    late = datetime(2026, 3, 1, 16, 30, 0, 250_000, tzinfo=JAKARTA)
    with database.judging() as driver:
        NEW_STUDY.run(driver, study(1, name="Satu ✓", created_at=late))
        NEW_STUDY.run(driver, study(2))
        NEW_RATER.run(
            driver,
            {"study_id": 2, "name": "Ani", "created_at": NOW, "removed_at": None},
        )
        driver.commit()

    with database.asking() as driver:
        rows = STUDIES.all(driver, {"from_id": 1})
        first, nobody = (STUDIES.first(driver, {"from_id": at}) for at in (1, 3))
    with database.reading() as session:
        kept = session.get_one(Study, 1)
        assert (kept.name, kept.order_seed, kept.created_at) == ("Satu ✓", 2**40, late)

    assert rows[0] == first
    assert nobody is None
    assert first._asdict() == {
        "id": 1,
        "name": "Satu ✓",
        "guidelines": "",  # what the column is given where nobody says anything
        "blind": None,
        "allow_bulk": False,
        "overlap": None,
        "password": None,
        "created_at": late,
        "has_raters": False,
    }
    assert (first.created_at.tzinfo, first.allow_bulk, rows[1].has_raters) == (UTC, False, True)


def test_nothing_is_kept_without_a_commit(database: Database) -> None:
    with database.judging() as driver:
        NEW_STUDY.run(driver, study(1))
    with database.asking() as driver:
        assert STUDIES.all(driver, {"from_id": 1}) == []


def test_a_refused_row_leaves_the_connection_to_those_who_come_after(database: Database) -> None:
    def twice(driver: Driver) -> None:
        for _ in range(2):
            NEW_STUDY.run(driver, study(1))

    with pytest.raises(IntegrityError) as refused, database.judging() as driver:
        twice(driver)
    assert outage(refused.value) is None
    with database.judging() as driver:
        NEW_STUDY.run(driver, study(1))
        driver.commit()
    with database.asking() as driver:
        assert [row.id for row in STUDIES.all(driver, {"from_id": 1})] == [1]


def test_a_statement_that_means_nothing_is_refused_as_by_sqlalchemy(database: Database) -> None:
    kind = Refused if database.is_sqlite else ProgrammingError
    with pytest.raises(kind, match="nowhere"), database.asking() as driver:
        driver.rows("SELECT 1 FROM nowhere")


def test_a_connection_whose_server_cut_it_is_not_used_again(database: Database) -> None:
    if database.is_sqlite:
        pytest.skip("SQLite has no server")
    with database.asking() as driver:
        with database.engine.connect() as other:
            other.execute(
                text("SELECT pg_terminate_backend(:pid)"),
                {"pid": driver.connection.info.backend_pid},
            )
        with pytest.raises(Refused) as refused:
            STUDIES.all(driver, {"from_id": 1})
        assert driver.connection.closed

    assert outage(refused.value) is not None
    with database.asking() as driver:
        assert STUDIES.all(driver, {"from_id": 1}) == []


def test_a_row_is_written_over_the_one_with_its_key(database: Database) -> None:
    with database.judging() as driver:
        for name in ("First", "Second"):
            given = ("name", "order_secret", "created_at")
            upsert(Study, driver, given).run(
                driver, {"id": 1, "name": name, "order_secret": "5" * 64, "created_at": NOW}
            )
        driver.commit()
        (row,) = STUDIES.all(driver, {"from_id": 1})
    assert (row.name, row.guidelines) == ("Second", "")


def test_a_row_is_added_once_and_another_of_the_same_is_told(database: Database) -> None:
    rater = {"study_id": 1, "name": "Ani", "created_at": NOW}
    with database.judging() as driver:
        NEW_STUDY.run(driver, study(1))
        write = added(Rater, driver, ("study_id", "name"))
        defaults = dict.fromkeys((column.name for column in Rater.__table__.columns), None)
        values = defaults | {"is_owner": False, "is_machine": False} | rater

        assert [write.run(driver, values), write.run(driver, values)] == [1, 0]
        assert write.run(driver, values | {"name": "Budi"}) == 1
        driver.commit()
    with database.reading() as session:
        assert session.scalars(select(Rater.name).order_by(Rater.id)).all() == ["Ani", "Budi"]


def test_the_texts_of_rows_come_as_one(database: Database) -> None:
    names = Prepared(lambda: select(joined(Study.name)).where(Study.id >= bindparam("from_id")))
    with database.judging() as driver:
        for number in (1, 2, 3):
            NEW_STUDY.run(driver, study(number))

        (found,) = names.first(driver, {"from_id": 2})
        (nothing,) = names.first(driver, {"from_id": 9})

    assert sorted(found.split(",")) == ["Study 2", "Study 3"]
    assert nothing is None
