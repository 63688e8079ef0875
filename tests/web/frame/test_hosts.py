"""A Host header that names no host is answered in one line, whatever it holds."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient


@pytest.mark.parametrize(
    "host",
    [".", "a..b", "x" * 64 + ".org", "a b", "[::1", "-a.org", "host:port", "é.org", "%00", ""],
)  # fmt: skip
@pytest.mark.parametrize("address", ["/", "/healthz", "/static/frame/app.css"])
def test_an_odd_host_is_a_plain_400(
    client: FlaskClient, host: str, address: str, caplog: pytest.LogCaptureFixture
) -> None:
    answer = client.get(address, environ_overrides={"HTTP_HOST": host})

    assert (answer.status_code, answer.mimetype) == (400, "text/plain")
    assert answer.text.count("\n") == 1
    assert caplog.records == []


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:8800", "[::1]:8800", "localhost."])
def test_a_host_of_this_machine_is_answered(client: FlaskClient, host: str) -> None:
    assert client.get("/healthz", environ_overrides={"HTTP_HOST": host}).status_code == 200


@pytest.mark.parametrize("prefix", ["/nilai", "/a, /b"])
def test_a_path_below_which_a_proxy_serves_is_refused_in_a_line(
    client: FlaskClient, prefix: str
) -> None:
    answer = client.get("/healthz", headers={"X-Forwarded-Prefix": prefix})

    assert answer.status_code == 400
    assert "cannot be served below a path (X-Forwarded-Prefix)" in answer.text
    assert answer.text.count("\n") == 1


def test_a_proxy_that_names_the_top_as_its_path_is_no_reason_to_refuse(client: FlaskClient) -> None:
    assert client.get("/healthz", headers={"X-Forwarded-Prefix": "/"}).status_code == 200
