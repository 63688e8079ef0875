"""The owner shows the notes of gold questions to raters, one or all."""

from __future__ import annotations

import re
from io import BytesIO

from flask.testing import FlaskClient

from tests.services.gold.gold_files import GOLD, gold_bytes
from tests.web.gold.gold_forms import edited
from webapp.db.engine import Database


def test_one_click_shows_one_gold_note_and_another_click_all(
    client: FlaskClient, web_database: Database
) -> None:
    asked = [{**one, "notes": f"Gold {one['id']} & more"} for one in GOLD["questions"]]
    file = BytesIO(gold_bytes(questions=asked)), "gold.json"
    client.post(f"{edited(web_database, with_gold=False)}/import", data={"file": file})
    page = client.get("/study/notes/").text
    _, second, third = re.findall(r'name="note-(\d+)"', page)
    assert "3 gold questions have notes that raters do not see" in page

    answer = client.post("/study/notes/", data={"show": second, f"note-{third}": "Mine"})

    assert answer.location.endswith(f"#note-{second}")
    page = client.get("/study/notes/").text
    assert "1 gold question has a note that raters do not see" in page
    assert "Gold 2 &amp; more</textarea>" in page
    assert f'name="show" value="{second}"' not in page
    assert f'name="show" value="{third}"' not in page

    client.post("/study/notes/", data={"show": "all"})

    page = client.get("/study/notes/").text
    assert "raters do not see" not in page
    shown = re.findall(r">\n(.*)</textarea>", page)
    assert shown == ["Gold 1 &amp; more", "Gold 2 &amp; more", "Mine"]
