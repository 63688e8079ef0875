"""Signed in by the house: a trusted proxy names each person, and nobody else can."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import Client

from relevansi.app import create_app
from relevansi.config import Settings, UnusableSetting
from relevansi.db.engine import Database
from relevansi.db.tables.people import Invitation
from relevansi.web.frame import access
from tests.conftest import copied
from tests.page import Page
from tests.stored_studies import open_study
from tests.web import visitors
from tests.web.phase_3.participants import NOBODY, consent_form, opened
from tests.web.roles import as_seen_by, is_open_to, is_refused, knocks
from tests.web.visitors import PASSWORD, invite, lock

HEADER = "X-Forwarded-Email"
OWNER = "dosen@kampus.example"
PROXY = "10.0.0.2"
VARIABLES = {
    "RELEVANSI_AUTH_HEADER": HEADER,
    "RELEVANSI_OWNERS": f"{OWNER}, Wakil@Kampus.example",
    "RELEVANSI_TRUSTED_PROXIES": PROXY,
}


@pytest.fixture(name="house", scope="module")
def _house(tmp_path_factory: pytest.TempPathFactory) -> tuple[Flask, Path]:
    """An application that is signed in to by the house, and its new database."""
    folder = tmp_path_factory.mktemp("house")
    app = create_app(Settings.from_environment({**VARIABLES, "RELEVANSI_INSTANCE": str(folder)}))
    app.extensions["database"].close()
    return app, Path(shutil.copy(folder / "relevansi.sqlite", folder / "new.sqlite"))


@pytest.fixture(name="app")
def _app(house: tuple[Flask, Path]) -> Iterator[Flask]:
    app, new = house
    copied(new, app.extensions["database"])
    yield app
    app.extensions["database"].close()


class Proxy:
    """What oauth2-proxy does: whoever has its own cookie is named, whatever the browser names."""

    def __init__(self, app: Flask) -> None:
        self._app = app
        self.person = ""

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        environ.pop("HTTP_X_FORWARDED_EMAIL", None)
        if self.person:
            environ["HTTP_X_FORWARDED_EMAIL"] = self.person
        environ |= {"HTTP_X_FORWARDED_FOR": "198.51.100.9", "REMOTE_ADDR": PROXY}
        return self._app(environ, start)


@pytest.fixture(name="proxy")
def _proxy(app: Flask) -> Proxy:
    return Proxy(app)


@pytest.fixture(name="browser")
def _browser(proxy: Proxy) -> Client:
    return Client(proxy)


def status_of(client: Client, address: str, **headers: str) -> int:
    merged = {"Accept-Language": "en", **headers}
    return client.get(address, headers=merged, follow_redirects=True).status_code


def web_database(app: Flask) -> Database:
    database: Database = app.extensions["database"]
    return database


@pytest.mark.parametrize("owner", [OWNER, "DOSEN@kampus.example", "wakil@kampus.example"])
def test_the_owner_is_on_a_list(proxy: Proxy, browser: Client, owner: str) -> None:
    proxy.person = owner

    assert status_of(browser, "/runs/") == 200
    assert browser.get("/sign-in").location == "/"


@pytest.mark.parametrize("name", ["ani@kampus.example", "Ani <Ani@Kampus.example>"])
def test_a_rater_is_who_was_invited_by_that_address(
    app: Flask, proxy: Proxy, browser: Client, name: str
) -> None:
    invite(web_database(app), name)
    proxy.person = "ani@kampus.example"

    assert status_of(browser, "/rate/") == 200
    assert status_of(browser, "/runs/") == 403  # the owner's


@pytest.mark.parametrize(
    "person", ["ani@kampus.example.org", "i@kampus.example", "kampus.example", "Ani", "%", ""]
)
def test_anybody_else_is_told_whom_to_ask(
    app: Flask, proxy: Proxy, browser: Client, person: str
) -> None:
    invite(web_database(app), "Ani <ani@kampus.example>")
    proxy.person = person
    response = browser.get("/runs/", headers={"Accept-Language": "en"}, follow_redirects=True)

    assert response.status_code == (403 if person else 401)
    assert (OWNER in response.text) == bool(person)


def test_a_withdrawn_invitation_ends_it_and_two_raters_of_one_address_are_nobody(
    app: Flask, proxy: Proxy, browser: Client
) -> None:
    invite(web_database(app), "ani@kampus.example")
    proxy.person = "ani@kampus.example"
    assert status_of(browser, "/rate/") == 200
    invite(web_database(app), "Ani <ani@kampus.example>")
    assert status_of(browser, "/rate/") == 403
    with open_study(web_database(app)) as (session, _study):
        for invitation in session.query(Invitation):
            invitation.withdrawn_at = access.now()

    assert status_of(browser, "/rate/") == 403


def test_the_header_of_anybody_else_opens_nothing(app: Flask) -> None:
    """Neither from afar nor on this machine, without a password too; no form signs in either."""
    headers = {HEADER: OWNER}
    closed = [knock for knock in knocks(app) if not is_open_to("stranger", knock.role)]
    assert len(closed) > 30
    for knock in closed:
        response = as_seen_by(app, None, knock, headers)
        assert is_refused(response.status_code, response.headers.get("Location", "")), knock
    for base in ({}, visitors.ELSEWHERE):
        client = app.test_client()
        client.environ_base.update(base)
        assert client.get("/", headers=headers).location.startswith("/sign-in")
        assert client.get("/sign-in", headers=headers).status_code == 401


def test_neither_password_nor_link_opens_anything(
    app: Flask, proxy: Proxy, browser: Client
) -> None:
    lock(web_database(app))
    link = invite(web_database(app), "Budi")
    for client in (Client(app), browser):
        assert client.post("/sign-in", data={"password": PASSWORD}).status_code == 401
        assert client.post(link).status_code == 401
        assert status_of(client, "/rate/") == 401
    proxy.person = "budi@kampus.example"
    assert browser.post(link).status_code == 403


def test_another_person_behind_one_browser_is_another_person(
    app: Flask, proxy: Proxy, browser: Client
) -> None:
    """Nothing that the first one's browser carries is of use to the second, or without a name."""
    invite(web_database(app), "ani@kampus.example")
    proxy.person = OWNER
    key = browser.get("/").headers[access.RATER]
    proxy.person = "ani@kampus.example"

    assert browser.get("/").headers[access.RATER] != key
    late = browser.post("/rate/", headers={access.RATER: key})
    assert late.status_code == 412  # a click of the first one that waited in the browser
    proxy.person = ""
    assert status_of(browser, "/") == 401


