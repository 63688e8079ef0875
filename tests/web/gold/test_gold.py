from __future__ import annotations

import json
from io import BytesIO
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.page import Page
from tests.services.gold.gold_files import GOLD, stored_run
from tests.stored_studies import open_study
from tests.web.conftest import PART, WAYS
from tests.web.frame.test_hostile_texts import HOSTILE, check
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
    with open_study(database) as (session, study):
        owner = studies.raters(session, study)[0]
        run = stored_run(session, study, owner, with_gold=with_gold)
        return f"/gold/{run.question_set_id}"


def document(client: FlaskClient, editor: str) -> dict[str, Any]:
    return dict(client.get(f"{editor}/questions.json").get_json())


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
    return Page(client.get(f"{editor}/questions/{number}")).fields("form.editor") | {
        "action": "save"
    }


@pytest.fixture(name="editor")
def _editor(web_database: Database) -> str:
    """The address of the made-up set's gold questions."""
    return edited(web_database)


@pytest.fixture(name="full")
def _full(client: FlaskClient, editor: str) -> str:
    """The editor, the full question taken in."""
    file = (BytesIO(json.dumps({"threshold_t": 0.65, "questions": [FULL]}).encode()), "gold.json")
    assert client.post(f"{editor}/import", data={"file": file}).status_code == 303
    return editor


@pytest.mark.parametrize("language", ["en", "id"])
def test_a_form_saved_as_it_is(client: FlaskClient, full: str, language: str) -> None:
    client.environ_base["HTTP_ACCEPT_LANGUAGE"] = language
    fields = with_fields(client, full, 9)

    assert fields["price_target"].replace(".", "").replace(",", "") == "1234567891"
    counts = [fields[name] for name in ("bedrooms_min", "bedrooms_max", "floors_exact")]
    assert counts == ["2", "4", "2"]
    assert client.post(f"{full}/questions/9", data=fields).status_code == 303
    assert document(client, full)["questions"] == [FULL]
    assert client.get(f"{full}/questions.json?version=3").status_code == 404


def test_what_is_edited_changes_and_the_rest_stays(client: FlaskClient, full: str) -> None:
    typed = {"price_target": "1,5 M", "price_tolerance": "10", "bedrooms_exact": "3",
             "bedrooms_min": "", "bedrooms_max": ""}  # fmt: skip
    client.post(f"{full}/questions/9", data=with_fields(client, full, 9) | typed)

    found = document(client, full)
    assert found["questions"][0]["constraints"] == FULL["constraints"] | {
        "price": {"target": 1_500_000_000, "tolerance": 0.1, "currency": "IDR", "why": "x"},
        "bedrooms": {"exact": 3},
    }
    assert (found["questions"][0]["notes"], found["threshold_t"]) == ("kept", 0.65)

    cleared = {"price_target": "", "price_tolerance": "", "keywords": "Medan", "mode": "manual"}
    client.post(f"{full}/questions/9", data=with_fields(client, full, 9) | cleared)

    (question,) = document(client, full)["questions"]
    assert "price" not in question["constraints"]
    assert question["constraints"]["location"] == FULL["constraints"]["location"] | {
        "keywords": ["Medan"]
    }
    assert (question["evaluation_mode"], question["notes"]) == ("manual", "kept")


def test_amounts_in_words_become_exact_numbers(client: FlaskClient, editor: str) -> None:
    page = f"{editor}/questions/1"
    looked = client.post(page, data=FIRST | {"price_words": "1M an", "action": "price"})
    fields = Page(looked).fields("form.editor")
    assert (fields["price_min"], fields["price_max"]) == ("1,000,000,000", "1,990,000,000")
    assert client.get(f"{editor}/questions.json?version=2").status_code == 404  # only looked

    for prices, stated in (
        ({"price_words": "1M an"}, {"min": 1_000_000_000, "max": 1_990_000_000}),
        (
            {"price_min": "800 juta", "price_max": "1,5 M", "price_tolerance": "10"},
            {"min": 800_000_000, "max": 1_500_000_000, "tolerance": 0.1},
        ),
    ):
        client.post(page, data=FIRST | prices)
        assert document(client, editor)["questions"][0]["constraints"] == {
            "property_type": "house",
            "listing_type": "sale",
            "location": {"keywords": ["cemara"], "lat": 3.6, "lng": 98.7, "radius_km": 2.0},
            "price": stated,
        }


@pytest.mark.parametrize(
    ("field", "typed"),
    [
        *(("price_max", "murah"), ("price_words", "kira-kira"), ("price_tolerance", "200")),
        *(("lat", "north"), ("lat", "91"), ("lng", ""), ("radius_km", "-1")),
        *(("bedrooms_min", "tiga"), ("floors_max", "9999999999"), ("question", " ")),
        *(("number", "2"), ("number", "x"), ("category", "x" * 300)),  # 2 is the second question's
    ],
)
def test_wrong_fields_are_marked(client: FlaskClient, editor: str, field: str, typed: str) -> None:
    answer = client.post(f"{editor}/questions/1", data=FIRST | {field: typed})

    assert answer.status_code == 422
    assert "Nothing was saved yet" in answer.text
    assert Page(answer).values("[aria-invalid]", "name") == ["lat" if field == "lng" else field]
    assert client.get(f"{editor}/questions.json?version=2").status_code == 404


