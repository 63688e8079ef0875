"""A study that was restored or moved gives the same proof pack."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import NOW
from tests.services.backups.test_backups import judged, restore
from tests.services.backups.test_moving import moved
from tests.services.other_database import on_postgres, on_sqlite
from tests.services.proof_packs.packs import verified
from webapp.db.engine import Database
from webapp.services.backups import backups
from webapp.services.proof_packs import packs
from webapp.services.runs.reports import Rule
from webapp.services.study import studies


@pytest.fixture(name="others")
def _others(database: Database, tmp_path: Path) -> Iterator[list[Database]]:
    """Two empty databases, the first of the same engine."""
    (tmp_path / "elsewhere").mkdir()
    made = on_sqlite(tmp_path / "elsewhere") if database.is_sqlite else on_postgres(database)
    yield [made, on_sqlite(tmp_path, "moved")]
    made.close()


def pack(database: Database) -> bytes:
    with database.reading() as session:
        study = studies.current(session)
        assert study is not None
        return packs.pack(session, study, None, Rule("majority")).data


def test_what_is_restored_or_moved_gives_the_same_proof_pack_which_verifies(
    database: Database, others: list[Database], tmp_path: Path
) -> None:
    restored, other = others
    judged(database)
    before = pack(database)
    backups.back_up(database, tmp_path / "study.backup", NOW)
    restored.close()
    restore(restored, tmp_path / "study.backup", NOW)
    moved(database, other)

    assert pack(restored) == pack(other) == before
    assert verified(before).equal
    other.close()
