from __future__ import annotations

import base64
import hashlib
import json
import re
from io import BytesIO
from typing import Any

from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from relevansi import labels
from relevansi.db.engine import Database
from relevansi.db.tables.judging import Event, Judgment
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Run
from relevansi.exporters.offline import page as offline_page
from relevansi.exporters.offline.page import OfflineCard, OfflineQuestion, OfflineRun
from relevansi.kinds.property import Card
from relevansi.records import QueryState
from relevansi.services.people import raters
from tests.conftest import NOW
from tests.page import Page
from tests.services.exports.offline_files import change, ratings
from tests.services.rating.particulars import v2_answer
from tests.services.runs.runs import card, query, run
from tests.stored_studies import open_study
from tests.web.conftest import QUERIES, stored
from tests.web.frame.test_hostile_texts import HOSTILE, imported, texts
from tests.web.rating.blind_study import set_study
from tests.web.runs.test_imports import decide, tokens

DATA = ratings(
    run(*QUERIES),
    change(1, 1, "relevance", "1", rank=1),
    change(2, 1, "quality", 4),
    change(3, 3, "empty_outcome", "false_negative"),
)


def page(client: FlaskClient, run_id: str) -> Page:
    response = client.get(f"/runs/{run_id}/offline.html")
    assert response.status_code == 200
    return Page(response)


def test_it_counts_cannot_tell_as_the_study_does(
    client: FlaskClient, web_database: Database
) -> None:
    run_id = stored(web_database, QUERIES)
    assert described(page(client, run_id))["cannot_tell"] == "not_relevant"

    set_study(web_database, cannot_tell="left_out")

    after = page(client, run_id)
    assert described(after)["cannot_tell"] == "left_out"
    assert labels.CANNOT_TELL["left_out"] in after


def described(page: Page) -> dict[str, Any]:
    decoded: dict[str, Any] = json.loads(page.one("script#run[type='application/json']").content)
    return decoded


def drop(client: FlaskClient, data: bytes) -> Any:
    files = {"files": [(BytesIO(data), "ratings_Ani.json")]}
    return client.post("/runs/import", data=files, follow_redirects=True)


def test_the_page_is_one_file_that_may_load_nothing_and_run_its_own_scripts_alone(
    client: FlaskClient, run_id: str
) -> None:
    response = client.get(f"/runs/{run_id}/offline.html")
    html, script = Page(response), offline_page.bundle()

    assert "attachment; filename=rate_hybrid.html" in response.headers["Content-Disposition"]
    policy = html.one("meta[http-equiv=Content-Security-Policy]")["content"]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert not html.has("link, img, iframe, object, embed, video, audio, [src]")
    inside = [part.content for part in html.all("style, script:not(#run)")]
    assert len(inside) == 3
    for part in inside:
        digest = base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert script in inside[-1]
    assert not re.search(r"^\s*(?:import|export)\b", script, re.MULTILINE)
    assert "</script" not in script


def test_it_says_nothing_of_what_was_rated_here(
    client: FlaskClient, run_id: str, web_database: Database
) -> None:
    before = page(client, run_id).source
    drop_and_store(client)

    with web_database.reading() as session:
        assert session.scalars(select(Judgment)).first() is not None
    assert page(client, run_id).source == before


