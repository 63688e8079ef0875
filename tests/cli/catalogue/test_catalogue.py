from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.relevansi import document, relevansi

SEEDS = Path(__file__).parents[3] / "seeds"

LISTINGS = [
    {"slug": "a", "name": "Rumah Johor", "price": 900_000_000, "bedrooms": 3},
    {"slug": "b", "name": "Ruko Ringroad", "price": 2_000_000_000},
]


def test_a_catalogue_is_imported_counted_searched_and_replaced(tmp_path: Path) -> None:
    file = tmp_path / "listings.json"
    file.write_text(json.dumps(LISTINGS), "utf-8")
    imported = document(relevansi(tmp_path, "catalogue", "import", file, "--json"))
    printed = document(
        relevansi(tmp_path, "catalogue", "search", "rum", "--price-to", "1000000000", "--json")
    )
    file.write_text(json.dumps(LISTINGS[1:]), "utf-8")
    removed = relevansi(tmp_path, "catalogue", "import", file, "--replace")

    assert (imported["kind"], imported["added"], imported["total"]) == ("property", 2, 2)
    assert [item["slug"] for item in printed["items"]] == ["a"]
    assert (printed["count"], printed["total"], printed["is_imported"]) == (1, 2, True)
    assert "1 removed" in removed.stdout
    left = document(relevansi(tmp_path, "catalogue", "search", "--json"))
    assert (left["count"], left["total"], left["is_imported"]) == (1, 1, True)


def test_a_file_that_lists_nothing_is_refused_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "empty.csv"
    file.write_text("id,text\n", "utf-8")

    refused = relevansi(tmp_path, "catalogue", "import", file)

    assert refused.returncode == 1
    assert refused.stderr.startswith("relevansi: empty.csv lists nothing")
    assert refused.stderr.count("\n") == 1


@pytest.mark.parametrize("wanted", [True, False])
def test_the_whole_collection_that_comes_with_runs_is_offered(
    tmp_path: Path, *, wanted: bool
) -> None:
    names = ("corpus.jsonl", "queries.jsonl", "runs/lsa.run")
    files = [SEEDS / "documents" / name for name in names]

    process = relevansi(tmp_path, "import", *files, *(["--catalogue"] if wanted else []))

    printed = document(relevansi(tmp_path, "catalogue", "search", "--json"))
    assert printed["is_imported"] is wanted
    assert (printed["total"] == 300) is wanted
    assert ("relevansi catalogue import corpus.jsonl" in process.stderr) is not wanted
