"""The catalogue in backups and moves: left out unless asked for, searched where it arrives."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from relevansi.db.engine import Database
from relevansi.kinds.document import Document
from relevansi.services.backups import backups, moves
from relevansi.services.catalogue import catalogue, search
from tests.conftest import NOW
from tests.services.other_database import on_postgres, on_sqlite
from tests.stored_studies import open_study


@pytest.fixture(name="target")
def _second_database(database: Database, tmp_path: Path) -> Iterator[Database]:
    target = on_sqlite(tmp_path) if database.is_sqlite else on_postgres(database)
    target.close()
    yield target
    target.close()


def fill(database: Database) -> None:
    with open_study(database) as (session, _):
        entries = [catalogue.entry(Document(doc_id="d1", text="Long red dress"))]
        catalogue.write(session, entries, is_imported=True)


def count(database: Database, words: str) -> int:
    with open_study(database) as (session, study):
        return search.search(session, study, words).count


@pytest.mark.parametrize("with_catalogue", [False, True])
def test_a_backup_has_the_catalogue_only_where_that_is_asked(
    database: Database, target: Database, tmp_path: Path, *, with_catalogue: bool
) -> None:
    fill(database)
    file = tmp_path / "study.backup"

    backups.back_up(database, file, NOW, with_catalogue=with_catalogue)
    backups.restore(target, file, NOW, as_superuser=True)

    assert count(target, "dress") == with_catalogue
    assert count(database, "dress") == 1


def test_a_moved_catalogue_is_searched_where_it_arrives(
    database: Database, target: Database
) -> None:
    fill(database)
    target.prepare()

    with database.reading() as old, target.writing() as new:
        moves.move(old, new)
        new.commit()

    assert (count(target, "dress"), count(target, "hat")) == (1, 0)