def test_a_known_place_fills_words_point_and_radius(client: FlaskClient, editor: str) -> None:
    file = {"locations": {"usu": {"name": "USU", "keywords": ["usu"], "lat": 3.5, "lng": 98.6}}}
    taken = client.post(
        f"{editor}/places", data={"file": (BytesIO(json.dumps(file).encode()), "l.json")}
    )
    assert taken.status_code == 303
    answer = client.post(f"{editor}/questions/1", data=FIRST | {"action": "place", "place": "USU"})

    found = {"keywords": "usu", "lat": "3.5", "lng": "98.6", "radius_km": "2"}
    assert found.items() <= Page(answer).fields("form.editor").items()
    assert document(client, editor)["locations"] == file["locations"]


def test_a_question_is_added_and_taken_out_again(client: FlaskClient, editor: str) -> None:
    added = client.post(f"{editor}/questions/0", data=FIRST | {"number": "4", "question": "Baru?"})
    assert (added.status_code, added.location) == (303, f"{editor}#question-4")
    assert "Baru?" in client.get(editor).text

    client.post(f"{editor}/questions/4/remove")

    assert "Baru?" not in client.get(editor).text
    assert client.get(f"{editor}/questions/4").status_code == 404


@pytest.mark.parametrize("headers", WAYS)
def test_a_threshold_tried_out(client: FlaskClient, editor: str, headers: dict[str, str]) -> None:
    """Question 1 passes with a lower T; typed in either language, saved by nobody."""
    now = Page(client.get(editor))
    high, low = (
        Page(client.get(f"{editor}?threshold={typed}", headers=headers))
        for typed in ("1", "0,0625")
    )

    words = (page.text.partition(" of 3 questions are met")[0] for page in (high, now, low))
    counts = [int(said.split()[-1]) for said in words]
    assert counts == sorted(counts)
    assert counts[0] < counts[2]
    assert "Only looked at: T = 0.6 is in force until you save." in high
    assert f"(with T = 0.6: {counts[1]})" in high
    assert "Only looked at" not in now
    assert high.is_part == bool(headers)
    assert document(client, editor)["threshold_t"] == 0.6


def test_thresholds_are_versions_or_refused(client: FlaskClient, editor: str) -> None:
    for typed in ("", "x", "1.5", "-1", "nan", "0..5"):
        assert client.post(f"{editor}/threshold", data={"threshold": typed}).status_code == 400
        if typed:
            told = client.get(editor, query_string={"threshold": typed}, headers=PART)
            assert Page(told).has(".error")
    for _ in range(2):  # the second changes nothing
        client.post(f"{editor}/threshold", data={"threshold": "0,6543"})
    assert Page(client.get(editor)).one("[name=threshold]")["value"] == "0.6543"
    assert document(client, editor)["threshold_t"] == 0.6543
    assert client.get(f"{editor}/questions.json?version=3").status_code == 404
    assert client.get(f"{editor}/questions.json?version=1").get_json()["threshold_t"] == 0.6

    client.post(f"{editor}/restore", data={"version": "1"})

    assert document(client, editor)["threshold_t"] == 0.6
    assert "3. gold.json" in Page(client.get(editor))


def test_gold_begins_with_the_sets_questions(client: FlaskClient, web_database: Database) -> None:
    editor = edited(web_database, with_gold=False)
    assert client.get(f"{editor}/questions/1").status_code == 404
    assert editor in client.get("/gold/").text

    client.post(f"{editor}/begin")

    found = [one["question"] for one in document(client, editor)["questions"]]
    assert found == [one["question"] for one in GOLD["questions"]]


@pytest.mark.parametrize("name", [name for name in HOSTILE if "megabyte" not in name])
def test_hostile_text_is_only_text(client: FlaskClient, editor: str, name: str) -> None:
    hostile = HOSTILE[name].encode(errors="replace").decode().replace("\x00", "")
    typed = {"question": hostile or "x", "category": hostile[:200], "property_type": hostile[:200]}
    typed |= {"keywords": hostile, "lat": hostile, "price_words": hostile}
    wrong = client.post(f"{editor}/questions/1", data=FIRST | typed)
    check(wrong.text, "wrong")
    good = FIRST | typed | {"lat": "3.6", "price_words": "", "price_max": ""}
    client.post(f"{editor}/questions/1", data=good)
    place = {"locations": {"x": {"name": hostile or "x", "lat": 3.6, "lng": 98.7}}}
    file = (BytesIO(json.dumps(place).encode()), f"{hostile[:20]}.json")
    client.post(f"{editor}/places", data={"file": file})

    for address in ("/gold/", editor, f"{editor}/questions/1"):
        answer = client.get(address)
        assert answer.status_code == 200
        check(answer.text, address)
