"""The owner's page of the raters, a link shown once, and the log of every change."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select

from relevansi.db.engine import Database
from relevansi.db.tables.judging import Judgment
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import LongWork, Upload
from relevansi.records import Relevance
from relevansi.services.judging import judgments
from relevansi.services.people import raters, tokens
from relevansi.services.runs import reports, waiting_files
from relevansi.services.runs.file_formats import FileDecision
from relevansi.services.study import studies
from relevansi.services.workers import jobs, kinds
from relevansi.web.frame import access
from tests.conftest import NOW
from tests.page import Page
from tests.services.runs.runs import click
from tests.stored_studies import open_study
from tests.web import visitors
from tests.web.conftest import judge
from tests.web.roles import everything


@pytest.fixture(name="owner")
def _owner(app: Flask, web_database: Database) -> FlaskClient:
    visitors.lock(web_database)
    return visitors.owner(app)


@pytest.fixture(name="ani")
def _ani(web_database: Database) -> int:
    with web_database.writing() as session:
        rater_id = raters.add(session, studies.open_or_make(session, NOW), "Ani", NOW).id
        session.commit()
    return rater_id


def names(database: Database) -> list[str]:
    with database.reading() as session:
        return list(session.scalars(select(Rater.name).order_by(Rater.id)))


def test_an_invitation_is_shown_once_and_withdrawn(app: Flask, owner: FlaskClient) -> None:
    response = owner.post("/raters/", data={"name": "Ani", "by": "link", "days": "7"})
    assert response.status_code == 303

    page = Page(owner.get("/raters/"))
    link, code = page.one(".address").text, page.one("#link svg")
    assert link.startswith("http://localhost/join/")
    assert code["role"] == "img"
    assert not code.has("[style], [href], script, image, [fill^=url]")
    assert visitors.browser(app).post(link).status_code == 303
    page = Page(owner.get("/raters/"))
    assert not page.has(".address")
    assert page.submit(owner, "form.invitation").status_code == 303
    assert visitors.browser(app).post(link).status_code == 404
    assert owner.post("/raters/invitations/99/withdraw").status_code == 404
    page.submit(owner, "form[action$='/invitations']")
    assert Page(owner.get("/raters/")).has(".address")


def test_a_link_is_for_the_address_the_owner_used(app: Flask, owner: FlaskClient) -> None:
    assert owner
    base = "https://nilai.example"
    client = visitors.browser(app, elsewhere=True)
    client.post("/sign-in", base_url=base, data={"password": visitors.PASSWORD})
    client.post("/raters/", base_url=base, data={"name": "Ani", "by": "link"})

    page = client.get("/raters/", base_url=base).text

    assert "https://nilai.example/join/" in page
    assert "works on this computer only" not in page


def test_without_a_password_nobody_is_invited(client: FlaskClient, web_database: Database) -> None:
    assert client.post("/raters/", data={"name": "Ani", "by": "link"}).status_code == 409
    assert client.post("/raters/", data={"name": "Budi"}).status_code == 303

    assert names(web_database)[1:] == ["Budi"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("\x00 \n", "Please fill this in"),
        ("x" * 201, "This text is too long"),
        ("ani", "There is a rater of this name already"),
        ("Pemilik", "The owner signs in with the password"),
    ],
)
def test_an_unfit_name_is_told(owner: FlaskClient, ani: int, name: str, message: str) -> None:
    assert ani
    response = owner.post(
        "/raters/", data={"name": name, "by": "link" if name == "Pemilik" else ""}
    )

    assert response.status_code == 422
    assert message in response.text
    assert Page(response).has("[aria-describedby=name-error]")


def test_a_rater_is_renamed(owner: FlaskClient, web_database: Database, ani: int) -> None:
    hostile = "<script>alert(1)</script>\u202e{{7777*7777}}"
    owner.post(f"/raters/{ani}/name", data={"name": hostile})
    page = owner.get("/raters/").text
    assert "<script>alert" not in page
    assert "60481729" not in page
    owner_name = names(web_database)[0]

    assert owner.post(f"/raters/{ani}/name", data={"name": owner_name}).status_code == 409
    assert owner.post(f"/raters/{ani}/name", data={"name": " "}).status_code == 400
    assert owner.post(f"/raters/{ani}/name", data={"name": " Ani  S. "}).status_code == 303

    assert names(web_database)[1] == "Ani S."


def test_removing_says_what_goes_and_what_stays(
    owner: FlaskClient, web_database: Database, run_id: str, ani: int
) -> None:
    with web_database.writing() as session:
        rater = session.get_one(Rater, ani)
        judgments.judge(session, rater, run_id, 1, 1, Relevance.RELEVANT, click("a1"))
        session.commit()
    page = Page(owner.get(f"/raters/{ani}/remove"))
    assert "What stays and still counts: 1 judgment, 0 grades and notes" in page
    assert "the log of every click of theirs (1 entry)" in page

    owner.post(f"/raters/{ani}/remove", data={"judgments": "keep"})
    assert judgments_of(web_database, ani) == 1
    assert "removed" in owner.get("/raters/").text
    owner.post(f"/raters/{ani}/restore")
    assert Page(owner.get("/raters/")).has(f"form[action='/raters/{ani}/name']")
    owner.post(f"/raters/{ani}/remove", data={"judgments": "delete"})

    assert judgments_of(web_database, ani) == 0
    assert "Ani" not in names(web_database)
    assert owner.get(f"/raters/{ani}/remove").status_code == 404
    for way in ("keep", "delete"):
        assert owner.post("/raters/1/remove", data={"judgments": way}).status_code == 409


def test_a_deleted_name_is_nowhere(
    app: Flask, owner: FlaskClient, run_id: str, web_database: Database
) -> None:
    """In no table, neither in works nor in waiting files, nor in the bytes of the database.

    Works and files that do not name the person stay.
    """
    name, now = "Zedekia Ärö", access.now()
    client = visitors.invited(app, "Zedeka")
    with open_study(web_database) as (session, study):
        rater = raters.find_named(session, study, "Zedeka")
        assert rater is not None
        raters.rename(session, rater, name, now)
        rater_id = rater.id
        tokens.make(session, rater, "mine", ["judge"], now)
        for kind, order in (
            (jobs.PACK, kinds.order_to_pack(run_id, reports.of_rater(rater))),
            (jobs.PACK, kinds.order_to_pack(run_id, reports.Rule(reports.MAJORITY))),
            (
                jobs.IMPORTING,
                kinds.order_to_import([], FileDecision(rater=name.upper()), blind=None, confirm=0),
            ),
        ):
            jobs.enqueue(session, study, kind, order, now)
        job = jobs.find(session, study, jobs.enqueue(session, study, jobs.READING, {}, now))
        job.state, job.result = "done", {"grades": {name: 2}}
        for text in (f'{{"rater": "{name}"}}', json.dumps({"rater": name}), "of nobody"):
            upload = waiting_files.new_upload("ratings.json", text.encode())
            waiting_files.store_upload(session, study, upload, now)
    judge(client, run_id, 1)
    assert name.encode() in bytes_of(web_database)

    response = owner.post(f"/raters/{rater_id}/remove", data={"judgments": "delete"})

    assert response.status_code == 303
    words = json.dumps(everything(web_database), ensure_ascii=False).casefold()
    assert "zedek" not in words
    with web_database.reading() as session:
        assert [scalar.wanted for scalar in session.scalars(select(LongWork))] == [
            {"run": run_id, "rule": "majority"}
        ]
        assert [scalar.content for scalar in session.scalars(select(Upload))] == [b"of nobody"]
    assert b"zedek" not in bytes_of(web_database).lower()


def bytes_of(database: Database) -> bytes:
    """The bytes of SQLite's file and of those beside it."""
    path = Path(database.description)
    return b"".join(file.read_bytes() for file in path.parent.glob(path.name + "*"))


