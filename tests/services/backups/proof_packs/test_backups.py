"""A study that was restored gives the same proof pack."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import NOW
from tests.services.backups.test_backups import judged, restore
from tests.services.other_database import on_postgres, on_sqlite
from tests.services.proof_packs.packs import verified
from webapp.db.engine import Database
from webapp.db.migrations import HEAD
from webapp.services.backups import backups
from webapp.services.proof_packs import packs
from webapp.services.runs.reports import Rule
from webapp.services.study import studies


@pytest.fixture(name="other")
def _other(database: Database, tmp_path: Path) -> Iterator[Database]:
    """A second, empty database of the same engine."""
    (tmp_path / "elsewhere").mkdir()
    made = on_sqlite(tmp_path / "elsewhere") if database.is_sqlite else on_postgres(database)
    made.close()
    yield made
    made.close()


def pack(database: Database) -> bytes:
    with database.reading() as session:
        study = studies.current(session)
        assert study is not None
        return packs.of_study(session, study, Rule("majority")).data


def test_what_is_restored_gives_the_same_proof_pack_which_verifies(
    database: Database, other: Database, tmp_path: Path
) -> None:
    judged(database)
    before = pack(database)
    file = tmp_path / "study.backup"
    made = backups.back_up(database, file, NOW)

    restored = restore(other, file, NOW)

    assert restored == backups.Restored(made, None)
    after = pack(other)
    assert after == before
    found = verified(after)
    assert found.fingerprint == verified(before).fingerprint
    assert found.equal
    assert other.version() == HEAD


def test_a_proof_pack_is_no_backup(database: Database, tmp_path: Path) -> None:
    judged(database)
    file = tmp_path / "proof_pack.zip"
    file.write_bytes(pack(database))

    with pytest.raises(backups.NotABackup):
        restore(database, file, NOW, replace=True)
