"""The sample study is reproducible, believable, and shows every case a rater may meet."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from webapp.importers.runs.property_cards import parse
from webapp.records import Card

SEEDS = Path(__file__).parents[1] / "seeds"
METHODS = ("hybrid", "api_only", "vector_only")
RECORDED = [f"runs/{method}/test_results.json" for method in METHODS]
WRITTEN = [
    *("questions.json", "catalogue.json", "ratings.json"),
    *(f"runs/{method}/results.json" for method in METHODS),
    *(f"demo/runs/{run}.json" for run in ("hybrid_gemini", "hybrid_llama", "vector_only_gemini")),
    *(f"demo/{name}.json" for name in ("decisions", "gold", "json_answers", "machine_answers")),
    *(f"demo/{name}" for name in ("answers.jsonl", "chunks.jsonl", "participants.json")),
    "demo/ratings.json",
]


@cache
def _read(name: str) -> Any:
    return json.loads((SEEDS / name).read_text("utf-8"))


def _v1(method: str) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = _read(f"runs/{method}/test_results.json")["results"]
    return results


def _v2(method: str) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = _read(f"runs/{method}/results.json")["results"]
    return results


@cache
def _cards(method: str) -> dict[int, tuple[Card, ...]]:
    return {result["query_id"]: parse(result["response"]) for result in _v1(method)}


def _answers() -> list[str]:
    return [result["response"] for method in METHODS for result in _v1(method)]


def _shown_twice_over() -> list[tuple[Card, Card]]:
    """The same listing as the hybrid run and as the vector run showed it for one question."""
    hybrid, vector = _cards("hybrid"), _cards("vector_only")
    return [
        (one, other)
        for query_id in hybrid
        for one in hybrid[query_id]
        for other in vector[query_id]
        if one.slug == other.slug
    ]


def _words(card: Card) -> set[str]:
    return set(re.findall(r"\w+", (card.location or "").lower()))


def test_the_generator_rewrites_every_file_but_the_recorded_runs(tmp_path: Path) -> None:
    subprocess.run([sys.executable, SEEDS / "generate.py", tmp_path], check=True)

    written = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.json*"))

    assert written == sorted(WRITTEN)
    for name in WRITTEN:
        assert (tmp_path / name).read_bytes() == (SEEDS / name).read_bytes(), name


def test_the_files_stay_small() -> None:
    sizes = [(SEEDS / name).stat().st_size for name in (*WRITTEN, *RECORDED)]

    assert max(sizes) < 700_000
    assert sum(sizes) < 2_300_000


def test_only_questions_14_to_18_depend_on_the_conversation() -> None:
    questions = _read("questions.json")

    dependent = [question["id"] for question in questions if question["context_dependent"]]

    assert [question["id"] for question in questions] == list(range(1, 31))
    assert dependent == [14, 15, 16, 17, 18]


def test_the_categories_are_those_of_the_methodology() -> None:
    """Section 9 counts 3 + 3 + 3 + 1 + 3 + 3 + 2 + 5 + 2 + 1 + 2 + 2 = 30 questions."""
    counted = Counter(question["category"] for question in _read("questions.json"))

    assert list(counted.items()) == [
        ("location_simple", 3),
        ("location_price", 3),
        ("location_price_spec", 3),
        ("location_intent", 1),
        ("property_type", 3),
        ("context_followup", 3),
        ("context_modify", 2),
        ("feature_search", 5),
        ("nearby_search", 2),
        ("nearby_price", 1),
        ("complex_query", 2),
        ("project_search", 2),
    ]


def test_the_catalogue_holds_at_least_300_listings_of_every_type() -> None:
    catalogue = _read("catalogue.json")

    assert len(catalogue) >= 300
    assert {listing["property_type"] for listing in catalogue} == {
        "house",
        "shophouse",
        "land",
        "warehouse",
        "apartment",
    }
    assert {listing["source"] for listing in catalogue} == {"listing", "project"}


def test_slugs_are_unique_and_end_in_eight_hex_digits_while_titles_repeat() -> None:
    catalogue = _read("catalogue.json")
    titles = Counter(listing["title"] for listing in catalogue)

    assert len({listing["slug"] for listing in catalogue}) == len(catalogue)
    assert all(re.search(r"-[0-9a-f]{8}$", listing["slug"]) for listing in catalogue)
    assert titles.most_common(1)[0][1] > 10


def test_every_listing_lies_in_or_around_medan() -> None:
    for listing in _read("catalogue.json"):
        assert 3.45 < listing["latitude"] < 3.75
        assert 98.55 < listing["longitude"] < 98.78


@pytest.mark.parametrize("method", METHODS)
def test_each_run_answers_the_thirty_questions_in_order(method: str) -> None:
    asked = [(question["id"], question["question"]) for question in _read("questions.json")]

    for results in (_v1(method), _v2(method)):
        assert [(result["query_id"], result["question"]) for result in results] == asked


@pytest.mark.parametrize("method", METHODS)
def test_the_labels_name_the_method_and_the_llm(method: str) -> None:
    v1, v2 = _read(f"runs/{method}/test_results.json"), _read(f"runs/{method}/results.json")

    assert v1["search_method"] == v2["method"] == method
    assert v1["llm"] == v2["llm"] == "openai"
    assert v1["successful"] == sum(result["success"] for result in v1["results"])


@pytest.mark.parametrize("method", METHODS)
def test_the_cards_read_from_an_answer_are_as_many_as_it_claims(method: str) -> None:
    """Only the failed call claims nothing at all."""
    for result in _v1(method):
        claimed = result["results_count"] if result["success"] else 0
        assert len(_cards(method)[result["query_id"]]) == claimed <= 10


@pytest.mark.parametrize("method", METHODS)
def test_the_v2_file_tells_the_same_session(method: str) -> None:
    for first, second in zip(_v1(method), _v2(method), strict=True):
        assert second["response"] == first["response"]
        assert second["properties_count"] == len(second["properties"])


@pytest.mark.parametrize("method", METHODS)
def test_the_cards_read_from_an_answer_are_the_properties_of_v2(method: str) -> None:
    for result in _v2(method):
        for card, known in zip(
            _cards(method)[result["query_id"]], result["properties"], strict=True
        ):
            assert (card.title, card.slug, card.source) == (
                known["name"],
                known["slug"],
                known["source"],
            )
            assert card.location == known["location"]
            assert card.price == (known["price"] or None)
            assert card.price_max == known.get("price_max")
            assert (card.bedrooms, card.bathrooms) == (
                known.get("bedrooms"),
                known.get("bathrooms"),
            )
            assert (card.land_area, card.building_area) == (
                known.get("land_area"),
                known.get("building_area"),
            )


def test_every_shown_property_stands_in_the_catalogue() -> None:
    slugs = {listing["slug"] for listing in _read("catalogue.json")}

    for method in METHODS:
        for cards in _cards(method).values():
            assert {card.slug for card in cards} <= slugs


def test_the_catalogue_has_no_warehouse_at_kim_and_two_runs_rightly_find_none() -> None:
    warehouses = [
        listing for listing in _read("catalogue.json") if listing["property_type"] == "warehouse"
    ]

    assert warehouses
    assert "Medan Deli" not in {listing["district"] for listing in warehouses}
    assert _cards("hybrid")[12] == _cards("api_only")[12] == ()


def test_a_run_misses_what_another_finds() -> None:
    """Question 9: cheap houses in the centre exist, and no address says "inti kota"."""
    verdicts = next(
        rating for rating in _read("ratings.json")["ratings"] if rating["query_id"] == 9
    )

    assert _v1("api_only")[8]["success"] is True
    assert _cards("api_only")[9] == ()
    assert "1" in verdicts["results"].values()


def test_exactly_one_call_failed_and_says_why() -> None:
    failed = [result for method in METHODS for result in _v1(method) if not result["success"]]

    assert len(failed) == 1
    assert failed[0]["results_count"] is None
    assert "429" in failed[0]["error"]
    assert failed[0]["error_code"] == "server_failed"
    assert failed[0]["tries"] == 3
    assert failed[0]["response"] == ""


def test_what_the_chatbot_sent_beside_its_text_stands_with_each_answer() -> None:
    for method in METHODS:
        for result in _v1(method):
            if result["success"]:
                slugs = [found["url"].rpartition("/")[2] for found in result["properties"]]
                assert slugs == [card.slug for card in _cards(method)[result["query_id"]]]
                assert result["metadata"]["returned"] == result["results_count"]
                assert result["latency_ms"] > 0


def test_numbering_restarts_under_headings() -> None:
    answer = _v1("hybrid")[23]["response"]

    assert answer.count("### Dekat **") >= 2
    assert answer.count("\n1. **") == answer.count("### Dekat **")


def test_a_listing_stands_twice_in_one_answer() -> None:
    repeated = [
        slug
        for cards in _cards("hybrid").values()
        for slug, count in Counter(card.slug for card in cards).items()
        if count == 2
    ]

    assert repeated


def test_a_listing_has_another_price_in_another_run() -> None:
    assert any(
        one.price and other.price and one.price != other.price for one, other in _shown_twice_over()
    )


def test_a_listing_is_placed_in_other_but_compatible_words_in_another_run() -> None:
    assert any(
        one.price == other.price and _words(other) < _words(one)
        for one, other in _shown_twice_over()
    )


def test_an_answer_says_there_is_nothing_and_still_lists() -> None:
    answer = _v1("vector_only")[11]["response"]

    assert "tidak ada gudang" in answer
    assert len(parse(answer)) > 0


@pytest.mark.parametrize(
    "shape",
    [
        "💰 Rp 0",
        "🏠 (Detail ukuran tidak tersedia)",
        "- 🔄 Proyek Baru",
        "- 🔄 Resale",
        "(https://listing.example/proyek/",
        " (sewa)",
        " per tahun",
        " (rent)",
        "🔗 [Lihat Detail](",
        "[Hook]",
    ],
)
def test_every_shape_of_card_occurs(shape: str) -> None:
    assert any(shape in answer for answer in _answers())


def test_a_project_has_a_price_range() -> None:
    ranges = [
        card
        for method in METHODS
        for cards in _cards(method).values()
        for card in cards
        if card.source == "project" and card.price and card.price_max
    ]

    assert ranges
    assert all((card.price or 0) < (card.price_max or 0) for card in ranges)


def test_follow_ups_show_nothing_that_the_same_search_showed_before() -> None:
    for method in METHODS:
        shown = [card.slug for query_id in (13, 14, 15) for card in _cards(method)[query_id]]
        assert len(shown) == len(set(shown))


@pytest.mark.parametrize("method", METHODS)
def test_twelve_questions_of_every_run_are_rated_and_one_is_begun(method: str) -> None:
    ratings = [one for one in _read("ratings.json")["ratings"] if one["run"] == method]
    judged = {rating["query_id"]: len(rating["results"]) for rating in ratings}
    shown = {query_id: len(cards) for query_id, cards in _cards(method).items()}
    begun = {13: 5} if method == "hybrid" else {}

    assert judged == {**{query_id: shown[query_id] for query_id in range(1, 13)}, **begun}
    assert [rating["quality"] is None for rating in ratings] == [False] * 12 + [True] * len(begun)


def test_the_rating_holds_every_verdict_one_note_and_both_outcomes() -> None:
    ratings = _read("ratings.json")["ratings"]

    assert {verdict for rating in ratings for verdict in rating["results"].values()} == {
        "1",
        "0",
        "unsure",
    }
    assert [(rating["run"], rating["query_id"]) for rating in ratings if rating["notes"]] == [
        ("hybrid", 4)
    ]
    assert {
        (r["run"], r["query_id"]): r["empty_outcome"] for r in ratings if r["empty_outcome"]
    } == {
        ("hybrid", 12): "correct_empty",
        ("api_only", 9): "false_negative",
        ("api_only", 12): "correct_empty",
    }


def test_the_note_on_question_4_is_true() -> None:
    assert sum((card.price or 0) > 1_300_000_000 for card in _cards("hybrid")[4]) >= 2