def judgments_of(database: Database, rater_id: int) -> int:
    with database.reading() as session:
        statement = select(func.count()).select_from(Judgment).where(Judgment.rater_id == rater_id)
        return session.scalar(statement) or 0


def test_changes_are_listed_filtered_and_undone(client: FlaskClient, run_id: str) -> None:
    """Two clicks on cards, one by a device that says so, and a note that a sheet would run."""
    assert not Page(client.get("/history/")).has(".narrowing")  # no filters over nothing
    for rank, body in ((1, {}), (2, {"device": "phone", "sequence": "2"})):
        judge(client, run_id, 1, rank, str(2 - rank), **body)
    client.post(f"/runs/{run_id}/queries/1/rating", data={"notes": "=cmd <script>"})

    page = Page(client.get("/history/"))
    assert page.count(".event") == 3
    assert "=cmd <script>" in page
    assert page.text.count("device phone, no. 2") == 1
    notes = Page(client.get("/history/?change=notes"))
    assert notes.count(".event") == 1
    assert notes.has("option[value=notes][selected]")
    assert not Page(client.get("/history/?change=quality")).has(".event")
    assert client.get("/history/?change=x&rater=y&question=z&before=w").status_code == 200
    for name in ("events.csv", "events.jsonl"):
        file = client.get(f"/history/{name}")
        assert "attachment" in file.headers["Content-Disposition"]
        assert "=cmd <script>" in file.text

    form = page.fields("form.standing")
    assert client.post("/history/undo").status_code == 400
    assert client.post("/history/undo", data=form).status_code == 303
    assert client.post("/history/undo", data={"latest": form["latest"]}).status_code == 409
    assert Page(client.get("/history/")).count(".event") == 4