def test_both_languages_are_inside_each_with_its_decimal_sign_and_the_cut_off(
    client: FlaskClient, web_database: Database
) -> None:
    """The line after the fifth card is only where more than five cards are listed."""
    long, short = (query(n, *(card(f"{n}{at}") for at in range(10 // n))) for n in (1, 2))
    html = page(client, stored(web_database, [long, short]))

    parts = html.all("template[lang][dir=ltr]")
    decimal_signs = [(part["lang"], part.one("[data-decimal]")["data-decimal"]) for part in parts]
    assert decimal_signs == [("id", ","), ("en", ".")]
    assert [len(part.all(".cutoff")) for part in parts] == [1, 1]


def test_repeated_cards_share_a_verdict(client: FlaskClient, run_id: str) -> None:
    second = described(page(client, run_id))["queries"][1]["results"]

    assert [result["item"] for result in second] == [0, 1, 0]
    assert second[0]["identity"] == "slug:d"


def test_a_question_has_its_facts_and_the_owner_s_note(
    client: FlaskClient, web_database: Database
) -> None:
    run = imported(client, v2_answer(), "results.json").partition("/queries/")[0]
    set_study(web_database, show_record=True)
    (field,) = Page(client.get("/study/notes/")).values("[name^=note-]", "name")
    client.post("/study/notes/", data={field: "A carport\r\ncounts."})
    html = Page(client.get(f"{run}/offline.html"))

    assert "Dekat Sun Plaza (300 m)" in html
    assert "Known to the record only" in html
    assert "A carport\ncounts." in html.one("template[lang=en] .note-of-owner p").content


def test_in_a_blind_study_the_page_names_neither_run_nor_method(
    client: FlaskClient, web_database: Database
) -> None:
    secret = stored(web_database, QUERIES, method="secretmethod")
    stored(web_database, QUERIES, method="api_only")
    with web_database.writing() as session:
        stored_run = session.get_one(Run, secret)
        stored_run.llm, stored_run.timestamp = "secretllm", "20260126_141433"
        sha256, source = stored_run.files[0].sha256, stored_run.files[0].name
        session.commit()
    response = client.get(f"/runs/{secret}/offline.html")

    assert described(Page(response))["blind"]
    received = response.text + response.headers["Content-Disposition"]
    for name in (secret, "secretmethod", "secretllm", "20260126", sha256, source):
        assert name not in received


def hostile(text: str) -> OfflineRun:
    card = Card(title=text, url=text, location=text, certificate=text)
    question = OfflineQuestion(
        query_id=1,
        question=text,
        category=text,
        context_dependent=False,
        state=QueryState.RESULTS,
        response=text,
        error=text,
        cards=(OfflineCard(1, card, 0, f"title:{text}"),),
    )
    return OfflineRun(
        "ab",
        "x",
        (question,),
        blind=False,
        cannot_tell="not_relevant",
        search_method=text,
        llm=text,
    )


@texts()
def test_hostile_texts_stay_texts(app: Flask, name: str) -> None:
    question = HOSTILE[name].replace("\ud800", "")  # no import lets it in
    calm = offline_page.page(app.jinja_env, hostile("a"[: len(question)])).decode()
    text = offline_page.page(app.jinja_env, hostile(question)).decode()

    for acting in ("<script", "<style", "<template", "<svg", "<img", "<iframe", "<hx-"):
        assert text.count(acting) == calm.count(acting)
    html = Page(text)
    attributes = {name for element in html.all("*") for name in element.element.attrib}
    assert not [name for name in attributes if name.startswith("on")]
    assert not html.has("[href^='javascript:'], [href^='data:']")
    assert described(html)["queries"][0]["question"] == question


def drop_and_store(client: FlaskClient, rater: str = "Ani", data: bytes = DATA) -> Any:
    (token,) = tokens(drop(client, data))
    return decide(client, token, rater)


def test_ratings_are_told_before_they_are_stored_under_the_name_that_was_confirmed(
    client: FlaskClient, run_id: str, web_database: Database
) -> None:
    report = drop(client, DATA)
    assert run_id in report.text
    assert Page(report).one("input[name^=rater-]")["value"] == "Ani"
    with web_database.reading() as session:
        assert session.scalars(select(Event)).all() == []

    after = drop_and_store(client, "Budi")
    assert run_id in after.request.path
    with web_database.reading() as session:
        names = select(Rater.name).join(Event, Event.rater_id == Rater.id)
        assert set(session.scalars(names)) == {"Budi"}
    assert "imported before" in drop(client, DATA.replace(b'"Ani"', b'"Budi"')).text


def test_ratings_that_cannot_be_stored_stay_with_their_reason(
    client: FlaskClient, run_id: str, web_database: Database
) -> None:
    with open_study(web_database) as (session, study):
        raters.remove(session, raters.add(session, study, "Cici", NOW), NOW)
    after = drop_and_store(client, "Cici")

    assert "is of Cici, who" in after.text
    assert tokens(after)
    assert run_id in after.text


OTHER = ratings(
    run(*QUERIES),
    change(9, 1, "relevance", "0", rank=1, minute=9),
    change(10, 1, "relevance", "1", rank=3, minute=10),
    change(11, 1, "quality", 4, minute=11),
    device="other",
)


def verdicts(database: Database) -> list[str | None]:
    with database.reading() as session:
        statement = select(Judgment.verdict).order_by(Judgment.judged_item_id)
        return list(session.scalars(statement))


def test_a_file_in_an_existing_name_changes_nothing_until_it_is_ticked(
    client: FlaskClient, run_id: str, web_database: Database
) -> None:
    drop_and_store(client)
    before = verdicts(web_database)
    dropped = drop(client, OTHER)
    report = Page(dropped)

    assert "Ani is a rater of this study already. 3 changes in the file are new" in report
    assert report.rows("table.figures tbody") == [
        ["Judged cards", "1", "1", "0"],
        ["Empty lists", "0", "0", "0"],
        ["Quality grades", "0", "0", "1"],
        ["Notes", "0", "0", "0"],
    ]
    assert "1 judgment would become that of the file" in report
    assert "Question 1 A: here Relevant, in the file Not relevant" in report
    assert "These are ratings by Ani: store them in that name" in report

    (token,) = tokens(dropped)
    unconfirmed = decide(client, token, "Ani")
    assert "These files are not stored yet." in unconfirmed.text
    assert tokens(unconfirmed) == [token]
    assert verdicts(web_database) == before

    assert run_id in decide(client, token, "Ani", confirm="1").request.path
    assert sorted(map(str, verdicts(web_database))) == ["0", "1", "false_negative"]
    assert "imported before" in drop(client, OTHER).text


def test_ratings_that_waited_for_their_run_are_stored_once_their_report_was_shown(
    client: FlaskClient, web_database: Database
) -> None:
    (token,) = tokens(drop(client, DATA))
    run_id = stored(web_database, QUERIES)

    form = {"token": token, "action": "store"}
    response = client.post("/runs/import", data=form, follow_redirects=True)

    assert "No rater has this name yet" in response.text
    assert verdicts(web_database) == []
    assert run_id in decide(client, token, "Ani").request.path


def test_two_files_of_one_new_rater_are_stored_together(
    client: FlaskClient, run_id: str, web_database: Database
) -> None:
    files = [(BytesIO(data), f"{at}.json") for at, data in enumerate((DATA, OTHER))]
    both = tokens(client.post("/runs/import", data={"files": files}, follow_redirects=True))
    names = {f"{field}-{token}": "Ani" for token in both for field in ("rater", "reported_rater")}

    after = client.post("/runs/import", data={"token": both, "action": "store", **names})

    assert after.location == f"/runs/{run_id}/queries/1"
    assert sorted(map(str, verdicts(web_database))) == ["0", "1", "false_negative"]
