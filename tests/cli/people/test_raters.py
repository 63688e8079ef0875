"""People are invited and listed from the terminal."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.cli.relevansi import document, relevansi
from tests.conftest import NOW
from tests.services.runs.runs import card, query, run
from tests.stored_studies import study_in
from webapp.services.people import raters, sign_in
from webapp.services.runs import imports
from webapp.services.runs.imports import Labels
from webapp.services.study import assignments, studies

LINK = re.compile(r"https?://\S+/join/([\w-]{32})")


def test_invite_prints_a_link_that_lets_its_rater_in(tmp_path: Path) -> None:
    done = relevansi(tmp_path, "invite", "Ani", "--base-url", "https://nilai.example/")

    assert done.returncode == 0, done.stderr
    link, *code = done.stdout.splitlines()
    found = LINK.fullmatch(link)
    assert found is not None
    assert link.startswith("https://nilai.example/join/")
    assert "█" in "".join(code)
    assert "It holds for 30 days." in done.stderr
    assert "set the owner's password" in done.stderr
    assert name_of(tmp_path, found[1], timedelta(days=29)) == "Ani"


def test_days_say_how_long_a_link_holds(tmp_path: Path) -> None:
    done = relevansi(tmp_path, "invite", "Ani", "--days", "1")

    found = LINK.match(done.stdout)
    assert found is not None
    assert name_of(tmp_path, found[1], timedelta(hours=23)) == "Ani"
    with pytest.raises(raters.NoWayIn):
        name_of(tmp_path, found[1], timedelta(hours=25))


def test_raters_are_listed_as_one_json_document(tmp_path: Path) -> None:
    relevansi(tmp_path, "invite", "Ani [bold]")
    relevansi(tmp_path, "invite", "Ani [bold]")

    owner, ani = document(relevansi(tmp_path, "raters", "--json"))["raters"]

    assert (owner["is_owner"], owner["invitations"], owner["last_seen"]) == (True, [], None)
    assert (ani["name"], ani["judgments"], ani["ratings"]) == ("Ani [bold]", 0, 0)
    assert [link["state"] for link in ani["invitations"]] == ["open", "open"]
    assert datetime.fromisoformat(ani["invitations"][0]["expires_at"]).tzinfo is not None
    listed = relevansi(tmp_path, "raters").stdout
    assert "Ani [bold]" in listed
    assert "invited" in listed


def test_the_list_says_which_questions_each_rater_gets(tmp_path: Path) -> None:
    relevansi(tmp_path, "invite", "Ani")
    with study_in(tmp_path) as (session, study):
        queries = (query(number, card("a")) for number in range(1, 5))
        imports.store(session, study, run(*queries), Labels(), NOW)
        _, ani = studies.raters(session, study)
        sets = assignments.numbered(session, study)
        assignments.assign(session, ani, assignments.read("1-2, 4", sets), NOW)

    owner, listed = document(relevansi(tmp_path, "raters", "--json"))["raters"]

    assert (owner["questions"], listed["questions"]) == (None, "1-2, 4")
    table = relevansi(tmp_path, "raters").stdout
    assert "1-2, 4" in table
    assert " all " in table


@pytest.mark.parametrize(
    ("given", "own"),
    [
        ("http://127.0.0.1:8899", "http://127.0.0.1:8899/sign-in"),
        ("https://nilai.example", "http://127.0.0.1:8800/sign-in"),
    ],
)
def test_the_owner_s_password_is_set_at_the_address_of_this_computer(
    tmp_path: Path, given: str, own: str
) -> None:
    done = relevansi(tmp_path, "invite", "Ani", "--base-url", given)

    assert f"set the owner's password at {own} on this computer" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("invite",), 2),
        (("invite", " "), 2),
        (("invite", "x" * 201), 2),
        (("invite", "Ani", "--days", "0"), 2),
        (("invite", "Ani", "--base-url", "nilai.example"), 2),
        (("invite", "owner"), 1),
    ],
)
def test_what_cannot_be_invited_is_said_in_one_line(
    tmp_path: Path, arguments: tuple[str, ...], code: int
) -> None:
    done = relevansi(tmp_path, *arguments)

    assert done.returncode == code
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1


def test_the_owner_is_not_invited_for_the_reason_that_the_page_gives(tmp_path: Path) -> None:
    done = relevansi(tmp_path, "invite", "owner")

    assert done.stderr.startswith("relevansi: The owner signs in with the password. ")


def test_a_forgotten_password_can_be_forgotten_here_too(tmp_path: Path) -> None:
    relevansi(tmp_path, "raters")
    with study_in(tmp_path) as (session, study):
        sign_in.set_password(session, study, "scrypt$...", datetime.now(UTC))

    assert relevansi(tmp_path, "raters", "--forget-password").returncode == 0

    with study_in(tmp_path) as (_, study):
        assert study.password is None


def name_of(instance: Path, token: str, later: timedelta) -> str:
    """Return whom a link lets in, `later` than now."""
    with study_in(instance) as (session, study):
        return raters.accept(session, study, token, datetime.now(UTC) + later).rater.name
