"""A dash, "n/a" or "kosong" says nothing, whichever file it stands in."""

from __future__ import annotations

import json

import pytest

from webapp.importers import csv_ratings, manual_input, questions
from webapp.importers.blanks import said
from webapp.importers.card_details import read_details
from webapp.importers.listed_properties import facts_of

NOTHING = ["-", "–", "—", "n/a", "N/A", "null", "none", "nil", "Tidak ada", "kosong", "?"]


@pytest.mark.parametrize("text", NOTHING)
def test_a_blank_cell_of_a_rated_csv_may_be_written_in_words(text: str) -> None:
    header = "query_id,results_count,relevant_count,precision_at_5,mrr,success,notes\n"
    found = csv_ratings.read("r.csv", f"{header}1,5,4,{text},{text},{text},\n".encode())

    assert [problem.code for problem in found.problems] == ["csv_rank_open"]
    assert found.report.rows[0].summary.precision_at_5.value == 0.8


@pytest.mark.parametrize("text", NOTHING)
def test_a_card_and_a_property_have_no_place_where_none_is_said(text: str) -> None:
    raw = {"location": text, "price": text, "bedrooms": text, "latitude": text, "slug": text}
    (facts,) = facts_of([raw])

    assert "location" not in (read_details(f"📍 {text}") or {})
    assert "certificate" not in (read_details(f"📜 Sertifikat: {text}") or {})
    assert (facts.location, facts.price, facts.bedrooms) == ("", None, None)
    assert (facts.latitude, facts.slug) == (None, None)


@pytest.mark.parametrize("text", NOTHING)
def test_a_category_and_a_comment_may_say_nothing(text: str) -> None:
    asked = json.dumps([{"id": 1, "question": "rumah di medan", "category": text}])
    manual = {"manual_evaluations": {"1": {"0": {"result": "pass", "comment": text}}}}

    assert questions.read("q.json", asked.encode())[0].category == ""
    read = manual_input.read("m.json", json.dumps(manual).encode())
    assert read.evaluations[0].comment == ""


def test_words_that_say_something_stay() -> None:
    for text in ("tidak ada datanya", "none of these fit", "kosong semua", "0"):
        assert said(f" {text} ") == text


def test_areas_that_are_dashes_leave_the_other_facts() -> None:
    assert read_details("🏠 4 Kamar Tidur, LT -, LB 150m²") == {
        "bedrooms": 4,
        "building_area": 150.0,
    }
