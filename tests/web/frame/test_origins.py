"""Where a request comes from: only this machine is answered, only our own pages change anything."""

from __future__ import annotations

import pytest
from flask import Flask
from flask.testing import FlaskClient


@pytest.mark.parametrize(
    ("headers", "allowed"),
    [
        ({}, True),  # no browser
        ({"Sec-Fetch-Site": "same-origin"}, True),
        ({"Sec-Fetch-Site": "none"}, True),
        ({"Sec-Fetch-Site": "same-site"}, False),
        ({"Sec-Fetch-Site": "cross-site"}, False),
        ({"Sec-Fetch-Site": "cross-site", "Origin": "http://localhost"}, False),
        ({"Origin": "http://localhost"}, True),
        ({"Origin": "http://localhost:81"}, False),
        ({"Origin": "https://localhost"}, False),
        ({"Origin": "http://evil.example"}, False),
        ({"Origin": "null"}, False),
    ],
)
def test_only_our_own_pages_change_anything(
    client: FlaskClient, run_id: str, headers: dict[str, str], *, allowed: bool
) -> None:
    address = f"/runs/{run_id}/queries/1/results/1/judgment"

    answer = client.post(address, data={"relevance": "1"}, headers=headers)

    assert answer.status_code == (303 if allowed else 403)
    standing = client.get(f"/runs/{run_id}/metrics.json").get_json()["queries"][0]["judged_count"]
    assert standing == int(allowed)


def test_reading_is_open_to_links_from_elsewhere(client: FlaskClient) -> None:
    assert client.get("/", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 200


@pytest.mark.parametrize("host", ["localhost", "localhost:8800", "127.0.0.1:1", "[::1]:8800"])
def test_this_machine_is_answered(client: FlaskClient, host: str) -> None:
    assert client.get("/", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host", ["example.org", "192.168.1.5:8800", "127.0.0.1.evil.example", "localhost.evil"]
)
def test_another_name_is_refused(client: FlaskClient, host: str) -> None:
    answer = client.get("/", headers={"Host": host})

    assert answer.status_code == 403
    assert "Only this computer may open these pages" in answer.text


@pytest.mark.parametrize(
    "header", ["Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Via"]
)
def test_a_forwarded_request_is_refused(client: FlaskClient, header: str) -> None:
    assert client.get("/", headers={header: "127.0.0.1"}).status_code == 403


def test_another_machine_is_refused_whatever_host_it_names(app: Flask) -> None:
    client = app.test_client()
    client.environ_base["REMOTE_ADDR"] = "192.168.1.5"

    assert client.get("/").status_code == 403
    assert client.get("/healthz").status_code == 200
