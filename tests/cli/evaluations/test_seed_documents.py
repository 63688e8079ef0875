"""The source documents of the method on automatic evaluations, walked through on examples."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.chatbot.bots import serving
from tests.cli.evaluations.test_answering import GOOD, QUESTIONS, says
from tests.cli.relevansi import document, relevansi
from tests.services.evaluations.scored_files import ANSWERS, CHUNKS

pytestmark = pytest.mark.journey


def test_answers_with_citations_and_retrieved_chunks_are_scored(tmp_path: Path) -> None:
    """Documents 000 and 003: the tables under the names of the documents, values by hand."""
    answers = _lines(tmp_path / "answers.jsonl", ANSWERS)
    table = relevansi(tmp_path, "score", "answers", answers).stdout
    for name in ("Faithfulness", "Overlap", "F1", "P50 Latency (ms)", "Abstain", "IDK+Cit"):
        assert name in table, name
    summary = document(relevansi(tmp_path, "score", "answers", answers, "--format", "json"))[
        "summary"
    ]
    assert summary["count"] == 3
    assert summary["avg_overlap"] == pytest.approx((1 / 2 + 0 + 1) / 3)
    assert summary["idk_with_citation_count"] == 0

    chunks = _lines(tmp_path / "chunks.jsonl", CHUNKS)
    first, _ = document(relevansi(tmp_path, "score", "chunks", chunks, "--format", "json"))["items"]
    # 1 common word of 3 expected, 4 retrieved, 6 in all.
    assert (first["iou"], first["recall"], first["precision"]) == (1 / 6, 1 / 3, 1 / 4)
    assert first["precision_omega"] == pytest.approx(1 / 4 * (1 / 6 + 1 / 3) / 2)
    assert first["f1"] == pytest.approx(2 * (1 / 4 * 1 / 3) / (1 / 4 + 1 / 3))


def test_json_answers_are_drawn_asked_scored_and_gated(tmp_path: Path) -> None:
    """Document 002: the same dev set for the same seed, the fixed prompt, the gate."""
    questions = tmp_path / "question_v2.json"
    questions.write_text(json.dumps(QUESTIONS), "utf-8")
    drawn = [
        relevansi(
            tmp_path, "eval-set", "make", questions, "--n", "2", "--seed", "42",
            "-o", tmp_path / folder / "question_v2_dev2.json",
        )
        for folder in _folders(tmp_path, "first", "second")
    ]  # fmt: skip
    assert drawn[0].stdout == drawn[1].stdout
    assert re.search(r"question_v2_dev2@[0-9a-f]{40}", drawn[0].stdout)
    dev_set = tmp_path / "first" / "question_v2_dev2.json"
    assert dev_set.read_bytes() == (tmp_path / "second" / dev_set.name).read_bytes()

    with serving(says(GOOD), says(GOOD)) as bot:
        asked = relevansi(
            tmp_path, "answer", "json-v2", "--endpoint", bot.address, "--model", "m",
            "--questions", dev_set, "-o", tmp_path / "out.jsonl",
        )  # fmt: skip
    assert asked.returncode == 0, asked.stderr
    scored = relevansi(
        tmp_path, "score", "json-v2", "--questions", dev_set,
        "--outputs", tmp_path / "out.jsonl", "--gate", "--format", "json",
    )  # fmt: skip
    found = document(scored)
    assert scored.returncode == 0
    assert found["summary"]["gate_passed"] is True
    assert found["summary"]["schema_pass_rate"] == 1
    assert found["provenance"]["eval_set_version"] in drawn[0].stdout


def _lines(file: Path, rows: Sequence[dict[str, Any]]) -> Path:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return file


def _folders(folder: Path, *names: str) -> tuple[str, ...]:
    for name in names:
        (folder / name).mkdir()
    return names
