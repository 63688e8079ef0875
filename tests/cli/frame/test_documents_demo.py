"""The demo of documents is imported from its files, works on every page, and counts right."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest
from flask import Flask, url_for
from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.app import create_app
from relevansi.cli.frame import demo
from relevansi.cli.frame.demo import prepared_demo
from relevansi.config import Settings
from relevansi.db.engine import Database
from relevansi.db.tables.machine_judges import MachineCall
from relevansi.db.tables.runs import Run
from relevansi.i18n import speaking
from relevansi.services.runs import reports
from relevansi.web.features import MENUS
from tests.cli.relevansi import environment, relevansi
from tests.demo import study_of
from tests.page import Page


@pytest.fixture(name="settings", scope="module")
def _settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    variables = environment(tmp_path_factory.mktemp("documents"), "en")
    with mock.patch.dict(os.environ, variables), speaking("en"):
        return prepared_demo(documents=True)


@pytest.fixture(name="app", scope="module")
def _app(settings: Settings) -> Iterator[Flask]:
    app = create_app(settings)
    yield app
    app.extensions["database"].close()


@pytest.fixture(name="demo_session")
def _demo_session(settings: Settings) -> Iterator[Session]:
    database = Database(settings.database_url)
    with speaking("en"), database.reading() as session:
        yield session
    database.close()


def test_it_is_finished_and_rated_blind(app: Flask, demo_session: Session) -> None:
    study = study_of(demo_session)
    rule = reports.rule_of(demo_session, study)
    state = reports.state(demo_session, study, reports.in_study(study), rule)
    blindness = reports.blindness(demo_session, study, reports.in_study(study), rule)

    assert (state.is_complete, state.complete, state.behind) == (True, 20, {})
    assert blindness.verdicts.blind == blindness.verdicts.n == 302  # 151 passages, two raters
    client = app.test_client()
    client.post("/language", data={"to": "en"})
    for address in ("/runs/", "/comparisons/"):
        page = Page(client.get(address))
        assert {*page.texts("[id^=left-]")} <= {"Complete"}, address
        assert "Complete" in page, address
        assert not page.has(".value.open"), address
        assert "provisional" not in page.text, address
    for run_id in demo_session.scalars(select(Run.id)):
        page = Page(client.get(f"/runs/{run_id}"))
        assert "Complete" in page
        assert not page.has(".value.open")


def test_a_machine_judged_all_that_is_pooled_and_each_answer_says_that_no_model_was_asked(
    app: Flask, demo_session: Session
) -> None:
    calls = demo_session.scalars(select(MachineCall)).all()

    assert len(calls) == 151
    assert all("no model was asked" in (call.reason or "") for call in calls)
    assert {call.verdict for call in calls} == {"0", "1", "2", "3", "unsure"}
    client = app.test_client()
    page = Page(client.get(f"/study/machine-judges/{calls[0].rater_id}/agreement"))
    assert "no model was asked" in page


def test_its_pages_open_and_name_the_other_demo(app: Flask) -> None:
    client = app.test_client()

    with app.test_request_context():
        entries = [entry for name in ("owner", "study", "more") for entry in MENUS[name]]
        paths = [url_for(entry.endpoint) for entry in entries] + ["/rate/", "/measures/"]
    for path in paths:
        page = client.get(path, follow_redirects=True)
        assert page.status_code == 200, path
        assert "relevansi demo" in Page(page).texts("code"), path


def test_the_command_opens_it_in_the_words_of_its_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served: list[Flask] = []
    monkeypatch.setattr(demo, "serve", lambda app, *_, **__: served.append(app))

    for _ in range(2):  # made, then found
        process = relevansi(tmp_path, "demo", "--documents", "--no-browser", language="id")
        assert (process.returncode, process.stderr) == (0, "")

    assert {path.name for path in tmp_path.glob("*.sqlite")} == {"demo-documents.sqlite"}
    page = served[-1].test_client().get("/rate/", follow_redirects=True)
    assert "menjawab sebagian" in page.text
    assert "Yang dinilai" in page.text
