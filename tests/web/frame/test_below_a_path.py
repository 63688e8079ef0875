"""Below a path, as universities serve: no link, form, redirect or cookie leads past it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from relevansi.app import create_app
from relevansi.config import Settings, UnusableSetting, sqlite_url
from tests import demo
from tests.web.conftest import in_english

BASE = "/nilai/x1"
PAGES = ("", "runs/", "study/", "help/", "help/commands", "comparisons/", "rate/", "measures/")
ADDRESS = re.compile(r'(?:href|src|action|formaction|data-[\w-]+|hx-\w+)="(/[^"]*)"')


@pytest.fixture(name="file", scope="module")
def _file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return demo.restored(tmp_path_factory.mktemp("below"))


def app_at(file: Path, **settings: object) -> Flask:
    return create_app(Settings(sqlite_url(file), file.parent, **settings))  # type: ignore[arg-type]


@pytest.fixture(name="app", scope="module", params=["setting", "proxy"])
def _app(file: Path, request: pytest.FixtureRequest) -> Flask:
    """By a setting the whole path comes; a proxy takes it off and says which it was."""
    if request.param == "setting":
        return app_at(file, prefix=BASE)
    return app_at(file, trusted_proxies=("127.0.0.1",))


@pytest.fixture(name="client")
def _client(app: Flask) -> FlaskClient:
    client = in_english(app)
    client.environ_base["script"] = BASE
    if app.config["PREFIX"] != BASE:
        client.environ_base["HTTP_X_FORWARDED_PREFIX"] = BASE
        client.environ_base["script"] = ""
    return client


def at(client: FlaskClient, page: str) -> str:
    return f"{client.environ_base['script']}/{page}"


@pytest.mark.parametrize("page", PAGES)
def test_every_address_of_a_page_is_below_it(client: FlaskClient, page: str) -> None:
    answer = client.get(at(client, page), follow_redirects=False)
    if answer.status_code in {302, 303, 308}:
        assert answer.headers["Location"].startswith(f"{BASE}/")
        return

    assert answer.status_code == 200
    addresses = ADDRESS.findall(answer.text)
    assert len(addresses) > 5
    assert [address for address in addresses if not address.startswith(f"{BASE}/")] == []


def test_cookies_redirects_worker_and_description_name_it(client: FlaskClient) -> None:
    answer = client.post(at(client, "language"), data={"to": "id"})

    assert f"Path={BASE}/" in answer.headers["Set-Cookie"]
    assert answer.headers["Location"].startswith(f"{BASE}/")
    assert client.get(at(client, "runs")).headers["Location"] == f"{BASE}/runs/"
    assert f'"base": "{BASE}/"' in client.get(at(client, "service-worker.js")).text
    description = client.get(at(client, "api/v1/openapi.json")).get_json()
    assert description["servers"] == [{"url": f"{BASE}/api/v1"}]


def test_the_bare_path_leads_on_and_others_are_named(file: Path) -> None:
    client = app_at(file, prefix=BASE).test_client()

    assert client.get(f"{BASE}?a=1").headers["Location"] == f"{BASE}/?a=1"
    assert client.get("/runs/").status_code == 404
    assert f"{BASE}/" in client.get("/").text
    assert client.get("/healthz").status_code == 200


@pytest.mark.parametrize("path", ["/a b", "/../x", "//host", "/a?b", "/a//b"])
def test_a_path_that_no_address_can_begin_with_is_refused(path: str) -> None:
    if path == "//host":
        assert Settings.from_environment({"RELEVANSI_PREFIX": path}).prefix == "/host"
        return
    with pytest.raises(UnusableSetting, match="RELEVANSI_PREFIX"):
        Settings.from_environment({"RELEVANSI_PREFIX": path})
