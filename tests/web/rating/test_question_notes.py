"""The owner writes notes on questions, which raters read."""

from __future__ import annotations

import re

from flask.testing import FlaskClient


def test_the_owner_writes_notes_that_raters_read(client: FlaskClient, run: str) -> None:
    page = client.get("/study/notes/").text
    (field,) = re.findall(r'name="(note-\d+)"', page)

    answer = client.post("/study/notes/", data={field: "A carport\r\ncounts."})

    assert answer.status_code == 303
    assert "A carport\ncounts.</textarea>" in client.get("/study/notes/").text
    assert "A carport\ncounts." in client.get(f"{run}/queries/1").text


def test_a_note_that_is_too_long_is_shown_again_and_not_stored(
    client: FlaskClient, run: str
) -> None:
    (field,) = re.findall(r'name="(note-\d+)"', client.get("/study/notes/").text)

    answer = client.post("/study/notes/", data={field: "x" * 2001})

    assert answer.status_code == 422
    assert "x" * 2001 in answer.text
    assert "This text is too long." in answer.text
    assert "xxx" not in client.get(f"{run}/queries/1").text
