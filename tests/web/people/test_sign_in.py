"""Coming in and going out, as browsers on this machine and elsewhere meet it."""

from __future__ import annotations

import os
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import pytest
from flask import Flask, request
from flask.testing import FlaskClient
from sqlalchemy import update

from relevansi.app import create_app
from relevansi.config import Settings, secret_key, sqlite_url
from relevansi.db.engine import Database
from relevansi.db.tables.people import Invitation
from relevansi.services.people import raters, sign_in
from relevansi.services.people.passwords import WAITING
from relevansi.services.people.tries import TRIES_OF_STRANGERS
from relevansi.services.study import studies
from relevansi.web.frame import access, origins, session_cookie
from relevansi.web.people import sign_in as web_sign_in
from tests.conftest import NOW
from tests.page import Page
from tests.stored_studies import open_study
from tests.web import visitors
from tests.web.programs.program import Program
from tests.web.visitors import PASSWORD, browser, goes_to, invite, invited, lock, owner

NEW = {"password": PASSWORD, "again": PASSWORD}


def person(client: FlaskClient) -> str:
    """Return whose name stands in the header."""
    return Page(client.get("/sign-in")).one("#account p > b").text


def guess(app: Flask, times: int, password: str = "wrong", *, elsewhere: bool = False) -> list[int]:
    """Return how so many browsers that nobody knows are answered to a password."""
    form = {"password": password}
    return [
        browser(app, elsewhere=elsewhere).post("/sign-in", data=form).status_code
        for _ in range(times)
    ]


def thief_of(client: FlaskClient) -> FlaskClient:
    """Return another browser with a copy of the cookie by which a browser is signed in."""
    name = client.application.config["SESSION_COOKIE_NAME"]
    result, thief = client.get_cookie(name), browser(client.application)
    assert result is not None
    thief.set_cookie(name, result.value)
    return thief


def finish(database: Database, end: str, name: str = "Ani") -> None:
    """End the invitation of a rater in one of four ways."""
    with database.writing() as session:
        rater = raters.find_named(session, studies.open_or_make(session, NOW), name)
        assert rater is not None
        if end == "removed":
            raters.remove(session, rater, NOW)
        elif end == "deleted":
            raters.delete_rater(session, rater, NOW)
        else:
            column = "withdrawn_at" if end == "withdrawn" else "expires_at"
            session.execute(
                update(Invitation).where(Invitation.rater_id == rater.id).values({column: NOW})
            )
        session.commit()


class TestOnOneLaptop:
    def test_a_rater_is_chosen(self, client: FlaskClient, web_database: Database) -> None:
        with open_study(web_database) as (session, study):
            ani = raters.add(session, study, "Ani", NOW).id
            mine = raters.owner(session, study).id
        assert "/sign-in" in Page(client.get("/")).links()
        for rater, status in (("", 400), ("x", 400), ("99", 404)):
            assert client.post("/sign-in/as", data={"rater": rater}).status_code == status

        client.post("/sign-in/as", data={"rater": ani})
        assert person(client) == "Ani"
        assert client.get("/runs/").status_code == 403
        client.post("/sign-in/as", data={"rater": mine})
        assert client.get("/runs/").status_code == 200
        client.post("/sign-in/as", data={"rater": ani})
        finish(web_database, "removed")
        assert client.get("/runs/").status_code == 200  # the owner again

    def test_once_invited_nobody_is_chosen(self, app: Flask, web_database: Database) -> None:
        away = browser(app, elsewhere=True)
        for path in ("/", "/sign-in", "/join/guess"):
            assert away.get(path).status_code == 403
        invite(web_database, "Ani")

        client = browser(app)
        assert client.get("/").headers["Location"] == "/sign-in?next=/"
        assert client.post("/sign-in/as", data={"rater": 1}).status_code == 403
        assert away.get("/").status_code == 303
        assert away.get("/sign-in").status_code == 200
        assert visitors.ELSEWHERE["HTTP_HOST"] not in away.get("/sign-in").text


