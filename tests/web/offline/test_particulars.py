"""The facts and notes beside the cards of the page without a server."""

from __future__ import annotations

import re

from flask.testing import FlaskClient

from tests.services.rating.particulars import v2_answer
from tests.web.frame.test_hostile_texts import imported
from tests.web.rating.blind_study import set_study
from webapp.db.engine import Database

RECORD_ONLY = "Known to the record only"


def test_the_file_without_a_server_shows_the_same(
    client: FlaskClient, web_database: Database
) -> None:
    run = imported(client, v2_answer(), "results.json").split("?")[0]
    set_study(web_database, show_record=True)

    text = client.get(f"{run}/offline.html").text

    assert "Dekat Sun Plaza (300 m)" in text
    assert RECORD_ONLY in text
    assert "Hanya diketahui dari data listing" in text


def test_the_file_without_a_server_shows_the_note_of_a_question(client: FlaskClient) -> None:
    run = imported(client, v2_answer(), "results.json").split("?")[0]
    (field,) = re.findall(r'name="(note-\d+)"', client.get("/study/notes/").text)

    client.post("/study/notes/", data={field: "A carport\r\ncounts."})

    assert "A carport\ncounts." in client.get(f"{run}/offline.html").text
