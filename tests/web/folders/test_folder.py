"""Several studies in one folder: each with people, cookies and tokens of its own."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from io import BytesIO
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from relevansi.app import create_app
from relevansi.config import Settings, UnusableSetting, sqlite_url
from relevansi.db.engine import Database
from relevansi.services.backups import backups
from relevansi.services.folders import folder
from relevansi.services.people import raters
from relevansi.services.study import studies
from relevansi.web.frame import access
from tests.conftest import NOW
from tests.page import Page
from tests.stored_studies import open_study
from tests.web import visitors
from tests.web.conftest import judge, small_run
from tests.web.programs.program import token
from tests.web.visitors import PASSWORD, browser, lock


@pytest.fixture(name="front")
def _front(tmp_path: Path) -> Iterator[Flask]:
    variables = {"RELEVANSI_STUDIES": str(tmp_path / "s"), "RELEVANSI_INSTANCE": str(tmp_path)}
    app = create_app(Settings.from_environment(variables))
    yield app
    app.extensions["studies"].finish(0)
    app.extensions["database"].close()


@pytest.fixture(name="studies_folder")
def _studies_folder(front: Flask) -> Path:
    path: Path = front.config["FOLDER"]
    return path


def make(client: FlaskClient, name: str, way: str = "new", **fields: object) -> TestResponse:
    return client.post(f"/studies/{way}", data={"name": name, **fields})


def app_of(front: Flask, name: str) -> Flask:
    """Return the application of a study, which is opened if need be."""
    assert browser(front).get(f"/s/{name}/healthz").status_code == 200
    app: Flask = front.extensions["studies"]._apps[name]
    return app


def test_the_owner_makes_studies_that_know_nothing_of_each_other(front: Flask) -> None:
    client = browser(front)
    assert make(client, "pilot").status_code == 303
    assert make(client, "utama-2").status_code == 303
    for name, rater in (("pilot", "Ani Wijaya"), ("utama-2", "Budi Santoso")):
        assert client.post(f"/s/{name}/raters/", data={"name": rater}).status_code == 303

    page = client.get("/")
    assert "/s/pilot/" in page.text
    assert "/s/utama-2/" in page.text
    assert "Wijaya" not in page.text
    assert "Santoso" not in page.text
    assert "Wijaya" in client.get("/s/pilot/raters/").text
    assert "Wijaya" not in client.get("/s/utama-2/raters/").text


def test_a_name_is_of_few_characters_and_leads_nowhere_else(
    front: Flask, studies_folder: Path
) -> None:
    client = browser(front)
    before = sorted(studies_folder.parent.rglob("*.sqlite"))

    for name in ("", "A", "a b", "../x", "a/b", ".folder", "-a", "a-", "x" * 61, "é", "a.b"):
        assert make(client, name).status_code == 422, name
        assert client.get(f"/s/{name}/").status_code in {308, 404}, name
    assert client.get("/s/%2e%2e/folder/").status_code == 404
    assert sorted(studies_folder.parent.rglob("*.sqlite")) == before


def test_a_name_that_is_taken_is_refused_and_its_study_stays(front: Flask) -> None:
    client = browser(front)
    make(client, "pilot")
    client.post("/s/pilot/raters/", data={"name": "Ani"})

    for way in ("new", "demo"):
        assert make(client, "pilot", way).status_code == 422
    assert "Ani" in client.get("/s/pilot/raters/").text


def test_one_password_opens_the_folder_and_new_studies_but_no_session_goes_from_one_to_another(
    front: Flask,
) -> None:
    lock(front.extensions["database"])
    owner = visitors.owner(front, elsewhere=True)
    make(owner, "satu")
    make(owner, "dua")
    assert owner.get("/s/satu/runs/").status_code == 303  # signed in to the folder alone
    response = owner.post("/s/satu/sign-in", data={"password": PASSWORD})
    assert "Path=/s/satu/" in response.headers["Set-Cookie"]
    assert owner.get("/s/satu/runs/").status_code == 200
    assert owner.get("/s/dua/runs/").status_code == 303

    first, second = app_of(front, "satu"), app_of(front, "dua")
    cookie = owner.get_cookie(first.config["SESSION_COOKIE_NAME"], path="/s/satu/")
    assert cookie is not None
    for app, address in ((second, "/s/dua/runs/"), (front, "/")):
        thief = browser(front, elsewhere=True)
        thief.set_cookie(app.config["SESSION_COOKIE_NAME"], cookie.value)
        assert thief.get(address).status_code == 303


def test_tokens_and_invitations_are_of_one_study(front: Flask) -> None:
    client = browser(front)
    make(client, "satu")
    make(client, "dua")
    app = app_of(front, "satu")
    bearer = {"Authorization": f"Bearer {token(app, 'read')}"}
    link = visitors.invite(app.extensions["database"], "Ani")

    def status(name: str) -> list[int]:
        api = client.get(f"/s/{name}/api/v1/study", headers=bearer).status_code
        return [api, client.get(f"/s/{name}{link}").status_code]

    assert status("satu") == [200, 200]
    assert status("dua") == [401, 404]


def test_strangers_and_raters_see_nothing_of_the_list(front: Flask) -> None:
    make(browser(front), "rahasia")
    assert browser(front, elsewhere=True).get("/").status_code == 403
    lock(front.extensions["database"])
    stranger = browser(front, elsewhere=True)

    assert stranger.get("/").status_code == 303
    for way in ("new", "demo", "backup", "rahasia/archive", "rahasia/open"):
        assert stranger.post(f"/studies/{way}", data={"name": "x"}).status_code == 401
    assert "rahasia" not in stranger.get("/sign-in").text


def test_pages_of_a_study_are_not_those_of_the_folder_and_the_other_way_round(front: Flask) -> None:
    client = browser(front)
    make(client, "satu")

    for address in ("/runs/", "/raters/", "/rate/", "/study/", "/import/", "/api/v1/openapi.json"):
        assert client.get(address).status_code == 404, address
    assert client.post("/s/satu/studies/new", data={"name": "x"}).status_code == 404


def test_an_archived_study_is_read_and_not_changed_by_any_server_until_it_is_opened_again(
    front: Flask, studies_folder: Path
) -> None:
    client = browser(front)
    make(client, "satu")
    app = app_of(front, "satu")
    run_id = small_run(app.extensions["database"])
    bearer = {"Authorization": f"Bearer {token(app, 'judge')}"}
    base = f"/s/satu/runs/{run_id}/queries/1/results/1/judgment"
    assert client.post(base, data={"relevance": "1"}).status_code == 303
    assert client.post("/studies/satu/archive").status_code == 303

    another = create_app(Settings.from_environment({
        "RELEVANSI_STUDIES": str(studies_folder), "RELEVANSI_INSTANCE": str(studies_folder.parent)
    }))  # fmt: skip
    for server in (client, browser(another)):
        assert server.get(f"/s/satu/runs/{run_id}").status_code == 200
        refused = server.post(base, data={"relevance": "0"})
        assert refused.status_code == 409
        assert server.get("/s/satu/rate/").status_code == 409
        assert server.post("/s/satu/api/v1/tasks", headers=bearer).status_code == 409
    another.extensions["studies"].finish(0)
    another.extensions["database"].close()
    client.post("/studies/satu/open")

    assert client.post(base, data={"relevance": "0"}).status_code == 303


def test_a_backup_becomes_a_study_and_what_is_none_leaves_nothing(
    front: Flask, studies_folder: Path, tmp_path: Path
) -> None:
    client = browser(front)
    make(client, "asal")
    client.post("/s/asal/raters/", data={"name": "Ani Wijaya"})
    backups.back_up(app_of(front, "asal").extensions["database"], tmp_path / "b", NOW)

    def restore(name: str, data: bytes) -> int:
        file = (BytesIO(data), "study.backup")
        return make(client, name, "backup", file=file).status_code

    assert restore("salinan", (tmp_path / "b").read_bytes()) == 303
    assert "Wijaya" in client.get("/s/salinan/raters/").text
    assert restore("rusak", b"no backup") == 422
    assert make(client, "kosong", "backup").status_code == 422
    assert folder.names(studies_folder) == ["asal", "salinan"]


def test_copies_of_one_study_do_not_share_what_a_browser_keeps(front: Flask) -> None:
    client = browser(front)
    for name in ("satu", "dua"):
        assert make(client, name, "demo").status_code == 303
    keys = {client.get(f"/s/{name}/").headers[access.RATER] for name in ("satu", "dua")}

    assert len(keys) == 2


def test_a_database_that_cannot_be_used_is_told_on_its_line_and_harms_no_other(
    front: Flask, studies_folder: Path
) -> None:
    client = browser(front)
    for name in ("baik", "baru", "terkunci"):
        make(client, name)
    (studies_folder / "rusak.sqlite").write_bytes(b"no database" * 1000)
    (studies_folder / "kosong.sqlite").touch()
    (studies_folder / "Nama Lain.sqlite").touch()
    with closing(sqlite3.connect(studies_folder / "baru.sqlite")) as newer, newer:
        newer.execute("UPDATE alembic_version SET version_num = '9999'")
    with closing(sqlite3.connect(studies_folder / "terkunci.sqlite")) as locked:
        locked.execute("PRAGMA locking_mode = EXCLUSIVE")
        locked.execute("BEGIN EXCLUSIVE")
        page = Page(client.get("/"))
        tried = ("baik", "rusak", "baru")
        statuses = {name: client.get(f"/s/{name}/").status_code for name in tried}

    for name in ("baru", "rusak", "kosong", "terkunci"):
        assert page.has(f"#study-{name} .error"), name
    assert not page.has("#study-baik .error")
    assert "Nama Lain.sqlite" in page.text
    assert statuses == {"baik": 200, "rusak": 503, "baru": 409}
    assert client.get("/s/kosong/").status_code == 404


def test_the_list_says_how_far_each_study_is(front: Flask, studies_folder: Path) -> None:
    client = browser(front)
    make(client, "satu")
    run_id = small_run(app_of(front, "satu").extensions["database"])
    judge(client, run_id, 1)
    with open_study(app_of(front, "satu").extensions["database"]) as (session, study):
        raters.add(session, study, "Ani", NOW)
        gone = raters.add(session, study, "Budi", NOW)
        raters.remove(session, gone, NOW)
    [line] = folder.lines(studies_folder, "secret")

    assert (line.name, line.raters, line.is_archived) == ("satu", 2, False)  # the owner and Ani
    assert line.share == 0
    assert line.size > 100_000


def test_a_study_without_a_password_gets_one_by_the_list_of_an_owner_who_has_one(
    front: Flask,
) -> None:
    make(browser(front), "lama")
    lock(front.extensions["database"])
    owner = visitors.owner(front, elsewhere=True)
    link = Page(owner.get("/")).one("#study-lama h2 a")["href"]

    assert owner.get("/s/lama/").status_code == 403
    assert owner.get(link).status_code == 200
    assert owner.get(link.replace("setup=", "setup=0")).status_code == 403


def test_below_a_path_every_study_is_below_it(tmp_path: Path) -> None:
    variables = {"RELEVANSI_STUDIES": str(tmp_path / "s"), "RELEVANSI_INSTANCE": str(tmp_path)}
    trusted = {"RELEVANSI_TRUSTED_PROXIES": "127.0.0.1"}
    for more, path, headers in (
        ({"RELEVANSI_PREFIX": "/nilai"}, "/nilai", {}),
        (trusted, "", {"X-Forwarded-Prefix": "/nilai"}),
    ):
        app = create_app(Settings.from_environment({**variables, **more}))
        folder.make(tmp_path / "s", f"a{len(path)}", None, NOW)
        study = f"{path}/s/a{len(path)}"
        client = browser(app)
        assert client.get(study, headers=headers).location == f"/nilai/s/a{len(path)}/"
        page = client.get(f"{study}/help/", headers=headers)
        assert page.status_code == 200
        assert f'"/nilai/s/a{len(path)}/static/' in page.text
        app.extensions["studies"].finish(0)
        app.extensions["database"].close()


def test_a_folder_and_a_database_are_not_set_together(tmp_path: Path) -> None:
    both = {"RELEVANSI_STUDIES": str(tmp_path), "RELEVANSI_DATABASE_URL": "sqlite:///x"}
    outside = {"RELEVANSI_STUDIES": "x", "RELEVANSI_STUDY": "../a"}
    for wrong in (both, outside, {"RELEVANSI_STUDY": "a"}):
        with pytest.raises(UnusableSetting, match="RELEVANSI_STUD"):
            Settings.from_environment(wrong)
    settings = Settings.from_environment(
        {"RELEVANSI_STUDIES": str(tmp_path), "RELEVANSI_STUDY": "a"}
    )
    assert settings.database_url == sqlite_url(tmp_path / "a.sqlite")


def test_what_nobody_asks_for_is_closed_and_opens_by_itself(
    front: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = browser(front)
    for name in ("satu", "dua"):
        make(client, name)
        client.get(f"/s/{name}/")
    database: Database = app_of(front, "satu").extensions["database"]
    monkeypatch.setattr("relevansi.web.folders.dispatch.IDLE", -1.0)
    pool = database.engine.pool
    client.get("/s/dua/")

    assert database.engine.pool is not pool
    assert client.get("/s/satu/").status_code == 200
    with database.reading() as session:
        assert studies.current(session) is not None