class TestTheFirstPassword:
    def test_it_is_set_on_this_machine_and_asked_for_ever_after(self, app: Flask) -> None:
        first, second = browser(app), browser(app)

        assert first.post("/password", data=NEW).status_code == 303
        assert first.get("/runs/").status_code == 200
        assert second.get("/runs/").status_code == 303
        assert second.post("/password", data=NEW).status_code == 401
        assert second.post("/sign-in/first", data=NEW).status_code == 403

    def test_it_is_not_set_from_elsewhere(self, app: Flask, web_database: Database) -> None:
        invite(web_database, "Ani")
        client = browser(app, elsewhere=True)
        proxied = browser(app)
        proxied.environ_base["HTTP_X_FORWARDED_FOR"] = "192.0.2.7"

        for asking in (client, proxied):
            assert not Page(asking.get("/sign-in")).has("[type=password]")
            assert asking.post("/sign-in/first", data=NEW).status_code == 403
            assert asking.post("/sign-in/first?setup=x", data=NEW).status_code == 403
        here = browser(app)
        form = Page(here.get("/sign-in"))
        response = form.submit(here, "form[action='/sign-in/first']", **NEW, next="/runs/")
        assert goes_to(here, response) == "/runs/"
        assert here.get("/runs/").status_code == 200

    def test_the_link_of_the_terminal_sets_it_once(self, app: Flask) -> None:
        with open_study(app.extensions["database"]) as (_session, study):
            key = sign_in.setup_key(study, str(app.secret_key))
        client = browser(app, elsewhere=True)
        assert client.get("/sign-in?setup=x").status_code == 403

        page = Page(client.get(f"/sign-in?setup={key}"))
        form = f"form[action='/sign-in/first?setup={key}']"
        assert page.submit(client, form, **NEW).status_code == 303

        assert client.get("/runs/").status_code == 200
        again = browser(app, elsewhere=True).post(f"/sign-in/first?setup={key}", data=NEW)
        assert again.status_code == 403

    @pytest.mark.parametrize(
        ("form", "message"),
        [
            ({"password": "short", "again": "short"}, "10 to 200 characters"),
            ({"password": PASSWORD, "again": "another"}, "not the same"),
        ],
    )
    def test_an_unfit_one_is_said_and_not_set(
        self, client: FlaskClient, form: dict[str, str], message: str
    ) -> None:
        for address in ("/password", "/sign-in/first"):
            response = client.post(address, data=form)
            assert response.status_code == 422
            assert message in response.text
        assert browser(client.application).get("/runs/").status_code == 200


