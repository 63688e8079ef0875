"""Coming in and going out, as browsers on this machine and elsewhere meet it."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import timedelta

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.conftest import NOW
from tests.web import visitors
from tests.web.people.signing_in import NEW, cookie, guess, person
from tests.web.visitors import PASSWORD, browser, invite, lock, owner
from webapp.db.engine import Database
from webapp.services.people import raters, sign_in
from webapp.services.people.sign_in import WAITING
from webapp.services.study import studies
from webapp.web.frame import access, origins, session_cookie
from webapp.web.people import sign_in as web_sign_in


class TestOnOneLaptop:
    def test_the_header_leads_to_the_choice_of_a_rater_and_back(
        self, client: FlaskClient, web_database: Database
    ) -> None:
        with web_database.writing() as session:
            study = studies.open_or_make(session, NOW)
            ani = raters.add(session, study, "Ani", NOW).id
            mine = raters.owner(session, study).id
            session.commit()
        assert 'href="/sign-in"' in client.get("/").text
        assert "Who is rating?" in client.get("/sign-in").text

        client.post("/sign-in/as", data={"rater": ani})
        assert person(client.get("/sign-in").text) == "Ani"
        assert client.get("/runs/").status_code == 403
        client.post("/sign-in/as", data={"rater": mine})
        assert client.get("/runs/").status_code == 200

    @pytest.mark.parametrize(("rater", "status"), [("", 400), ("x", 400), ("99", 404)])
    def test_a_rater_who_is_not_there_cannot_be_chosen(
        self, client: FlaskClient, rater: str, status: int
    ) -> None:
        assert client.post("/sign-in/as", data={"rater": rater}).status_code == status

    def test_a_removed_rater_is_not_at_work_any_more(
        self, client: FlaskClient, web_database: Database
    ) -> None:
        with web_database.writing() as session:
            ani = raters.add(session, studies.open_or_make(session, NOW), "Ani", NOW)
            session.commit()
            client.post("/sign-in/as", data={"rater": ani.id})
            raters.remove(session, ani, NOW)
            session.commit()

        assert client.get("/runs/").status_code == 200  # the owner again

    def test_once_somebody_is_invited_nobody_is_chosen(
        self, app: Flask, web_database: Database
    ) -> None:
        invite(web_database, "Ani")

        client = browser(app)
        assert client.get("/").headers["Location"] == "/sign-in?next=/"
        assert client.post("/sign-in/as", data={"rater": 1}).status_code == 403
        assert "Who is rating?" not in client.get("/sign-in").text


class TestTheFirstPassword:
    def test_it_is_set_on_this_machine_and_asked_for_ever_after(self, app: Flask) -> None:
        mine, other = browser(app), browser(app)

        assert mine.post("/password", data=NEW).status_code == 303
        assert mine.get("/runs/").status_code == 200
        assert other.get("/runs/").status_code == 303
        assert other.post("/password", data=NEW).status_code == 401
        assert other.post("/sign-in/first", data=NEW).status_code == 403

    def test_it_is_offered_here_when_somebody_was_invited_before(
        self, app: Flask, web_database: Database
    ) -> None:
        invite(web_database, "Ani")
        client = browser(app)

        assert 'action="/sign-in/first"' in client.get("/sign-in").text
        answer = client.post("/sign-in/first", data={**NEW, "next": "/runs/"})
        assert answer.headers["Location"] == "/runs/"
        assert client.get("/runs/").status_code == 200

    def test_it_is_never_set_from_elsewhere_without_the_link_of_the_terminal(
        self, app: Flask, web_database: Database
    ) -> None:
        invite(web_database, "Ani")
        client = browser(app, elsewhere=True)
        proxied = browser(app)
        proxied.environ_base["HTTP_X_FORWARDED_FOR"] = "192.0.2.7"

        for asking in (client, proxied):
            page = asking.get("/sign-in").text
            assert "The owner has set no password yet" in page
            assert 'type="password"' not in page
            assert asking.post("/sign-in/first", data=NEW).status_code == 403
            assert asking.post("/sign-in/first?setup=x", data=NEW).status_code == 403

    def test_the_link_of_the_terminal_sets_it_once(self, app: Flask) -> None:
        with app.extensions["database"].reading() as session:
            study = studies.open_or_make(session, NOW)
            key = sign_in.setup_key(study, str(app.secret_key))
        client = browser(app, elsewhere=True)
        assert client.get("/sign-in").status_code == 403
        assert client.get("/sign-in?setup=x").status_code == 403

        page = client.get(f"/sign-in?setup={key}").text
        assert f'action="/sign-in/first?setup={key}"' in page
        assert client.post(f"/sign-in/first?setup={key}", data=NEW).status_code == 303

        assert client.get("/runs/").status_code == 200
        again = browser(app, elsewhere=True).post(f"/sign-in/first?setup={key}", data=NEW)
        assert again.status_code == 403

    @pytest.mark.parametrize(
        ("said", "message"),
        [
            ({"password": "short", "again": "short"}, "10 to 200 characters"),
            ({"password": PASSWORD, "again": "another"}, "not the same"),
            ({}, "10 to 200 characters"),
        ],
    )
    @pytest.mark.parametrize("address", ["/password", "/sign-in/first"])
    def test_an_unfit_one_is_said_and_not_set(
        self, client: FlaskClient, address: str, said: dict[str, str], message: str
    ) -> None:
        answer = client.post(address, data=said)

        assert answer.status_code == 422
        assert message in answer.text
        assert browser(client.application).get("/runs/").status_code == 200


class TestTheOwner:
    def test_signs_in_from_anywhere_and_goes_on_to_what_was_asked_for(
        self, app: Flask, web_database: Database
    ) -> None:
        lock(web_database)
        client = browser(app, elsewhere=True)

        led = client.get("/runs/?x=1")
        assert led.status_code == 303
        assert led.headers["Location"] == "/sign-in?next=/runs/?x%3D1"
        page = client.get(led.headers["Location"]).text
        assert 'value="/runs/?x=1"' in page
        answer = client.post("/sign-in", data={"password": PASSWORD, "next": "/runs/?x=1"})

        assert answer.headers["Location"] == "/runs/?x=1"
        assert person(client.get("/runs/").text) == "Owner"

    @pytest.mark.parametrize(
        "leading",
        ["//evil.example", "https://evil.example", "/\\evil.example", "/\t/evil.example", "x", ""],
    )
    def test_is_never_led_away(self, app: Flask, web_database: Database, leading: str) -> None:
        lock(web_database)

        answer = browser(app).post("/sign-in", data={"password": PASSWORD, "next": leading})

        assert answer.headers["Location"] == "/"

    def test_is_told_when_the_password_is_wrong(self, app: Flask, web_database: Database) -> None:
        lock(web_database)

        answer = browser(app).post("/sign-in", data={"password": "wrong"})

        assert answer.status_code == 422
        assert "This is not the password" in answer.text
        assert "Set-Cookie" not in answer.headers

    def test_waits_after_five_wrong_ones_from_one_address(
        self, app: Flask, web_database: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        lock(web_database)
        assert guess(app, 5) == [422] * 5

        assert guess(app, 1, PASSWORD) == [429]
        assert guess(app, 1, PASSWORD, elsewhere=True) == [303]
        later = access.now() + timedelta(minutes=15)
        monkeypatch.setattr(access, "now", lambda: later)
        assert guess(app, 1, PASSWORD) == [303]

    def test_gets_in_by_a_browser_that_is_known_whoever_guesses_beside_it(
        self, app: Flask, web_database: Database
    ) -> None:
        lock(web_database)
        known = owner(app)
        known.post("/sign-out")
        assert guess(app, 60)[-1] == 429

        assert known.post("/sign-in", data={"password": PASSWORD}).status_code == 303

    def test_has_tries_of_its_own_in_a_browser_that_is_known_and_no_more_than_others(
        self, app: Flask, web_database: Database
    ) -> None:
        lock(web_database)
        known = owner(app)
        known.post("/sign-out")

        tried = [known.post("/sign-in", data={"password": "x"}).status_code for _ in range(6)]

        assert tried == [422] * 5 + [429]
        assert guess(app, 1) == [422]

    @pytest.mark.parametrize("made_up", ["", "x", "IngiIg.x"])
    def test_is_not_known_by_a_cookie_that_somebody_made_up(
        self, app: Flask, web_database: Database, made_up: str
    ) -> None:
        lock(web_database)
        guess(app, 5)
        client = browser(app)
        client.set_cookie(session_cookie.known_name(app), made_up, path="/sign-in")

        assert client.post("/sign-in", data={"password": PASSWORD}).status_code == 429

    def test_changes_the_password_while_others_guess(
        self, app: Flask, web_database: Database
    ) -> None:
        lock(web_database)
        client = owner(app)
        client.delete_cookie(session_cookie.known_name(app), path="/sign-in")
        guess(app, 6)

        answer = client.post("/password", data={**NEW, "old": PASSWORD})

        assert answer.headers["Location"] == "/raters/"

    def test_waits_seconds_for_others_and_not_at_all_in_a_browser_that_is_known(
        self, app: Flask, web_database: Database
    ) -> None:
        lock(web_database)
        known = owner(app)
        known.post("/sign-out")
        strangers = web_sign_in._QUEUES[False]
        with ExitStack() as full:
            for _place in range(1 + WAITING):
                assert strangers._places.acquire(blocking=False)
                full.callback(strangers._places.release)
            answer = browser(app).post("/sign-in", data={"password": PASSWORD})

            assert (answer.status_code, answer.headers["Retry-After"]) == (503, "3")
            assert known.post("/sign-in", data={"password": PASSWORD}).status_code == 303
        assert guess(app, 1, PASSWORD) == [303]

    def test_signs_out(self, app: Flask, web_database: Database) -> None:
        lock(web_database)
        client = owner(app)

        assert client.post("/sign-out").headers["Location"] == "/sign-in"

        assert client.get("/runs/").status_code == 303

    def test_signs_out_whoever_copied_the_cookie_and_no_other_browser(
        self, app: Flask, web_database: Database
    ) -> None:
        lock(web_database)
        client, other, thief = owner(app), owner(app), browser(app)
        thief.set_cookie(app.config["SESSION_COOKIE_NAME"], cookie(client))
        assert thief.get("/runs/").status_code == 200

        client.post("/sign-out")

        assert thief.get("/runs/").status_code == 303
        assert thief.post("/sign-out").status_code == 303  # once more harms nothing
        assert other.get("/runs/").status_code == 200

    def test_changes_the_password_and_every_other_browser_is_out(
        self, app: Flask, web_database: Database
    ) -> None:
        lock(web_database)
        here, there = owner(app), owner(app, elsewhere=True)
        new = {"password": "yang lain sama sekali", "again": "yang lain sama sekali"}

        assert here.post("/password", data={**new, "old": "wrong"}).status_code == 422
        assert there.get("/runs/").status_code == 200
        assert here.post("/password", data={**new, "old": PASSWORD}).status_code == 303

        assert here.get("/runs/").status_code == 200
        assert there.get("/runs/").status_code == 303


@pytest.mark.parametrize(
    ("address", "forwarded", "source"),
    [
        ("192.0.2.7", "", "192.0.2.7"),
        ("192.0.2.7", "198.51.100.1", "192.0.2.7"),  # only a proxy here is believed
        ("127.0.0.1", "198.51.100.1, 203.0.113.9", "203.0.113.9"),
        ("::1", "203.0.113.9", "203.0.113.9"),
        ("2001:db8:1:2:3:4:5:6", "", "2001:db8:1:2::/64"),
        ("127.0.0.1", "nonsense", "unknown"),
    ],
)
def test_failures_are_counted_by_the_machine_that_asks(
    app: Flask, address: str, forwarded: str, source: str
) -> None:
    headers = {"X-Forwarded-For": forwarded} if forwarded else {}

    with app.test_request_context(headers=headers, environ_base={"REMOTE_ADDR": address}):
        assert origins.source() == source


def test_visitors_elsewhere_are_answered_once_there_is_a_way_in(
    app: Flask, web_database: Database
) -> None:
    client = browser(app, elsewhere=True)
    assert client.get("/").status_code == 403
    assert client.get("/sign-in").status_code == 403
    assert client.get("/join/guess").status_code == 403

    invite(web_database, "Ani")

    assert client.get("/").status_code == 303
    assert client.get("/sign-in").status_code == 200
    assert visitors.ELSEWHERE["HTTP_HOST"] not in client.get("/sign-in").text
