"""Files for `relevansi score`, made for a test."""

from __future__ import annotations

import json
from pathlib import Path

from tests.services.evaluations.scored_files import PROVENANCE
from webapp.metrics.evaluations.json_answers import FIELDS, LISTS

EXAMPLE = {name: ["a"] if name in LISTS else "a" for name in FIELDS}


def lines(folder: Path, *rows: object) -> Path:
    """A JSON Lines file; a row that is text stands as it is."""
    path = folder / "rows.jsonl"
    path.write_text("\n".join(r if isinstance(r, str) else json.dumps(r) for r in rows), "utf-8")
    return path


def file(folder: Path, name: str, content: object) -> Path:
    path = folder / name
    path.write_text(json.dumps(content), "utf-8")
    return path


def json_file(folder: Path, *outputs: str, **stated: object) -> Path:
    """Questions q1, q2, ... whose outputs are these."""
    items = [
        {"id": f"q{n}", "expected": {"answer_example": EXAMPLE}, "output": output}
        for n, output in enumerate(outputs, 1)
    ]
    return file(folder, "a.json", {**PROVENANCE, **stated, "items": items})


GOOD = json.dumps({**EXAMPLE, "source_map": []})
"""No evidence of 40 characters and no reference: 30 + 30 + 0 + 10 + 0 = 70."""
