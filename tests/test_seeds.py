"""The sample study is reproducible, and shows every case a rater may meet."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from relevansi.importers.runs.property_cards import parse
from relevansi.kinds.property import Card

SEEDS = Path(__file__).parents[1] / "seeds"
METHODS = ("hybrid", "api_only", "vector_only")
WRITTEN = [
    *("questions.json", "catalogue.json", "ratings.json"),
    *(f"runs/{method}/results.json" for method in METHODS),
    *(f"demo/runs/{run}.json" for run in ("hybrid_gemini", "hybrid_llama", "vector_only_gemini")),
    *(f"demo/{name}.json" for name in ("decisions", "gold", "json_answers", "machine_answers")),
    *(f"demo/{name}" for name in ("answers.jsonl", "chunks.jsonl", "participants.json")),
    "demo/ratings.json",
    "documents/machine_answers.json",
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


def test_the_generator_rewrites_every_file_but_the_recorded_runs(tmp_path: Path) -> None:
    subprocess.run([sys.executable, SEEDS / "generate.py", tmp_path], check=True)

    written = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.json*"))

    assert written == sorted(WRITTEN)
    for name in WRITTEN:
        assert (tmp_path / name).read_bytes() == (SEEDS / name).read_bytes(), name


@pytest.mark.parametrize("method", METHODS)
def test_the_cards_read_from_an_answer_are_as_many_as_it_claims(method: str) -> None:
    for result in _v1(method):
        claimed = result["results_count"] if result["success"] else 0
        assert len(_cards(method)[result["query_id"]]) == claimed <= 10


@pytest.mark.parametrize("method", METHODS)
def test_the_cards_read_from_an_answer_are_the_properties_of_v2(method: str) -> None:
    for result in _v2(method):
        for card, listing in zip(
            _cards(method)[result["query_id"]], result["properties"], strict=True
        ):
            assert card.title == listing["name"]
            assert card.price == (listing["price"] or None)
            for name in ("slug", "source", "location", "price_max", "bedrooms", "bathrooms"):
                assert getattr(card, name) == listing.get(name)
            for name in ("land_area", "building_area"):
                assert getattr(card, name) == listing.get(name)


def test_every_shape_of_card_and_one_failed_call_occur() -> None:
    actual = [result for method in METHODS for result in _v1(method)]
    shapes = [
        *("💰 Rp 0", "🏠 (Detail ukuran tidak tersedia)", "- 🔄 Proyek Baru", "- 🔄 Resale"),
        *("(https://listing.example/proyek/", " (sewa)", " per tahun", " (rent)"),
        *("🔗 [Lihat Detail](", "[Hook]"),
    ]

    text = "".join(result["response"] for result in actual)
    assert [shape for shape in shapes if shape not in text] == []
    (failed,) = [result for result in actual if not result["success"]]
    assert (failed["error_code"], failed["tries"], failed["response"]) == ("server_failed", 3, "")
