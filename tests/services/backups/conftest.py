from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.services.other_database import on_postgres, on_sqlite
from webapp.db.engine import Database


@pytest.fixture(name="other")
def _other(
    database: Database, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Database]:
    made = (
        on_postgres(request.getfixturevalue("postgres"))
        if database.is_sqlite
        else on_sqlite(tmp_path)
    )
    yield made
    made.close()
