"""An endpoint that is missing or unusable is told before there is a judge."""

from __future__ import annotations

from flask import Flask
from flask.testing import FlaskClient

from tests.web.machine_judges.judged_runs import (
    HERE,
)


def test_without_an_endpoint_only_how_to_configure_one_is_offered(client: FlaskClient) -> None:
    page = client.get(f"{HERE}/").text

    assert "No endpoint is configured" in page
    assert "RELEVANSI_JUDGE_URL" in page
    assert "<form" not in page.partition("<main")[2].partition("</main>")[0]
    assert f"{HERE}/new" not in page
    for answer in (client.get(f"{HERE}/new"), client.post(f"{HERE}/", data={"name": "x"})):
        assert answer.status_code == 409
        assert "No endpoint for a machine judge is configured" in answer.text


def test_an_unusable_address_is_told_and_not_repeated(app: Flask, client: FlaskClient) -> None:
    from webapp.config import JudgeEndpoint

    app.config["JUDGE"] = JudgeEndpoint("me:secret@nowhere", "m")
    page = client.get(f"{HERE}/")

    assert "is not an http or https address" in page.text
    assert "secret" not in page.text
    assert client.get(f"{HERE}/new").status_code == 409
