"""The facts that unfold under the cards of every rating page, and the notes above them."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient

from tests.services.rating.particulars import LISTED, v2_answer
from tests.web.frame.test_hostile_texts import HOSTILE, check, imported
from tests.web.rating.blind_study import begin, set_study
from webapp.db.engine import Database

RECORD_ONLY = "Known to the record only"


def known_of(html: str) -> list[str]:
    parts = re.findall(r'<div class="known".*?(?=<div id="badges|<article|<form)', html, re.DOTALL)
    return [" ".join(re.sub("<[^>]+>", " ", part).split()) for part in parts]


def test_a_card_unfolds_its_facts(client: FlaskClient, web_database: Database, run: str) -> None:
    page = f"{run}/queries/1"
    (words,) = known_of(client.get(page).text)
    assert "Dekat Sun Plaza (300 m)" in words
    assert "Lingkungan tenang" in words
    assert "cctv" in words
    assert "Ada carport." not in words

    set_study(web_database, show_record=True)
    (words,) = known_of(client.get(page).text)
    said, record = words.split(RECORD_ONLY)
    assert "Ada carport." in record
    assert "cctv" in said
    assert "raters can see under the cards" in client.get(run).text
    set_study(web_database, show_record=False)
    assert "raters could see under the cards" in client.get(run).text


def test_a_blind_page_names_no_run(client: FlaskClient, web_database: Database, run: str) -> None:
    imported(client, v2_answer("api_only", {**LISTED, "score": 0.91, "rank": 1}), "results.json")
    set_study(web_database, show_record=True, repeat_percent=0)

    html = client.get(begin(client)).text

    (words,) = known_of(html)
    assert RECORD_ONLY in words
    assert not re.search(r"hybrid|api_only|0\.91|results\.json", html)
    assert run not in html


@pytest.mark.parametrize("name", [name for name in HOSTILE if "long" not in name])
def test_hostile_facts_do_not_act(client: FlaskClient, web_database: Database, name: str) -> None:
    text = HOSTILE[name]
    said = {
        "description": text * 60, "facilities": [text], "address": text,
        "specifications": {text: text}, "nearby": [{"name": text}],
    }  # fmt: skip
    listed = {**LISTED, **said, "api_data": {"slug": "a", **{k: [v, "x"] for k, v in said.items()}}}
    data = v2_answer(listed=listed, line=text.replace("\n", " "), heading=text)
    run = imported(client, data, "results.json").split("?")[0]
    set_study(web_database, show_record=True)
    client.post("/study/notes/", data={"note-1": text.encode(errors="ignore").decode()})

    check(client.get(f"{run}/queries/1").text, name)
    check(client.get("/study/notes/").text, name)


def test_the_owner_writes_notes_that_raters_read(client: FlaskClient, run: str) -> None:
    (field,) = re.findall(r'name="(note-\d+)"', client.get("/study/notes/").text)
    assert client.post("/study/notes/", data={field: "A carport\r\ncounts."}).status_code == 303
    assert "A carport\ncounts." in client.get(f"{run}/queries/1").text

    answer = client.post("/study/notes/", data={field: "x" * 2001})

    assert answer.status_code == 422
    assert "x" * 2001 in answer.text
    assert "This text is too long." in answer.text
    assert "xxx" not in client.get(f"{run}/queries/1").text
