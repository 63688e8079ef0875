"""Where the cosines of an evaluation come from, and what a configured endpoint may do wrong."""

from __future__ import annotations

from html import unescape

import pytest
from flask.testing import FlaskClient

from tests.services.evaluations.embeddings import BROKEN, serving
from tests.services.evaluations.scored_files import (
    ANSWERS,
    lines,
)
from tests.web.evaluations.scored import rows, send, text
from webapp.db.engine import Database
from webapp.db.tables.evaluations import Evaluation
from webapp.services.evaluations import scoring


def test_cosines_come_from_words_or_the_configured_endpoint_and_from_no_other(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch, web_database: Database
) -> None:
    rows_without = [{k: v for k, v in row.items() if k != "claim_similarities"} for row in ANSWERS]
    lexical = send(client, "answers", lines(*rows_without), embedder="lexical")
    page = text(client.get(lexical.headers["Location"]).text)
    assert "Cosines: lexical (TF-IDF); tau_sim 0.30." in page
    assert 'value="endpoint"' not in client.get("/evaluations/").text

    monkeypatch.setenv("RELEVANSI_EMBEDDINGS_URL", "http://127.0.0.1:9/v1")  # nobody answers
    monkeypatch.setenv("RELEVANSI_EMBEDDINGS_MODEL", "small")
    assert 'value="endpoint"' in client.get("/evaluations/").text
    refused = send(client, "answers", lines(*rows_without), embedder="endpoint")
    assert refused.status_code == 422
    assert "http://127.0.0.1:9/v1/embeddings cannot be used" in refused.text
    assert rows(web_database, Evaluation) == 1


@pytest.fixture(name="without_cosines")
def _without_cosines() -> bytes:
    """The sample of cited answers, whose cosines the endpoint is to make."""
    kept = [{k: v for k, v in row.items() if k != "claim_similarities"} for row in ANSWERS]
    return lines(*kept)


def configure(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("RELEVANSI_EMBEDDINGS_URL", url)
    monkeypatch.setenv("RELEVANSI_EMBEDDINGS_MODEL", "tiny")
    monkeypatch.setenv("RELEVANSI_EMBEDDINGS_KEY", "a secret key")


def test_the_configured_endpoint_makes_the_cosines_and_its_key_is_never_shown(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch, without_cosines: bytes
) -> None:
    with serving() as (url, asked):
        configure(monkeypatch, url)
        address = send(client, "answers", without_cosines, embedder="endpoint").headers["Location"]
    page, item = client.get(address).text, client.get(f"{address}/items/1").text

    # the endpoint gives every text of the sample the same vector: each cosine is 1
    assert f"Cosines: tiny ({url}/embeddings); tau_sim 0.60." in text(page)
    assert "✓ Supported cosine 1.00" in text(item)
    assert {key for _, key, _ in asked} == {"Bearer a secret key"}
    assert len(asked) == 2  # q1 and q3; the claim of q2 cites what is not there
    for shown in (page, item, client.get("/evaluations/").text):
        assert "a secret key" not in shown


@pytest.mark.parametrize("broken", BROKEN[::4])  # every kind: see test_embedders
def test_an_endpoint_that_gives_no_vectors_is_told_and_nothing_is_stored(
    client: FlaskClient,
    monkeypatch: pytest.MonkeyPatch,
    web_database: Database,
    without_cosines: bytes,
    broken: tuple[int, bytes, int, str],
) -> None:
    status, body, promised, why = broken
    with serving(status, body, promised=promised) as (url, _):
        configure(monkeypatch, url)
        answer = send(client, "answers", without_cosines, embedder="endpoint")

    assert answer.status_code == 422
    assert f"The embeddings endpoint {url}/embeddings" in answer.text or "tiny (" in answer.text
    assert why in unescape(answer.text)
    assert "Nothing was stored." in answer.text
    assert 'value="endpoint" selected' in answer.text  # as it was chosen, to try again
    assert rows(web_database, Evaluation) == 0


def test_an_endpoint_that_is_silent_is_given_up_and_told(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch, without_cosines: bytes
) -> None:
    monkeypatch.setattr(scoring, "TIMEOUT_SECONDS", 0.2)
    with serving(seconds=20) as (url, _):
        configure(monkeypatch, url)
        answer = send(client, "answers", without_cosines, embedder="endpoint")

    assert answer.status_code == 422
    assert "it did not answer within 0.2 seconds" in answer.text
