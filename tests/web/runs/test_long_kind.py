"""A large import is read and stored beside the requests; one may leave and come back."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select, update

from tests.conftest import NOW
from tests.web.runs.test_imports import run_file, tokens
from webapp.db.engine import Database
from webapp.db.tables.runs import LongWork, Run, Upload
from webapp.services.runs import imports, waiting_files
from webapp.services.study import studies
from webapp.services.workers import jobs, kinds
from webapp.web.frame import forms
from webapp.web.frame.workers import workers
from webapp.web.runs.imports import WaitingFileForm

WAIT = 60
PART = {"HX-Request-Type": "partial"}


@pytest.fixture(autouse=True)
def _long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting_files, "LONG_FROM", 2)


def sent(client: FlaskClient, form: Mapping[str, Any]) -> str:
    """Return the address of the page to which a form of the import page leads."""
    answer = client.post("/runs/import", data=form)
    assert answer.status_code == 303
    return answer.headers["Location"]


def files(*data: bytes) -> dict[str, Any]:
    return {"files": [(BytesIO(one), f"run_{n}.json") for n, one in enumerate(data)]}


def rows(database: Database) -> tuple[int, int]:
    """Return how many runs are stored, and how many files wait."""
    with database.reading() as session:
        counts = [session.scalar(select(func.count()).select_from(one)) for one in (Run, Upload)]
        return counts[0] or 0, counts[1] or 0


def test_a_large_import_is_left_and_found_again_with_its_report_and_then_its_run(
    app: Flask, client: FlaskClient, web_database: Database
) -> None:
    """The good file waits beside one that is refused, with the reason and the remedy."""
    reading = sent(client, files(run_file(), b'{"results": []}'))
    assert workers(app).is_idle(WAIT)
    assert "waits for your decision" in client.get("/runs/import").text
    assert client.get(reading, headers=PART).headers["HX-Refresh"] == "true"
    report = client.get(reading, follow_redirects=True)
    waiting = tokens(report)
    assert len(waiting) == 2
    assert "run_1.json holds no question" in report.text
    assert rows(web_database) == (0, 2)

    storing = sent(client, {"token": waiting, "action": "store", f"method-{waiting[0]}": "vector"})
    assert storing.startswith("/files/")
    assert workers(app).is_idle(WAIT)
    assert rows(web_database) == (1, 0)
    listed = client.get("/runs/import").text
    assert "Import of run_0.json, run_1.json</a>: stored" in listed
    assert "waits for your decision" not in listed
    assert "vector" in client.get(storing, follow_redirects=True).text


def test_an_import_that_fails_at_its_second_file_stores_nothing_and_can_be_repeated(
    app: Flask, client: FlaskClient, web_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = run_file(search_method="vector", timestamp="20260302_090000")
    reading = sent(client, files(run_file(), other))
    assert workers(app).is_idle(WAIT)
    waiting = tokens(client.get(reading, follow_redirects=True))
    decided = {"token": waiting, "action": "store"}
    whole = imports.store
    stored: list[imports.ImportedRun] = []

    def store(*given: Any) -> imports.ImportedRun:
        if stored:
            raise RuntimeError
        stored.append(whole(*given))
        return stored[0]

    with monkeypatch.context() as broken:
        broken.setattr(imports, "store", store)
        page = sent(client, decided)
        assert workers(app).is_idle(WAIT)
    part = client.get(page, headers=PART).text
    assert "Something went wrong on our side" in part
    assert "Try again" in part
    assert rows(web_database) == (0, 2)

    page = sent(client, decided)
    assert workers(app).is_idle(WAIT)
    assert client.get(page).headers["Location"] == "/runs/"
    assert rows(web_database) == (2, 0)


def test_an_import_in_a_server_that_ended_goes_on_or_is_cancelled_with_its_files_kept(
    app: Flask, client: FlaskClient, web_database: Database
) -> None:
    assert workers(app).finish(WAIT)  # nothing is begun any more
    reading = sent(client, files(run_file()))
    page = client.get(reading).text

    assert "It begins in a moment." in page
    assert "the page Import leads back" in page
    assert page.count('<a href="/runs/import" aria-current="page">') == 1
    assert "under way" in client.get("/runs/import").text
    assert client.post(f"{reading}/give-up").headers["Location"] == "/runs/import"
    assert client.get(reading).status_code == 404
    assert rows(web_database) == (0, 1)


def test_a_large_import_that_is_stored_by_several_clicks_at_once_is_one_job(
    app: Flask, client: FlaskClient, web_database: Database
) -> None:
    """Whether a click comes before the job of another one is there, or after."""
    reading = sent(client, files(run_file()))
    assert workers(app).is_idle(WAIT)
    waiting = tokens(client.get(reading, follow_redirects=True))
    assert workers(app).finish(WAIT)  # nothing is begun any more
    decided = {"token": waiting, "action": "store", f"depends-{waiting[0]}": ["1", "2"]}
    pages = {sent(client, decided), sent(client, decided)}
    with app.test_request_context("/runs/import", method="POST", data=decided):
        sent_forms = {t: forms.sent(WaitingFileForm, after=f"-{t}") for t in waiting}
        given = {token: form.decision() for token, form in sent_forms.items()}
    with web_database.writing() as session:
        study = studies.current(session)
        assert study is not None
        kept = [waiting_files.find(session, study, token) for token in waiting]
        wanted = kinds.storing(kept, given)
        pages.add(f"/files/{jobs.enqueue(session, study, kinds.STORING, wanted, NOW)}")
        session.commit()

    assert len(pages) == 1
    with web_database.reading() as session:
        assert session.scalar(select(func.count()).select_from(LongWork)) == 1


def test_an_import_that_an_earlier_version_put_down_is_no_longer_here(
    app: Flask, client: FlaskClient, web_database: Database
) -> None:
    reading = sent(client, files(run_file()))
    assert workers(app).is_idle(WAIT)
    with web_database.writing() as session:
        session.execute(update(LongWork).values(kind="import", state="waiting", result=None))
        session.commit()

    assert "This is no longer here" in client.get(reading).text
    assert client.get("/runs/import").status_code == 200
    sent(client, files(run_file()))  # the loop meets the earlier work on its way
    assert workers(app).is_idle(WAIT)
    assert "waits for your decision" in client.get("/runs/import").text
