from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.relevansi import document, relevansi

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
    remaining = document(relevansi(tmp_path, "catalogue", "search", "--json"))
    assert (remaining["count"], remaining["total"], remaining["is_imported"]) == (1, 1, True)


def test_a_file_that_lists_nothing_is_refused_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "empty.csv"
    file.write_text("id,text\n", "utf-8")

    refused = relevansi(tmp_path, "catalogue", "import", file)

    assert refused.returncode == 1
    assert refused.stderr.startswith("relevansi: empty.csv lists nothing")
    assert refused.stderr.count("\n") == 1


@pytest.mark.parametrize("is_imported", [True, False])
def test_the_whole_collection_that_comes_with_runs_is_offered(
    tmp_path: Path, *, is_imported: bool
) -> None:
    """Of its two documents the run lists one."""
    files = [tmp_path / name for name in ("corpus.jsonl", "queries.jsonl", "lsa.run")]
    documents = [{"_id": name, "title": "", "text": f"Text {name}"} for name in ("d1", "d2")]
    files[0].write_text("\n".join(map(json.dumps, documents)), "utf-8")
    files[1].write_text(json.dumps({"_id": "q1", "text": "thaw meat"}), "utf-8")
    files[2].write_text("q1 Q0 d1 1 2.5 lsa\n", "utf-8")

    process = relevansi(tmp_path, "import", *files, *(["--catalogue"] if is_imported else []))

    printed = document(relevansi(tmp_path, "catalogue", "search", "--json"))
    assert printed["is_imported"] is is_imported
    assert (printed["total"] == 2) is is_imported
    assert ("relevansi catalogue import corpus.jsonl" in process.stderr) is not is_imported
