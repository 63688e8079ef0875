"""A dash, "n/a" or "kosong" says nothing, whichever file it stands in."""

from __future__ import annotations

import json
from copy import deepcopy
from fractions import Fraction
from io import BytesIO
from typing import Any

import pytest

from tests.importers.runs.blank_signs import NOTHING
from tests.services.evaluations.scored_files import EXAMPLE, JSON_SET
from webapp.importers.agreement import manual_input
from webapp.importers.evaluations import cited_answers, expected_json, retrieved_chunks
from webapp.importers.evaluations.expected_json import UnusableProvenance
from webapp.importers.gold import gold_questions
from webapp.importers.gold.listed_properties import facts_of
from webapp.importers.runs import csv_ratings, json_runs, questions
from webapp.importers.runs.blanks import said
from webapp.importers.runs.card_details import read_details
from webapp.importers.runs.problems import UnusableQuestions
from webapp.metrics.gold.constraint_rules import Range
from webapp.records import Problem


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

    assert questions.read("q.json", asked.encode()).questions[0].category == ""
    read = manual_input.read("m.json", json.dumps(manual).encode())
    assert read.evaluations[0].comment == ""


def test_words_that_say_something_stay() -> None:
    for text in ("tidak ada datanya", "none of these fit", "kosong semua", "0"):
        assert said(f" {text} ") == text


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


@pytest.mark.parametrize("reader", [questions, gold_questions])
def test_a_question_that_is_only_a_dash_is_refused_as_empty(reader: Any) -> None:
    entry = {"id": 1, "question": "-", "expected_result": "has_data"}
    document = {"questions": [entry]} if reader is gold_questions else [entry]

    with pytest.raises(UnusableQuestions) as refused:
        reader.read("q.json", json.dumps(document).encode())

    (problem,) = refused.value.problems
    assert problem.details["found"] == "empty_text"


@pytest.mark.parametrize("text", NOTHING)
def test_a_verified_record_that_says_nothing_stands_as_null_over_the_answer(text: str) -> None:
    """A field of the record stands over the parsed one, null included."""
    record = dict.fromkeys(("location", "price", "bedrooms", "listing_type"), text)
    parsed = {"location": "Cemara", "price": 5, "bedrooms": 3, "listing_type": "sale"}

    (facts,) = facts_of([{**parsed, "name": "A", "verified": True, "api_data": record}])

    assert (facts.name, facts.location, facts.price) == ("A", "", None)
    assert (facts.bedrooms, facts.listing_type) == (None, None)


@pytest.mark.parametrize("text", NOTHING)
def test_a_run_whose_method_is_a_dash_does_not_state_it(text: str) -> None:
    entry = {"query_id": 1, "question": "rumah?", "category": text, "response": "Tidak ada."}
    top = {"method": text, "llm": text, "threshold_t": 0.6, "results": [entry]}

    run = json_runs.read("results.json", json.dumps(top).encode())

    assert (run.search_method, run.llm, run.queries[0].category) == (None, None, "")


@pytest.mark.parametrize("text", [*NOTHING[:4], "", "null", "kosong"])
def test_a_decision_that_says_nothing_decides_nothing(text: str) -> None:
    document = {
        "manual_evaluations": {"1": {"0": {"result": text}, "1": text}, "2": text},
        "constraint_overrides": {"1": {"0": {"price": "-", "floors": "N/A", "bedrooms": "na"}}},
        "override_reasons": {"1": {"0": {"floors": text}}},
    }

    read = manual_input.read("m.json", json.dumps(document).encode())

    assert read.problems == ()
    assert [(e.card, e.result.value) for e in read.evaluations] == [(0, "pending")]
    assert [(o.constraint, o.result.value, o.reason) for o in read.overrides] == [
        ("floors", "na", ""),
        ("bedrooms", "na", ""),
    ]


