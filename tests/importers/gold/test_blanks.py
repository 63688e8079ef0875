"""A dash, "n/a" or "kosong" says nothing in gold questions and listed properties."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from tests.importers.runs.blank_signs import NOTHING
from webapp.importers.gold import gold_questions
from webapp.importers.gold.listed_properties import facts_of
from webapp.importers.runs.problems import UnusableQuestions
from webapp.metrics.gold.constraint_rules import Range


@pytest.mark.parametrize("text", NOTHING)
def test_a_property_has_no_place_where_none_is_said(text: str) -> None:
    raw = {"location": text, "price": text, "bedrooms": text, "latitude": text, "slug": text}
    (facts,) = facts_of([raw])

    assert (facts.location, facts.price, facts.bedrooms) == ("", None, None)
    assert (facts.latitude, facts.slug) == (None, None)


@pytest.mark.parametrize("text", NOTHING)
def test_a_gold_question_asks_nothing_where_a_dash_or_the_like_stands(text: str) -> None:
    asked = {
        "id": 1,
        "question": "rumah di medan",
        "expected_result": "has_data",
        "category": text,
        "evaluation_mode": text,
        "constraints": {
            "property_type": text,
            "listing_type": text,
            "location": {"keywords": [text, "medan"], "lat": text, "radius_km": text},
            "price": {"min": text, "max": 5, "tolerance": text},
            "bedrooms": text,
            "floors": {"exact": text},
        },
    }
    data = json.dumps({"threshold_t": text, "questions": [asked]}).encode()

    gold = gold_questions.read("gold.json", data)

    (question,) = gold.questions
    asks = question.constraints
    assert (gold.threshold, question.category, question.manual) == (None, "", False)
    assert (asks.property_type, asks.listing_type, asks.bedrooms, asks.floors) == (None,) * 4
    assert asks.location is not None
    assert (asks.location.keywords, asks.location.radius_km) == (("medan",), 2)
    assert asks.price is not None
    assert asks.price == Range(maximum=Fraction(5))


def test_a_question_that_is_only_a_dash_is_refused_as_empty() -> None:
    entry = {"id": 1, "question": "-", "expected_result": "has_data"}

    with pytest.raises(UnusableQuestions) as refused:
        gold_questions.read("q.json", json.dumps({"questions": [entry]}).encode())

    (problem,) = refused.value.problems
    assert problem.details["found"] == "empty_text"


@pytest.mark.parametrize("text", NOTHING)
def test_a_verified_record_that_says_nothing_stands_as_null_over_the_answer(text: str) -> None:
    """A field of the record replaces the parsed one, null included."""
    record = dict.fromkeys(("location", "price", "bedrooms", "listing_type"), text)
    parsed = {"location": "Cemara", "price": 5, "bedrooms": 3, "listing_type": "sale"}

    (facts,) = facts_of([{**parsed, "name": "A", "verified": True, "api_data": record}])

    assert (facts.name, facts.location, facts.price) == ("A", "", None)
    assert (facts.bedrooms, facts.listing_type) == (None, None)
