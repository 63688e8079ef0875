"""Every page of the demo is within five clicks of the first page of those who may open it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask
from werkzeug.routing import Rule

from relevansi.app import create_app
from relevansi.config import JudgeEndpoint, Settings, sqlite_url
from tests.page import Page
from tests.web.conftest import in_english
from tests.web.phase_3.participants import agree, as_participant
from tests.web.reached import as_rater, reached
from tests.web.roles import is_for_programs

ELSEWHERE = {
    "health.healthz": "asked by programs",
    "shell.worker": "asked by browsers",
    "shell.offline": "kept by browsers for a time without a network",
    "sign_in.check_cookie": "asks once whether the browser keeps cookies",
    "sign_in.greet": "opened by the link of an invitation",
    "long_work.show": "shown while a long work goes on",
    "long_work.take_away": "offered where a long work has ended",
    "study.ask_to_ask_again": "offered where a blind study has verdicts that were given openly",
    "runs.ask_to_remove_sample": "offered where a study of one's own has the sample",
    "participants.declined": "the answer to a button",
    "participants.link": "the answer to a button",
    "own_questions.look": "offered where the owner lets participants look things up",
    "telemetry.metrics": "asked by programs",
    "judgments.constraints": "a part that a judged card asks for",
    "judgments.live_figures": "a part that the panel of figures asks for",
    "rate.constraints": "a part that a judged card asks for",
    "rated_comparisons.report": "the print of files that were chosen",
}
"""Pages that no link of the demo leads to, and why."""


@pytest.fixture(name="demo", scope="module")
def _demo(demo_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flask]:
    file = Path(shutil.copy(demo_file, tmp_path_factory.mktemp("demo") / "demo.sqlite"))
    judge = JudgeEndpoint("http://127.0.0.1:9/v1", "model")
    app = create_app(Settings(sqlite_url(file), file.parent, judge=judge, is_demo=True))
    yield app
    app.extensions["database"].close()


def test_every_page_is_within_five_clicks(demo: Flask) -> None:
    begins = ((in_english(demo), "/"), (as_rater(demo), "/"), (as_participant(demo), "/ask/"))
    result = [reached(*begin) for begin in begins]
    pages = {rule.endpoint for rule in demo.url_map.iter_rules() if _is_page(rule)}
    redirects = {name for name in pages if name.partition(".")[2] in {"back", "switch"}}
    redirects |= {name for name in pages if "after_" in name or name == "study.guidelines"}

    assert sorted(pages - redirects - ELSEWHERE.keys() - set().union(*result)) == []
    assert sorted(ELSEWHERE.keys() & set().union(*result)) == []


def test_a_visitor_of_the_demo_takes_part_and_comes_back_as_the_owner(demo: Flask) -> None:
    client = in_english(demo)
    assert "/take-part/demo" in client.get("/study/users/").text
    assert "/take-part/demo" in client.get("/sign-in").text

    agree(client, "/take-part/demo")
    asking, refused = client.get("/ask/"), client.get("/")
    client.post("/sign-out")
    home = client.get("/")

    assert "as a participant sees it" in asking.text
    assert "What would you like to ask about property?" in asking.text
    assert refused.status_code == 403
    assert "/ask/" in Page(refused).links("a.btn")
    assert home.status_code == 200
    assert "Sari" in home.text


def test_outside_the_demo_a_link_for_participants_ends_the_open_house(
    demo_file: Path, tmp_path: Path
) -> None:
    file = Path(shutil.copy(demo_file, tmp_path / "demo.sqlite"))
    app = create_app(Settings(sqlite_url(file), tmp_path))

    assert app.test_client().get("/").location == "/sign-in?next=/"
    app.extensions["database"].close()


def _is_page(rule: Rule) -> bool:
    last = rule.rule.rpartition("/")[2]
    is_file = "." in last or last in {"<name>", "<filename>", "<path:filename>", "<path:name>"}
    is_read = "GET" in (rule.methods or ()) and not is_for_programs(rule.endpoint)
    return is_read and (not is_file or rule.endpoint == "guides.show")
