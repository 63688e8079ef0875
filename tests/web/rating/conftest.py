"""The runs that people rate in the tests of this folder."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from relevansi.db.engine import Database
from tests.services.rating.particulars import v2_answer
from tests.web.frame.test_hostile_texts import imported
from tests.web.rating.blind_study import three_runs


@pytest.fixture(name="run_ids")
def _run_ids(web_database: Database) -> list[str]:
    return three_runs(web_database)


@pytest.fixture(name="run")
def _run(client: FlaskClient) -> str:
    return imported(client, v2_answer(), "results.json").partition("/queries/")[0]
