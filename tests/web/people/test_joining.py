"""Raters who come in by an invitation, and the cookie that keeps them signed in."""

from __future__ import annotations

import os

import pytest
from flask import Flask

from tests.web.people.signing_in import cookie, finish, person
from tests.web.visitors import PASSWORD, browser, invite, invited, lock, owner
from webapp.config import secret_key
from webapp.db.engine import Database


class TestAnInvitedRater:
    def test_comes_in_by_the_button_on_any_device(self, app: Flask, web_database: Database) -> None:
        lock(web_database)
        path = invite(web_database, "Ani <b>&")

        for elsewhere in (False, True):
            client = browser(app, elsewhere=elsewhere)
            page = client.get(path)
            assert "Welcome, Ani &lt;b&gt;&amp;" in page.text
            assert "Set-Cookie" not in page.headers  # a preview of the link signs nobody in
            assert client.post(path).headers["Location"] == "/rate/"
            assert person(client.get("/sign-in").text) == "Ani &lt;b&gt;&amp;"

    def test_reads_the_name_of_an_unnamed_study_in_their_language(
        self, app: Flask, web_database: Database
    ) -> None:
        """Shown so to the owner too, where saving the form as it is renames nothing."""
        lock(web_database)
        path, client = invite(web_database, "Ani"), owner(app)
        for code, name in (("id", "Studi saya"), ("en", "My study")):
            page = browser(app).get(path, headers={"Accept-Language": code}).text
            form = client.get("/study/", headers={"Accept-Language": code}).text
            assert name in page
            assert f'value="{name}"' in form

    def test_needs_no_password_of_the_owner(self, app: Flask) -> None:
        client = invited(app, "Ani", elsewhere=True)

        assert client.get("/history/").status_code == 200

    @pytest.mark.parametrize("end", ["withdrawn", "expired", "removed", "deleted"])
    def test_is_out_at_once_when_the_invitation_ends(
        self, app: Flask, web_database: Database, end: str
    ) -> None:
        lock(web_database)
        client = invited(app, "Ani")
        assert client.get("/history/").status_code == 200

        finish(web_database, end)

        assert client.get("/history/").status_code == 303
        assert client.post("/history/undo", data={"latest": 1}).status_code == 401

    def test_every_link_that_lets_nobody_in_looks_the_same(
        self, app: Flask, web_database: Database
    ) -> None:
        lock(web_database)
        answers = []
        for end in ("withdrawn", "expired", "removed", "deleted"):
            path = invite(web_database, f"Ani {end}")
            finish(web_database, end, f"Ani {end}")
            answers += [browser(app).get(path), browser(app).post(path)]
        answers.append(browser(app).get("/join/unknown"))

        assert {answer.status_code for answer in answers} == {404}
        assert len({answer.text for answer in answers}) == 1
        assert "This link lets nobody in" in answers[0].text

    def test_comes_in_by_a_valid_link_however_many_others_were_tried(
        self, app: Flask, web_database: Database
    ) -> None:
        path = invite(web_database, "Ani")
        tried = [browser(app).get("/join/guess"), browser(app).post("/join/guess")] * 150
        assert {answer.status_code for answer in tried} == {404}

        assert browser(app).get(path).status_code == 200
        assert browser(app).post(path).status_code == 303

    def test_signs_out_on_this_device_and_not_on_another(self, app: Flask) -> None:
        client, thief = invited(app, "Ani"), browser(app)
        other = invited(app, "Ani")
        thief.set_cookie(app.config["SESSION_COOKIE_NAME"], cookie(client))

        client.post("/sign-out")

        assert thief.get("/history/").status_code == 303
        assert other.get("/history/").status_code == 200

    def test_opening_ones_own_link_again_and_again_is_no_guessing(
        self, app: Flask, web_database: Database
    ) -> None:
        path = invite(web_database, "Ani")

        assert {browser(app).get(path).status_code for _time in range(25)} == {200}


class TestTheCookie:
    @pytest.mark.parametrize(
        ("base", "headers", "secure"),
        [
            ("http://localhost", {}, False),
            ("https://nilai.example", {}, True),
            ("http://nilai.example", {"X-Forwarded-Proto": "https"}, True),
        ],
    )
    def test_is_for_this_site_s_requests_alone(
        self, app: Flask, web_database: Database, base: str, headers: dict[str, str], *,
        secure: bool,
    ) -> None:  # fmt: skip
        lock(web_database)

        answer = browser(app).post(
            "/sign-in", base_url=base, headers=headers, data={"password": PASSWORD}
        )

        signed_in, known = answer.headers.getlist("Set-Cookie")
        for said in (signed_in, known):
            assert "HttpOnly" in said
            assert "SameSite=Lax" in said
            assert "Domain" not in said
            assert "Expires" in said
            assert ("Secure" in said) == secure
        assert "Path=/;" in f"{signed_in};"
        assert "Path=/sign-in;" in f"{known};"  # no click carries it

    def test_is_set_when_signing_in_and_at_no_other_time(
        self, app: Flask, web_database: Database
    ) -> None:
        lock(web_database)
        client = owner(app)

        for address in ("/", "/runs/", "/static/frame/app.css?v=1"):
            with client.get(address) as answer:
                assert "Set-Cookie" not in answer.headers

    def test_of_another_secret_or_database_is_worth_nothing(
        self, app: Flask, web_database: Database
    ) -> None:
        lock(web_database)
        client = owner(app)
        app.secret_key = "another"

        assert client.get("/runs/").status_code == 303

    def test_is_signed_with_a_secret_of_the_folder(self, app: Flask) -> None:
        from pathlib import Path

        folder = Path(app.instance_path)

        assert app.secret_key == secret_key(folder)
        if os.name == "posix":  # Windows keeps rights in other ways
            assert (folder / "secret_key").stat().st_mode & 0o077 == 0
