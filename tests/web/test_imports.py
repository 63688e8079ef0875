"""Files dropped on the page: a report first, stored only at their owner's word."""

from __future__ import annotations

import json
import re
from io import BytesIO
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.web.conftest import WAYS


def run_file(**changed: Any) -> bytes:
    """Return a V1 file of two questions, one of them answered with a card."""
    results = [
        {
            "query_id": 1,
            "question": "Rumah di Cemara?",
            "category": "location",
            "success": True,
            "response": "1. **Rumah A**\n   📍 Cemara\n   💰 Rp 650 jt\n",
            "results_count": 1,
        },
        {
            "query_id": 2,
            "question": "Ada pilihan lain?",
            "category": "location",
            "success": True,
            "response": "Tidak ada.",
            "results_count": 0,
        },
    ]
    whole = {
        "timestamp": "20260301_090000",
        "thread_id": "t",
        "user_id": "u",
        "search_method": "hybrid",
        "total_questions": 2,
        "successful": 2,
        "results": results,
    }
    return json.dumps(whole | changed).encode()


def drop(client: FlaskClient, *files: bytes, headers: dict[str, str] | None = None) -> TestResponse:
    """Drop files and follow to their report."""
    chosen = [(BytesIO(data), f"test_results_{n}.json") for n, data in enumerate(files)]
    return client.post(
        "/runs/import", data={"files": chosen}, headers=headers, follow_redirects=True
    )


def tokens(answer: TestResponse) -> list[str]:
    return re.findall(r'name="token" value="(\w+)"', answer.text)


@pytest.mark.parametrize("headers", WAYS)
def test_a_dropped_file_is_reported_on_and_nothing_is_stored(
    client: FlaskClient, headers: dict[str, str]
) -> None:
    report = drop(client, run_file(), headers=headers)

    assert report.status_code == 200
    assert "Nothing is stored yet." in report.text
    assert ("<html" in report.text) == (headers == {})
    assert "There is no run yet." in client.get("/runs/").text


def test_a_confirmed_file_is_stored_with_its_labels_and_answers(client: FlaskClient) -> None:
    (token,) = tokens(drop(client, run_file()))

    answer = client.post(
        "/runs/import",
        data={
            "token": token,
            "action": "store",
            f"method-{token}": "vector_only",
            f"llm-{token}": "gpt",
            f"depends-{token}": "2",
        },
    )

    assert answer.status_code == 303
    assert "Vector Only · gpt" in client.get(answer.location).text
    assert "depends on the conversation" in client.get(f"{answer.location}/queries/2").text
    assert client.get(f"/runs/import?token={token}").status_code == 404


def test_a_forgotten_file_is_gone(client: FlaskClient) -> None:
    (token,) = tokens(drop(client, run_file()))

    client.post("/runs/import", data={"token": token, "action": "discard"})

    assert client.get(f"/runs/import?token={token}").status_code == 404
    assert "There is no run yet." in client.get("/runs/").text


def test_the_same_file_twice_is_recognised(client: FlaskClient) -> None:
    (token,) = tokens(drop(client, run_file()))
    client.post("/runs/import", data={"token": token, "action": "store"})

    again = drop(client, run_file())

    assert "This very file was imported before." in again.text


def test_several_files_wait_together(client: FlaskClient) -> None:
    both = tokens(drop(client, run_file(), run_file(search_method="api_only", thread_id="v")))

    answer = client.post("/runs/import", data={"token": both, "action": "store"})

    assert answer.location == "/runs/"
    assert client.get("/runs/").text.count('class="run"') == 2


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"a": 1}', b"\xff\xfe\x00", b"query_id\n1"])
def test_a_wrong_file_is_told_what_was_expected(client: FlaskClient, data: bytes) -> None:
    report = drop(client, data)

    assert report.status_code == 200
    assert "This file cannot be imported." in report.text
    assert 'value="store"' not in report.text


@pytest.mark.parametrize("headers", WAYS)
def test_no_file_at_all_is_asked_for(client: FlaskClient, headers: dict[str, str]) -> None:
    answer = client.post("/runs/import", data={}, headers=headers)

    assert answer.status_code == 422
    assert "Please choose a file first." in answer.text


def test_the_reports_of_two_files_of_one_name_are_named_apart(client: FlaskClient) -> None:
    two = [(BytesIO(run_file(timestamp=at)), "test_results.json") for at in ("1", "2")]

    page = client.post("/runs/import", data={"files": two}, follow_redirects=True).text

    headings = re.findall(r'<h2 id="file-[^"]*">([^<]*)</h2>', page)
    assert headings == [
        "test_results.json (file 1 of 2)",
        "test_results.json (file 2 of 2)",
    ]
    fields = re.findall(r'<label><span>(.*?)<span class="vh">(.*?)</span></span>', page)
    assert len(set(fields)) == 4  # search method and LLM of each
