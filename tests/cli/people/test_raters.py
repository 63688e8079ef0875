"""People are invited and listed from the terminal."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from relevansi.services.people import raters, sign_in
from relevansi.services.study import assignments, studies
from tests.cli.relevansi import document, relevansi
from tests.conftest import NOW
from tests.services.runs.runs import card, query, run, store
from tests.stored_studies import study_in

LINK = re.compile(r"https?://\S+/join/([\w-]{32})")


def test_invite_prints_a_link_that_lets_its_rater_in(tmp_path: Path) -> None:
    process = relevansi(
        tmp_path, "invite", "Ani", "--base-url", "https://nilai.example/", "--days", "7"
    )

    assert process.returncode == 0, process.stderr
    link, *code = process.stdout.splitlines()
    result = LINK.fullmatch(link)
    assert result is not None
    assert link.startswith("https://nilai.example/join/")
    assert "█" in "".join(code)
    assert "7 days" in process.stderr
    assert "http://127.0.0.1:8800/sign-in on this computer" in process.stderr
    assert name_of(tmp_path, result[1], timedelta(days=6)) == "Ani"
    with pytest.raises(raters.NoWayIn):
        name_of(tmp_path, result[1], timedelta(days=8))


def test_raters_are_listed_with_their_links_and_questions(tmp_path: Path) -> None:
    for _twice in range(2):
        relevansi(tmp_path, "invite", "Ani [bold]")
    with study_in(tmp_path) as (session, study):
        queries = (query(number, card("a")) for number in range(1, 5))
        store(session, study, run(*queries))
        _, ani = studies.raters(session, study)
        sets = assignments.numbered(session, study)
        assignments.assign(session, ani, assignments.read("1-2, 4", sets), NOW)

    owner, listed = document(relevansi(tmp_path, "raters", "--json"))["raters"]

    assert (owner["is_owner"], owner["invitations"], owner["last_seen"]) == (True, [], None)
    assert (owner["questions"], listed["questions"]) == (None, "1-2, 4")
    assert (listed["name"], listed["judgments"], listed["ratings"]) == ("Ani [bold]", 0, 0)
    assert [link["state"] for link in listed["invitations"]] == ["open", "open"]
    assert datetime.fromisoformat(listed["invitations"][0]["expires_at"]).tzinfo is not None
    table = relevansi(tmp_path, "raters").stdout
    assert "Ani [bold]" in table
    assert "1-2, 4" in table
    assert " all " in table


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
def test_invalid_invitations_are_told(
    tmp_path: Path, arguments: tuple[str, ...], code: int
) -> None:
    process = relevansi(tmp_path, *arguments)

    assert process.returncode == code
    assert process.stdout == ""
    assert len(process.stderr.strip().splitlines()) == 1


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
