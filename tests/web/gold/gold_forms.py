"""The forms of gold questions, filled in and sent."""

from __future__ import annotations

import re
from typing import Any

from flask.testing import FlaskClient

from tests.conftest import NOW
from tests.services.gold.gold_files import GOLD, stored_run
from webapp.db.engine import Database
from webapp.services.study import studies

FIRST = {
    "number": "1",
    "question": GOLD["questions"][0]["question"],
    "category": "area",
    "expected": "has_data",
    "mode": "auto",
    "property_type": "house",
    "listing_type": "sale",
    "keywords": "cemara",
    "lat": "3,6",
    "lng": "98.7",
    "radius_km": "2",
    "price_max": "1 M",
    "action": "save",
}
"""The first gold question as somebody would type it."""


def edited(database: Database, *, with_gold: bool = True) -> str:
    with database.writing() as session:
        study = studies.open_or_make(session, NOW)
        owner = studies.raters(session, study)[0]
        run = stored_run(session, study, owner, with_gold=with_gold)
        address = f"/gold/{run.question_set_id}"
        session.commit()
    return address


def document(client: FlaskClient, editor: str) -> dict[str, object]:
    return dict(client.get(f"{editor}/questions.json").get_json())


def constraints(client: FlaskClient, editor: str, position: int = 0) -> object:
    questions = document(client, editor)["questions"]
    assert isinstance(questions, list)
    return questions[position]["constraints"]


def text_of(html: str) -> str:
    return " ".join(re.sub("<[^>]+>", " ", html.rsplit("<main", maxsplit=1)[-1]).split())


FULL: dict[str, Any] = {
    "id": 9,
    "question": "Rumah sekitar 1 M di Jl. Cemara, Medan?",
    "category": "area",
    "expected_result": "has_data",
    "evaluation_mode": "auto",
    "constraints": {
        "property_type": "house",
        "location": {"keywords": ["Jl. Cemara, Medan"], "lat": 3.628602097142661,
                     "lng": 98.69582971809083, "radius_km": 3},
        "price": {"target": 1_234_567_891, "tolerance": 0.123456, "currency": "IDR", "why": "x"},
        "bedrooms": {"min": 2, "max": 4},
        "floors": {"exact": 2},
        "garage": 1,
    },
    "notes": "kept",
}  # fmt: skip
"""A question with a target, a tolerance, counts, and what fields cannot say."""


def with_fields(client: FlaskClient, editor: str, number: int) -> dict[str, str]:
    """The form of a question as a browser would send it unchanged."""
    html = client.get(f"{editor}/questions/{number}").text
    fields = dict(re.findall(r'<input id="(\w+)" name="\w+" value="([^"]*)"', html))
    return fields | {"expected": "has_data", "mode": "auto", "listing_type": "", "action": "save"}
