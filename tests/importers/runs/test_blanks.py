"""A dash, "n/a" or "kosong" says nothing, whichever file it is in."""

from __future__ import annotations

import json

import pytest

from tests.importers.runs.blank_signs import NOTHING
from webapp.importers.agreement import manual_input
from webapp.importers.runs import csv_ratings, json_runs, questions
from webapp.importers.runs.prices import said
from webapp.importers.runs.problems import UnusableQuestions
from webapp.importers.runs.property_cards import read_details


@pytest.mark.parametrize("text", NOTHING)
def test_a_blank_cell_of_a_rated_csv_may_be_written_in_words(text: str) -> None:
    header = "query_id,results_count,relevant_count,precision_at_5,mrr,success,notes\n"
    found = csv_ratings.read("r.csv", f"{header}1,5,4,{text},{text},{text},\n".encode())

    assert [problem.code for problem in found.problems] == ["csv_rank_open"]
    assert found.report.rows[0].summary.precision_at_5.value == 0.8


@pytest.mark.parametrize("text", NOTHING)
def test_a_card_has_no_place_where_none_is_said(text: str) -> None:
    assert "location" not in (read_details(f"📍 {text}") or {})
    assert "certificate" not in (read_details(f"📜 Sertifikat: {text}") or {})


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


def test_a_question_that_is_only_a_dash_is_refused_as_empty() -> None:
    with pytest.raises(UnusableQuestions) as refused:
        questions.read("q.json", json.dumps([{"id": 1, "question": "-"}]).encode())

    (problem,) = refused.value.problems
    assert problem.details["found"] == "empty_text"


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