class TestTheOwner:
    def test_goes_on_to_what_was_asked_for(self, app: Flask, web_database: Database) -> None:
        lock(web_database)
        client = browser(app, elsewhere=True)

        led = client.get("/runs/?x=1").headers["Location"]
        assert led == "/sign-in?next=/runs/?x%3D1"
        assert Page(client.get(led)).one("[name=next]")["value"] == "/runs/?x=1"
        wrong = client.post("/sign-in", data={"password": "wrong"})
        assert wrong.status_code == 422
        assert Page(wrong).has("#password-error")
        assert "Set-Cookie" not in wrong.headers
        response = client.post("/sign-in", data={"password": PASSWORD, "next": "/runs/?x=1"})

        assert goes_to(client, response) == "/runs/?x=1"
        assert person(client) == "Owner"
        for away in ("//evil.example", "https://evil.example", "/\\evil.example", "/\t/evil", "x"):
            data = {"password": PASSWORD, "next": away}
            second = browser(app)
            assert goes_to(second, second.post("/sign-in", data=data)) == "/"
            assert "evil" not in client.get("/password", query_string={"next": away}).text

    def test_waits_after_five_wrong_ones_from_one_address_but_in_a_known_browser(
        self, app: Flask, web_database: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        lock(web_database)
        returning = owner(app)
        returning.post("/sign-out")
        assert guess(app, 5) == [422] * 5

        assert guess(app, 1, PASSWORD) == [429]
        assert guess(app, 1, PASSWORD, elsewhere=True) == [303]
        for made_up in ("", "x", "IngiIg.x"):
            client = browser(app)
            client.set_cookie(session_cookie.browser_cookie_name(app), made_up, path="/sign-in")
            assert client.post("/sign-in", data={"password": PASSWORD}).status_code == 429
        assert returning.post("/sign-in", data={"password": PASSWORD}).status_code == 303
        returning.post("/sign-out")
        tried = [returning.post("/sign-in", data={"password": "x"}).status_code for _ in range(6)]
        assert tried == [422] * 5 + [429]
        later = access.now() + timedelta(minutes=15)
        monkeypatch.setattr(access, "now", lambda: later)
        assert guess(app, 1, PASSWORD) == [303]

    def test_waits_for_none_in_a_known_browser(self, app: Flask, web_database: Database) -> None:
        lock(web_database)
        returning = owner(app)
        returning.post("/sign-out")
        strangers = web_sign_in._QUEUES[False]
        with ExitStack() as full:
            for _place in range(1 + WAITING):
                assert strangers._places.acquire(blocking=False)
                full.callback(strangers._places.release)
            response = browser(app).post("/sign-in", data={"password": PASSWORD})

            assert (response.status_code, response.headers["Retry-After"]) == (503, "3")
            assert returning.post("/sign-in", data={"password": PASSWORD}).status_code == 303
        assert guess(app, 1, PASSWORD) == [303]

    def test_signs_out_copies_of_the_cookie(self, app: Flask, web_database: Database) -> None:
        lock(web_database)
        client, second = owner(app), owner(app)
        thief = thief_of(client)
        assert thief.get("/runs/").status_code == 200

        assert client.post("/sign-out").headers["Location"] == "/sign-in"

        for out in (client, thief):
            assert out.get("/runs/").status_code == 303
        assert thief.post("/sign-out").status_code == 303  # once more harms nothing
        assert second.get("/runs/").status_code == 200

    def test_changes_the_password(self, app: Flask, web_database: Database) -> None:
        lock(web_database)
        here, elsewhere = owner(app), owner(app, elsewhere=True)
        here.delete_cookie(session_cookie.browser_cookie_name(app), path="/sign-in")
        guess(app, 6)
        new = {"password": "yang lain sama sekali", "again": "yang lain sama sekali"}

        assert here.post("/password", data={**new, "old": "wrong"}).status_code == 422
        assert elsewhere.get("/runs/").status_code == 200
        assert here.post("/password", data={**new, "old": PASSWORD}).location == "/raters/"

        assert here.get("/runs/").status_code == 200
        assert elsewhere.get("/runs/").status_code == 303


class TestAnInvitedRater:
    def test_comes_in_on_any_device(self, app: Flask, web_database: Database) -> None:
        path = invite(web_database, "Ani <b>&")

        clients = [browser(app, elsewhere=elsewhere) for elsewhere in (False, True)]
        for client in clients:
            page = client.get(path)
            assert "Ani <b>&" in Page(page)
            assert "Set-Cookie" not in page.headers  # a preview of the link signs nobody in
            assert goes_to(client, client.post(path)) == "/rate/"
            assert person(client) == "Ani <b>&"
        first, second = clients
        thief = thief_of(first)
        first.post("/sign-out")
        assert thief.get("/history/").status_code == 303
        assert second.get("/history/").status_code == 200

    def test_reads_the_study_name_translated(self, app: Flask, web_database: Database) -> None:
        lock(web_database)
        path = invite(web_database, "Ani")
        for code, name in (("id", "Studi saya"), ("en", "My study")):
            assert name in browser(app).get(path, headers={"Accept-Language": code}).text

    def test_is_out_once_the_invitation_ends(self, app: Flask, web_database: Database) -> None:
        lock(web_database)
        responses = [browser(app).get("/join/unknown")]
        for end in ("withdrawn", "expired", "removed", "deleted"):
            path, client = invite(web_database, f"Ani {end}"), invited(app, f"Ani {end}")
            assert client.get("/history/").status_code == 200

            finish(web_database, end, f"Ani {end}")

            assert client.get("/history/").status_code == 303
            assert client.post("/history/undo", data={"latest": 1}).status_code == 401
            responses += [browser(app).get(path), browser(app).post(path)]
        assert {response.status_code for response in responses} == {404}
        assert len({response.text for response in responses}) == 1

    def test_comes_in_despite_wrong_guesses(self, app: Flask, web_database: Database) -> None:
        path = invite(web_database, "Ani")
        for _guess in range(TRIES_OF_STRANGERS + 1):
            assert browser(app).post("/join/guess").status_code == 404

        assert browser(app).post(path).status_code == 303


class TestTheCookie:
    @pytest.mark.parametrize(
        ("base", "headers", "secure"),
        [
            ("http://localhost", {}, False),
            ("https://nilai.example", {}, True),
            ("http://nilai.example", {"X-Forwarded-Proto": "https"}, False),  # of anybody
        ],
    )
    def test_is_for_this_site_s_requests_alone(
        self, app: Flask, web_database: Database, base: str, headers: dict[str, str], *,
        secure: bool,
    ) -> None:  # fmt: skip
        lock(web_database)

        response = browser(app).post(
            "/sign-in", base_url=base, headers=headers, data={"password": PASSWORD}
        )

        session, browser_cookie = response.headers.getlist("Set-Cookie")
        for cookie in (session, browser_cookie):
            assert "HttpOnly" in cookie
            assert "SameSite=Lax" in cookie
            assert "Domain" not in cookie
            assert "Expires" in cookie
            assert ("Secure" in cookie) == secure
        assert "Path=/;" in f"{session};"
        assert "Path=/sign-in;" in f"{browser_cookie};"  # no click carries it

    def test_is_worth_nothing_under_another_key(self, app: Flask, web_database: Database) -> None:
        lock(web_database)
        client, folder = owner(app), Path(app.instance_path)
        for address in ("/", "/runs/", "/static/frame/parts.css?v=1"):
            with client.get(address) as answer:
                assert "Set-Cookie" not in answer.headers
        assert app.secret_key == secret_key(folder)
        if os.name == "posix":  # Windows keeps rights in other ways
            assert (folder / "secret_key").stat().st_mode & 0o077 == 0

        app.secret_key = "another"
        assert client.get("/runs/").status_code == 303


@pytest.mark.parametrize("ends", [False, True])
def test_tokens_end_with_a_password_where_that_is_chosen(
    app: Flask, web_database: Database, *, ends: bool
) -> None:
    """The form says how many go on else; a rater's own are never touched."""
    lock(web_database)
    mine, theirs = Program(app, "read"), Program(app, "judge", rater="Ani")
    browser_of_owner = owner(app)
    page = Page(browser_of_owner.get("/password"))
    assert page.has("[name=ends_tokens]:not([checked])")
    form = {"old": PASSWORD, **NEW, **({"ends_tokens": "1"} if ends else {})}
    assert browser_of_owner.post("/password", data=form).status_code == 303

    assert mine.ask("GET", "/runs").status_code == (401 if ends else 200)
    assert theirs.ask("POST", "/tasks").status_code == 200
    assert Page(browser_of_owner.get("/password")).has("[name=ends_tokens]") != ends


def test_tries_count_by_address(tmp_path: Path) -> None:
    """Only proxies that a setting names say who sends a request, and how it came."""
    proxies = ("10.0.0.0/24", "2001:db8::1")
    app = create_app(Settings(sqlite_url(tmp_path / "s.sqlite"), tmp_path, trusted_proxies=proxies))
    senders: list[tuple[str, str]] = []

    @app.before_request
    def note_sender() -> None:
        senders.append((origins.source(), request.scheme))

    for address, forwarded, source, scheme in (
        ("192.0.2.7", "", "192.0.2.7", "http"),
        ("192.0.2.7", "198.51.100.1", "192.0.2.7", "http"),  # no proxy that is named
        ("127.0.0.1", "198.51.100.1", "127.0.0.1", "http"),
        ("10.0.0.9", "198.51.100.1, 203.0.113.9", "203.0.113.9", "https"),
        ("10.1.2.3", "203.0.113.9", "10.1.2.3", "http"),
        ("::ffff:10.0.0.9", "203.0.113.9", "203.0.113.9", "https"),
        ("2001:db8::1", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64", "https"),
        ("2001:db8:1:2:3:4:5:6", "", "2001:db8:1:2::/64", "http"),
        ("10.0.0.9", "nonsense", "unknown", "https"),
        ("", "203.0.113.9", "unknown", "http"),
    ):
        headers = {"X-Forwarded-For": forwarded, "X-Forwarded-Proto": "https"} if forwarded else {}
        app.test_client().get("/healthz", headers=headers, environ_base={"REMOTE_ADDR": address})
        assert senders.pop() == (source, scheme), (address, forwarded)
    app.extensions["database"].close()


def test_made_up_addresses_give_no_further_tries(app: Flask, web_database: Database) -> None:
    """Neither in a header nor truly: strangers together have a limit, and the owner comes in.

    The right password of a stranger is no wrong one.
    """
    lock(web_database)
    returning = owner(app)
    returning.post("/sign-out")
    statuses = []
    for number in range(40):
        environ = {"HTTP_X_FORWARDED_FOR": f"198.51.100.{number}"}
        statuses.append(
            browser(app)
            .post("/sign-in", data={"password": "wrong"}, environ_base=environ)
            .status_code
        )
    assert statuses == [422] * 5 + [429] * 35

    afar = []
    for number in range(30):
        environ = {**visitors.ELSEWHERE, "REMOTE_ADDR": f"198.51.100.{number}"}
        form = {"password": PASSWORD if number == 3 else "wrong"}
        afar.append(browser(app).post("/sign-in", data=form, environ_base=environ).status_code)
    # Five were wrong before, and one of these was right.
    assert afar == [422] * 3 + [303] + [422] * 22 + [429] * 4
    assert returning.post("/sign-in", data={"password": PASSWORD}).status_code == 303


@pytest.mark.parametrize("way", ["invitation", "password"])
def test_a_browser_that_keeps_no_cookie_is_told_so(
    app: Flask, web_database: Database, way: str
) -> None:
    link = invite(web_database, "Ani")
    lock(web_database)
    blocked, usual = app.test_client(use_cookies=False), browser(app)
    path, form = (link, {}) if way == "invitation" else ("/sign-in", {"password": PASSWORD})

    response = blocked.post(
        path, data=form, follow_redirects=True, headers={"Accept-Language": "en"}
    )
    assert response.status_code == 400
    assert len(response.history) == 1
    assert "keeps no cookie" in response.text
    assert usual.post(path, data=form, follow_redirects=True).status_code == 200
