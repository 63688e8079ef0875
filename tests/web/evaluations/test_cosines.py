from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from relevansi.db.engine import Database
from relevansi.db.tables.evaluations import Evaluation
from relevansi.services.evaluations import scoring
from tests.page import Page
from tests.services.evaluations.embeddings import serving
from tests.services.evaluations.scored_files import WITHOUT_COSINES
from tests.web.conftest import count
from tests.web.evaluations.scored import send


def configure(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("RELEVANSI_EMBEDDINGS_URL", url)
    monkeypatch.setenv("RELEVANSI_EMBEDDINGS_MODEL", "tiny")
    monkeypatch.setenv("RELEVANSI_EMBEDDINGS_KEY", "a secret key")


def test_cosines_come_from_words_where_no_endpoint_is_configured(client: FlaskClient) -> None:
    lexical = send(client, "answers", WITHOUT_COSINES, embedder="lexical")

    page = Page(client.get(lexical.headers["Location"]))
    assert "Cosines: lexical (TF-IDF); tau_sim 0.3." in page
    assert not Page(client.get("/evaluations/")).has("[value=endpoint]")


def test_the_configured_endpoint_makes_the_cosines_and_its_key_is_never_shown(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving() as (url, requests):
        configure(monkeypatch, url)
        address = send(client, "answers", WITHOUT_COSINES, embedder="endpoint").headers["Location"]
    page, item = Page(client.get(address)), Page(client.get(f"{address}/items/1"))

    # the endpoint gives every text of the sample the same vector: each cosine is 1
    assert f"Cosines: tiny ({url}/embeddings); tau_sim 0.6." in page
    assert "✓ Supported cosine 1.00" in item
    assert {key for _, key, _ in requests} == {"Bearer a secret key"}
    assert len(requests) == 2  # q1 and q3; the claim of q2 cites what is not there
    for text in (page.source, item.source, client.get("/evaluations/").text):
        assert "a secret key" not in text


def test_a_page_takes_no_more_rows_than_a_model_has_time_for(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch, web_database: Database
) -> None:
    monkeypatch.setattr(scoring, "MAX_ROWS_OF_MODEL", 2)  # of 3 rows
    with serving() as (url, _):
        configure(monkeypatch, url)
        response = send(client, "answers", WITHOUT_COSINES, embedder="endpoint")
        two = send(client, "answers", WITHOUT_COSINES, embedder="endpoint", first="2")

    assert (response.status_code, two.status_code) == (422, 303)
    assert "more than 2 rows" in response.text
    assert count(web_database, Evaluation) == 1
    assert send(client, "answers", WITHOUT_COSINES, embedder="lexical").status_code == 303


def test_an_endpoint_that_gives_no_vectors_is_told_and_nothing_is_stored(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch, web_database: Database
) -> None:
    with serving(404) as (url, _):
        configure(monkeypatch, url)
        answer = send(client, "answers", WITHOUT_COSINES, embedder="endpoint")

    assert answer.status_code == 422
    assert f"{url}/embeddings" in answer.text
    assert Page(answer).has("[value=endpoint][selected]")  # as it was chosen, to try again
    assert count(web_database, Evaluation) == 0