@pytest.mark.parametrize("text", NOTHING)
def test_a_note_in_a_rated_csv_that_says_nothing_is_no_note(text: str) -> None:
    header = "query_id,category,results_count,relevant_count,first_relevant_rank,notes\n"
    lines = f"1,{text},3,1,1,{text}\n2,a,3,1,1,cannot tell: rank 3; {text}\n"

    found = csv_ratings.read("r.csv", f"{header}{lines}".encode())

    assert [(row.category, row.notes) for row in found.report.rows] == [("", ""), ("a", "")]
    assert found.report.rows[1].summary.unsure_count == 1


SIGNS = ["-", "–", " — ", "n/a", "N/A", "null", "?"]
"""Texts that mean that nothing was said, in place of a whole answer too."""


@pytest.mark.parametrize("text", NOTHING)
def test_a_value_of_a_cited_answer_that_says_nothing_is_not_stated(text: str) -> None:
    names = ("usage", "latency_ms", "action", "claim_similarities", "contexts", "temperature")
    row = {"id": "1", "answer": "-", "question": text} | dict.fromkeys(names, text)

    (found,) = cited_answers.read("a.jsonl", BytesIO(json.dumps(row).encode()))

    assert not isinstance(found, Problem)
    read = found[1]
    assert (read.calls, read.latency_ms, read.action) == (None, None, None)
    assert (read.claim_similarities, read.contexts, read.settings) == (None, {}, {})
    assert (read.answer, read.question) == ("-", text)  # as they were asked and answered


@pytest.mark.parametrize(
    ("text", "gold"), [*((sign, None) for sign in SIGNS), ("Tidak ada", "Tidak ada"), ("", "")]
)
def test_a_dash_is_no_gold_answer_and_tidak_ada_is_one(text: str, gold: str | None) -> None:
    row = json.dumps({"id": "1", "answer": "Ada.", "gold": text}).encode()

    (found,) = cited_answers.read("a.jsonl", BytesIO(row))

    assert not isinstance(found, Problem)
    assert found[1].gold == gold


@pytest.mark.parametrize("text", SIGNS)
def test_a_dash_among_chunks_has_no_words(text: str) -> None:
    row = {"id": "1", "expected_answer": text, "retrieved_chunks": [text, "tiga - empat kamar"]}

    (found,) = retrieved_chunks.read(
        "c.jsonl", BytesIO(json.dumps(row | {"strategy": text}).encode())
    )

    assert not isinstance(found, Problem)
    assert (found[1].expected_answer, found[1].strategy) == ("", None)
    assert found[1].retrieved_chunks == ("tiga - empat kamar",)


@pytest.mark.parametrize("text", SIGNS)
def test_a_dash_in_an_expected_json_answer_expects_nothing_and_is_told(text: str) -> None:
    document = deepcopy(JSON_SET)
    example = EXAMPLE | {
        "sub_topic": text,
        "original_evidence": text,
        "detailed_description": ["tiga kamar", text],
        "predicted_questions": text,
    }
    document["items"][0]["expected"]["answer_example"] = example
    document["items"][0]["context"] = text

    found = expected_json.read("j.json", json.dumps(document).encode())

    question = found.questions[0]
    assert question.expected["detailed_description"] == ["tiga kamar"]
    assert not {"sub_topic", "original_evidence", "predicted_questions"} & question.expected.keys()
    assert question.contexts == ()
    told = [p.details["field"] for p in found.problems if p.code == "expected_field_missing"]
    assert told == ["sub_topic", "original_evidence", "predicted_questions"]


@pytest.mark.parametrize("text", SIGNS)
def test_a_provenance_field_that_is_a_dash_is_missing(text: str) -> None:
    document = json.dumps({**JSON_SET, "model_id": text}).encode()

    with pytest.raises(UnusableProvenance) as refused:
        expected_json.read("j.json", document)

    (problem,) = refused.value.problems
    assert (problem.code, problem.details["names"]) == ("provenance_missing", "model_id")
