"""A study that was moved there and back gives the same proof pack."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import NOW
from tests.services.backups.test_moving import moved
from tests.services.judging.rated_studies import rated_study
from tests.services.other_database import on_sqlite
from webapp.db.engine import Database
from webapp.services.proof_packs import packs
from webapp.services.runs.reports import Rule
from webapp.services.study import studies


def test_there_and_back_gives_the_same_digests_and_the_same_proof_pack(
    database: Database, other: Database, tmp_path: Path
) -> None:
    with database.writing() as session:
        rated_study(session, studies.open_or_make(session, NOW))
        session.commit()
    back = on_sqlite(tmp_path, "back")

    assert moved(database, other) == moved(other, back)
    assert pack(database) == pack(other) == pack(back)
    back.close()


def pack(database: Database) -> bytes:
    with database.reading() as session:
        study = studies.current(session)
        assert study is not None
        return packs.of_study(session, study, Rule("majority")).data