def test_a_participant_is_one_only_under_the_name_that_opened_the_link(
    app: Flask, proxy: Proxy, browser: Client
) -> None:
    link = opened(web_database(app), NOBODY)
    proxy.person = "mahasiswa@kampus.example"
    browser.post(link, data=consent_form(Page(browser.get(link))))
    assert status_of(browser, "/ask/") == 200

    proxy.person = "lain@kampus.example"
    assert status_of(browser, "/ask/") == 401
    proxy.person = "mahasiswa@kampus.example"
    assert status_of(browser, "/ask/") == 200


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"RELEVANSI_TRUSTED_PROXIES": ""}, "RELEVANSI_TRUSTED_PROXIES"),
        ({"RELEVANSI_OWNERS": " , "}, "RELEVANSI_OWNERS"),
        ({"RELEVANSI_AUTH_HEADER": ""}, "RELEVANSI_AUTH_HEADER"),
        ({"RELEVANSI_AUTH_HEADER": "X Email:"}, "RELEVANSI_AUTH_HEADER"),
    ],
)
def test_settings_by_which_nobody_or_anybody_could_come_in_are_refused(
    change: dict[str, str], name: str
) -> None:
    with pytest.raises(UnusableSetting, match=name):
        Settings.from_environment({**VARIABLES, **change})


def test_the_owner_is_told_how_raters_are_invited(proxy: Proxy, browser: Client) -> None:
    proxy.person = OWNER
    page = Page(browser.get("/raters/"))

    assert page.has("[name=by]")  # by link too, without a password
    assert not page.has("a[href='/password']")
