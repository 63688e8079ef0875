"""What operators watch: counts without names, for this machine or by the owner's token."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from relevansi.app import create_app
from relevansi.config import Settings, UnusableSetting
from relevansi.db.engine import Database
from relevansi.web.frame.telemetry import JsonLineFormatter
from tests.web import visitors
from tests.web.conftest import in_english, judge, small_run
from tests.web.programs.program import token

SECRET = "Ani-rahasia"


def figures(client: FlaskClient) -> dict[str, float]:
    answer = client.get("/metrics")
    assert answer.status_code == 200
    assert answer.content_type.startswith("text/plain; version=0.0.4")
    lines = [line for line in answer.text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


def test_requests_clicks_jobs_and_outages_are_counted(client: FlaskClient, run_id: str) -> None:
    before = figures(client)
    judge(client, run_id, 1)
    judge(client, run_id, 1, rank=2)
    client.get("/no-such-page")
    after = figures(client)

    def grown(name: str) -> float:
        return after[name] - before.get(name, 0)

    assert grown("relevansi_clicks_total") == 2
    assert grown('relevansi_requests_total{area="none",status="404"}') == 1
    assert grown('relevansi_request_seconds_count{area="judgments"}') == 2
    assert grown('relevansi_request_seconds_bucket{area="judgments",le="+Inf"}') == 2
    assert after["relevansi_database_up"] == 1
    for state in ("waiting", "running", "failed"):
        assert after[f'relevansi_jobs{{state="{state}"}}'] == 0


def test_without_its_database_it_tells_what_the_process_knows(
    client: FlaskClient, web_database: Database
) -> None:
    figures(client)
    web_database.close()
    Path(web_database.description).write_bytes(b"no database" * 1000)
    first, second = figures(client), figures(client)

    assert first["relevansi_database_up"] == 0
    assert first['relevansi_requests_total{area="telemetry",status="200"}'] >= 1
    damaged = 'relevansi_outages_total{kind="damaged"}'
    assert second[damaged] - first[damaged] == 1


def test_from_elsewhere_it_takes_the_owner_s_token_to_read(
    app: Flask, web_database: Database
) -> None:
    visitors.lock(web_database)
    far = visitors.browser(app, elsewhere=True)
    proxied = {"X-Forwarded-For": "198.51.100.1"}
    tokens = {
        "owner": token(app, "read"),
        "owner who may judge": token(app, "judge"),
        "rater": token(app, "judge", rater="Ani"),
    }

    def status(client: FlaskClient, holder: str = "", **headers: str) -> int:
        bearer = {"Authorization": f"Bearer {tokens[holder]}"} if holder else {}
        return client.get("/metrics", headers={**bearer, **headers}).status_code

    assert [status(far, holder) for holder in ("", *tokens)] == [401, 200, 403, 401]
    assert status(visitors.browser(app), **proxied) == 401
    assert visitors.owner(app, elsewhere=True).get("/metrics").status_code == 401  # a cookie


def test_a_request_is_one_line_of_json_without_names_texts_or_queries(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = Settings.from_environment(
        {"RELEVANSI_LOG": "json", "RELEVANSI_INSTANCE": str(tmp_path)}
    )
    app = create_app(settings)
    with caplog.at_level(logging.INFO, "relevansi"):
        client = in_english(app)
        small_run(app.extensions["database"])
        answer = client.get(f"/runs/{SECRET}?q={SECRET}", headers={"X-Request-ID": "abc-1"})
        client.post("/raters/", data={"name": SECRET}, headers={"X-Request-ID": f"{SECRET} {{"})
        client.application.logger.warning("of %r", SECRET)
        try:
            int(SECRET)
        except ValueError:
            app.logger.exception("failed")
    app.extensions["database"].close()
    lines = [JsonLineFormatter().format(record) for record in caplog.records]
    first = json.loads(lines[0])

    assert SECRET not in "".join(lines)
    assert answer.headers["X-Request-ID"] == "abc-1"
    assert (first["method"], first["status"], first["request_id"]) == ("GET", 404, "abc-1")
    assert first["ms"] > 0
    assert json.loads(lines[-1])["error"] == "ValueError"


def test_another_kind_of_log_is_refused() -> None:
    with pytest.raises(UnusableSetting, match="RELEVANSI_LOG"):
        Settings.from_environment({"RELEVANSI_LOG": "xml"})
