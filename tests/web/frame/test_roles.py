"""Every address with every verb, for the owner, a rater, another rater and a stranger.

The list of addresses is the application's own; what nobody listed is the owner's.
"""

from __future__ import annotations

import pytest
from flask import Flask
from flask.testing import FlaskClient

from relevansi.db.engine import Database
from relevansi.web.features import Role, role_for
from tests.page import Page
from tests.web import visitors
from tests.web.conftest import QUERIES, stored
from tests.web.rating.blind_study import keys
from tests.web.roles import (
    assert_closed,
    everything,
    refused_at_open_doors,
    rules,
    stored_by_links_from_elsewhere,
)

FOR_ANYBODY = {
    *("static", "joined", "health", "telemetry", "shell", "language", "ratios", "guides"),
    *("sign_in", "participants", "measures", "api.openapi"),
}
FOR_RATERS = {
    *("home.show", "rate", "history", "card_decisions.decide_blind", "tokens"),
    *("api.take_task", "api.show_task", "api.judge_card", "api.rate_task"),
}
FOR_PARTICIPANTS = {"own_questions", "questionnaires", "participants.rename", "participants.link"}
OWNER_ONLY_IN_OPEN_BLUEPRINTS = {"sign_in.change", "sign_in.ask_to_change"}


@pytest.fixture(name="served")
def _served(app: Flask, run_id: str) -> Flask:
    assert run_id
    visitors.lock(app.extensions["database"])
    return app


def enter(app: Flask, role: str) -> FlaskClient:
    if role == "owner":
        return visitors.owner(app)
    return visitors.browser(app) if role == "stranger" else visitors.invited(app, "Ani")


def test_nothing_but_what_is_listed_here_is_open_to_others_than_the_owner(app: Flask) -> None:
    for rule in rules(app):
        names = {rule.endpoint, rule.endpoint.partition(".")[0]}
        if names & OWNER_ONLY_IN_OPEN_BLUEPRINTS:
            expected = Role.OWNER
        elif names & FOR_PARTICIPANTS:
            expected = Role.GUESTS
        elif names & FOR_ANYBODY:
            expected = Role.ANYBODY
        else:
            expected = Role.RATERS if names & FOR_RATERS else Role.OWNER
        assert role_for(rule.endpoint) == expected, rule.rule


SEARCHING = {"rate.next_one", "rate.look"}


@pytest.mark.parametrize("role", ["owner", "rater", "stranger"])
def test_an_open_door_lets_in_whom_it_names(served: Flask, role: str) -> None:
    assert refused_at_open_doors(served, enter(served, role), role) == []


@pytest.mark.parametrize("role", ["rater", "stranger"])
def test_a_closed_door_refuses_changes_nothing_and_tells_nothing(
    served: Flask, run_id: str, role: str
) -> None:
    assert_closed(served, enter(served, role), role, run_id)


@pytest.mark.parametrize(
    ("role", "ask_first"),
    [
        ("owner", {*SEARCHING, "judgments.look", "findings.take_away", "findings.data"}),
        ("rater", SEARCHING),
    ],
)
def test_a_link_from_elsewhere_stores_nothing(
    served: Flask, run_id: str, role: str, ask_first: set[str]
) -> None:
    assert stored_by_links_from_elsewhere(served, enter(served, role), run_id) == ask_first


@pytest.mark.parametrize(
    ("method", "headers"),
    [
        ("HEAD", {}),
        ("GET", {"Sec-Fetch-Site": "same-site"}),
        ("GET", {"Referer": "http://elsewhere.example/"}),  # a browser on plain http
        ("GET", {"Sec-Fetch-Site": "none", "Sec-Purpose": "prefetch;prerender"}),
    ],
)
def test_a_look_ahead_gives_a_rater_no_question(
    served: Flask, web_database: Database, method: str, headers: dict[str, str]
) -> None:
    ani = visitors.invited(served, "Ani")
    before = everything(web_database)

    assert ani.open("/rate/", method=method, headers=headers).status_code == 200

    assert everything(web_database) == before
    assert ani.get("/rate/").status_code == 303


def test_a_rater_led_here_by_another_site_begins_by_one_button(served: Flask) -> None:
    ani = visitors.invited(served, "Ani")

    page = ani.get("/rate/?category=budget&x=<b>", headers={"Sec-Fetch-Site": "cross-site"})

    assert page.status_code == 200
    assert Page(page).links("main a.btn") == ["/rate/?category=budget&x=<b>"]
    assert ani.get("/rate/", headers={"Sec-Fetch-Site": "same-origin"}).status_code == 303
    assert ani.get("/rate/", headers={"Referer": "http://localhost/rate/"}).status_code == 303


@pytest.mark.parametrize("path", ["/history/", "/history/events.csv", "/history/events.jsonl"])
def test_a_rater_never_sees_what_another_did(served: Flask, run_id: str, path: str) -> None:
    owner, ani = visitors.owner(served), visitors.invited(served, "Ani")
    owner.post(f"/runs/{run_id}/queries/1/rating", data={"notes": "a secret remark"})
    assert "a secret remark" in owner.get(path).text

    for number in (1, 2, 3):
        answer = ani.get(path, query_string={"rater": number})
        assert "a secret remark" not in answer.text
        assert "hybrid" not in answer.text


def test_a_task_is_its_rater_s_alone(served: Flask, web_database: Database) -> None:
    ani, budi = visitors.invited(served, "Ani"), visitors.invited(served, "Budi")
    task = ani.get("/rate/").headers["Location"]
    verdict = {"card": keys(ani.get(task))[0], "relevance": "1"}
    before = everything(web_database)

    for stranger in (budi, visitors.owner(served)):
        assert stranger.get(task).status_code == 404
        assert stranger.post(f"{task}/judgment", data=verdict).status_code == 404
        assert stranger.post(f"{task}/rating", data={"quality": "5"}).status_code == 404
    assert everything(web_database) == before

    assert ani.post(f"{task}/judgment", data=verdict).status_code == 303
    assert everything(web_database) != before


def test_a_rater_receives_no_name_of_a_run_a_method_or_a_file(
    served: Flask, web_database: Database, run_id: str
) -> None:
    second_run = stored(web_database, QUERIES, method="vector_only")
    ani = visitors.invited(served, "Ani")
    task = ani.get("/rate/").headers["Location"]
    ani.post(f"{task}/judgment", data={"card": keys(ani.get(task))[0], "relevance": "1"})

    received = ""
    for address in ("/", "/rate/", task, "/history/", "/history/events.csv",
                    "/history/events.jsonl", "/sign-in", "/runs/", "/nothing"):  # fmt: skip
        answer = ani.get(address)
        received += f"{answer.headers}{answer.text}"

    for secret in (run_id, second_run, "hybrid", "vector_only", "test_results", "web.sqlite"):
        assert secret not in received
    for owners in ("/runs/", "/runs/import", "/settings", "/raters/"):
        assert f'href="{owners}"' not in received
