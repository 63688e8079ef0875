"""The script that counts which empty answers of recorded runs could have shown something."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from docs.empty_answers import count, read


def entry(query_id: int, question: str, *properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "query_id": query_id,
        "question": question,
        "category": "location",
        "response": "\n".join(f"1. **{listed['name']}**" for listed in properties) or "Tidak ada.",
        "properties": list(properties),
        "properties_count": len(properties),
    }


def test_empty_answers_are_counted_that_another_run_or_listing_contradicts(tmp_path: Path) -> None:
    """The first run is empty at 1, which the second answers; a listing there meets 2 as well."""
    big = {"name": "Besar", "slug": "besar", "property_type": "house", "bedrooms": 4}
    small = {"name": "Kecil", "slug": "kecil", "property_type": "house", "bedrooms": 1}
    for method, listed in (("api", [(), (), (small,)]), ("vector", [(big, small), (), ()])):
        results = [entry(n, f"Question {n}", *items) for n, items in enumerate(listed, 1)]
        file = {"method": method, "llm": "m", "threshold_t": 0.6, "results": results}
        (tmp_path / f"{method}.json").write_text(json.dumps(file | {"total_questions": 3}))
    rules = ({"bedrooms": {"min": 3}}, {"bedrooms": {"exact": 4}}, {"bedrooms": {"min": 9}})
    gold = [
        {"id": n, "question": f"Question {n}", "category": "location", "constraints": rule}
        | {"expected_result": "has_data", "evaluation_mode": "auto"}
        for n, rule in enumerate(rules, 1)
    ]
    (tmp_path / "gold.json").write_text(json.dumps({"threshold_t": 0.6, "questions": gold}))
    (tmp_path / "other.json").write_text("[]")

    first, second = count(read(tmp_path))

    assert (first.questions, first.empty, first.answered_elsewhere) == (3, 2, 1)
    assert first.fitting == (1, 1)
    assert (second.empty, second.answered_elsewhere) == (2, 1)  # the first lists for question 3
    assert second.fitting == (1, 0)
