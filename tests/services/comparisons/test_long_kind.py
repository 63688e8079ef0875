"""A comparison that was kept equals the one that was made, and only its own address finds it."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import msgspec
import pytest
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.comparisons.stored_runs import stored
from tests.services.runs.runs import card, query
from webapp.db.engine import Database
from webapp.db.tables.study import Study
from webapp.db.tables.workers import LongWork
from webapp.i18n import speaking
from webapp.services.comparisons import chosen_runs, comparisons, long_kind
from webapp.services.runs import order, reports
from webapp.services.study import studies
from webapp.services.workers import long_work
from webapp.services.workers.long_work import LongWorking
from webapp.services.workers.loop import WorkLoop

WAIT = 60


def kept_of(database: Database, run_ids: Sequence[str]) -> str:
    """Return the id of a work that has kept the comparison of these runs."""
    with database.writing() as session:
        study = studies.open_or_make(session, NOW)
        wanted = long_kind.wanted(run_ids, reports.rule_of(session, study))
        work_id = long_work.put_down(session, study, long_kind.COMPARISON, wanted, NOW)
        session.commit()
    loop = WorkLoop(database.writing, lambda: NOW, logging.getLogger(__name__))
    loop.wake(LongWorking(database), most=1)
    assert loop.is_idle(WAIT)
    return work_id


@pytest.fixture(name="pair")
def _pair(database: Database) -> tuple[str, str]:
    with database.writing() as session:
        study = studies.open_or_make(session, NOW)
        asked = query(1, card("a")), query(2)
        pair = stored(session, study, "api", *asked), stored(session, study, "hybrid", *asked)
        session.commit()
    return pair


def test_every_comparison_of_the_demo_is_read_as_it_was_made(demo_session: Session) -> None:
    study = studies.current(demo_session)
    assert study is not None
    rule = reports.rule_of(demo_session, study)
    names: set[str] = set()
    for phase in chosen_runs.phases_of(demo_session, study):
        compared = chosen_runs.of_phase(demo_session, study, phase)
        report = comparisons.report(demo_session, study, compared, rule)
        names.update(part.name for part in report.parts)

        assert long_kind.decoded(long_kind.encoded(report)) == report
    assert names == {"constraints", "settled", "machine_help"}


def test_a_kept_comparison_is_found_under_its_own_address(
    database: Database, pair: tuple[str, str]
) -> None:
    work_id = kept_of(database, pair)
    with database.reading() as session:
        study = studies.open_or_make(session, NOW)
        rule = reports.rule_of(session, study)
        found = long_kind.find(session, study, work_id, long_kind.wanted(pair, rule))

        assert found is not None
        assert found.asked_at == NOW
        assert found.report == comparisons.report(session, study, pair, rule)
        turned = long_kind.wanted(pair[::-1], rule)
        with speaking("en"):
            english = long_kind.wanted(pair, rule)
        for other in (turned, english):
            assert long_kind.find(session, study, work_id, other) is None
        assert long_kind.find(session, study, "gone", long_kind.wanted(pair, rule)) is None


@pytest.mark.parametrize("data", [b"", b"\x80", msgspec.msgpack.encode({"study": 1}), None])
def test_what_another_version_kept_is_not_there(
    database: Database, pair: tuple[str, str], data: bytes | None
) -> None:
    work_id = kept_of(database, pair)
    with database.writing() as session:
        session.get_one(LongWork, work_id).data = data
        session.commit()
    with database.reading() as session:
        study = studies.open_or_make(session, NOW)
        wanted = long_kind.wanted(pair, reports.rule_of(session, study))

        assert long_kind.find(session, study, work_id, wanted) is None


def test_it_is_long_from_a_number_of_answers_on(
    session: Session, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = query(1, card("a")), query(2)
    pair = stored(session, study, "api", *asked), stored(session, study, "hybrid", *asked)
    other = stored(session, study, "one", query(3))
    assert not long_kind.is_long(session, study, pair)
    monkeypatch.setattr(long_kind, "LONG_FROM", 4)

    assert long_kind.is_long(session, study, pair)
    assert not long_kind.is_long(session, study, pair[:1])
    monkeypatch.setattr(long_kind, "LONG_FROM", 1)
    assert not long_kind.is_long(session, study, pair[:1])  # nothing to compare it with
    assert not long_kind.is_long(session, study, (pair[0], other))  # of different questions
    assert len(order.in_order(session, study)) == 3
