"""The page without a server asks the questions of the sample only."""

from __future__ import annotations

from flask.testing import FlaskClient

from tests.services.runs.runs import card, query
from tests.web.conftest import stored
from webapp.db.engine import Database


def test_the_file_without_a_server_says_what_is_not_asked(
    client: FlaskClient, web_database: Database
) -> None:
    queries = [query(n, card(f"api{n}"), text=f"Question {n}") for n in range(1, 7)]
    run_id, _ = (stored(web_database, queries, method=method) for method in ("api", "hybrid"))
    client.post("/study/planning/1/sample", data={"kind": "fixed", "size": "2"})

    page = client.get(f"/runs/{run_id}/offline.html").text

    assert "4 questions are not asked" in page
    assert page.count('<template id="prose-') == 2
