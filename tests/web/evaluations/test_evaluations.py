from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from relevansi.db.engine import Database
from relevansi.db.tables.evaluations import Evaluation
from tests.cli.relevansi import relevansi
from tests.page import Page
from tests.services.evaluations.scored_files import EXAMPLE, JSON_SET, document, lines
from tests.web.conftest import count
from tests.web.evaluations.scored import DATA, scored, send

HOSTILE = "<script>alert(1)</script>"


def dev_set(*ids: str) -> tuple[io.BytesIO, str]:
    return io.BytesIO(document(ids)), "dev.json"


@pytest.mark.parametrize("kind", DATA)
def test_a_page_has_the_report_of_the_command_line_and_explains_its_figures(
    client: FlaskClient, tmp_path: Path, kind: str
) -> None:
    """The first 2 of 3 answers, a line left out, all chunks by strategy, a dev set that stops."""
    (tmp_path / "some.jsonl").write_bytes(DATA[kind] + (b"{bad" if kind == "chunks" else b""))
    (tmp_path / "dev.json").write_text('["j2"]', "utf-8")
    body: dict[str, tuple[dict[str, Any], list[str | Path]]] = {
        "answers": ({"first": "2"}, ["--n", "2"]),
        "chunks": ({}, []),
        "json-v2": (
            {"subset": (io.BytesIO(b'["j2"]'), "dev.json"), "stop_at_gate": "1"},
            ["--subset", tmp_path / "dev.json", "--gate"],
        ),
    }
    more, options = body[kind]
    base = send(client, kind, (tmp_path / "some.jsonl").read_bytes(), **more).headers["Location"]
    page = Page(client.get(base))

    written = {"report.md": "markdown", "report.tex": "latex"}
    for name in ("report.md", "report.tex", "scores.csv", "scores.json"):
        assert f"{base}/{name}" in page.links()
        file_format = written.get(name, name.rpartition(".")[2])
        command = ("score", kind, tmp_path / "some.jsonl", "--format", file_format)
        theirs = relevansi(tmp_path, *command, *options)
        assert client.get(f"{base}/{name}").text.splitlines() == theirs.stdout.splitlines()
    report = client.get(f"{base}/report.md").text
    for row in re.findall(r"^\| (.*) \|$", report, re.MULTILINE):
        if "---" not in row:
            assert " ".join(row.split(" | ")) in page
    about = {"answers": "avg_overlap", "chunks": "iou", "json-v2": "eval_score_avg"}[kind]
    assert page.has(f"[popovertarget=about-{about}]")
    assert page.has(f"#about-{about}")
    assert ("Only the first 2 of 3 rows were scored." in page) == (kind == "answers")


def test_a_score_to_100_is_no_percentage(client: FlaskClient) -> None:
    base = scored(client, "json-v2")
    client.post("/ratios", data={"to": "percent"})

    page = Page(client.get(base))
    assert "Mean score 45.0000" in page  # (90 + 0) / 2
    assert "Schema pass rate 50.00%" in page


@pytest.mark.parametrize(
    ("kind", "data", "more", "sentence"),
    [
        ("answers", b"PK\x03\x04", {}, "some.jsonl"),
        ("answers", b"", {}, "some.jsonl"),
        ("json-v2", DATA["chunks"], {}, "some.jsonl"),
        ("json-v2", document({"items": JSON_SET["items"]}), {}, "prompt_sha256, prompt_version"),
        ("chunks", DATA["answers"], {}, "some.jsonl"),
        ("other", DATA["chunks"], {}, "Say first what kind"),
        ("answers", DATA["answers"], {"tau_sim": "much"}, "Threshold (tau_sim): "),
        ("answers", DATA["answers"], {"tau_sim": "1e999999999"}, "Threshold (tau_sim): "),
        ("answers", DATA["answers"], {"tau_sim": "2"}, "Threshold (tau_sim): "),
        ("answers", DATA["answers"], {"first": "9" * 5_000}, "Only the first rows"),
        ("answers", DATA["answers"], {"first": "0"}, "Only the first rows"),
        ("answers", DATA["answers"], {"embedder": "endpoint"}, "No embeddings endpoint"),
        ("answers", DATA["answers"], {"outputs": dev_set()}, "in two files"),
        ("answers", DATA["answers"], {"subset": dev_set()}, "have a dev set"),
        ("chunks", DATA["chunks"], {"prompt": dev_set()}, "state their prompt"),
        ("json-v2", DATA["json-v2"], {"prompt": dev_set()}, "dev.json"),
        ("json-v2", DATA["json-v2"], {"first": "3"}, "give a dev set instead"),
        ("json-v2", DATA["json-v2"], {"subset": (io.BytesIO(b"<html>"), "dev.json")}, "dev.json"),
    ],
)
def test_what_cannot_be_scored_is_told_and_not_stored(
    client: FlaskClient,
    web_database: Database,
    kind: str,
    data: bytes,
    more: dict[str, Any],
    sentence: str,
) -> None:
    answer = send(client, kind, data, **more)

    assert answer.status_code == 422
    assert sentence in answer.text
    assert count(web_database, Evaluation) == 0


def test_no_file_or_outputs_without_questions_are_told(client: FlaskClient) -> None:
    none = client.post("/evaluations/", data={"kind": "chunks"})
    form = {"kind": "json-v2", "outputs": (io.BytesIO(b"{}"), "o.jsonl")}
    outputs = client.post("/evaluations/", data=form, content_type="multipart/form-data")

    assert (none.status_code, outputs.status_code) == (422, 422)
    assert "Choose the questions too" in outputs.text


def test_the_same_file_again_leads_to_what_was_kept(client: FlaskClient) -> None:
    three = DATA["chunks"] + b"\n{bad\n"  # a blank line is not a row, a broken one is
    first, again = scored(client, "chunks", three), scored(client, "chunks", three)

    assert again == f"{first}?again=1"
    assert "scored before with the same settings" in client.get(again).text
    assert "some.jsonl, line 4 is not complete JSON" in client.get(first).text
    address = send(client, "chunks", three, first="4").headers["Location"]
    assert "Only the first 4 of" not in client.get(address).text


def test_deleting_says_what_goes_first(client: FlaskClient) -> None:
    base = scored(client, "answers")
    question = Page(client.get(f"{base}/delete"))

    assert "3 items with their scores" in question
    assert client.post(f"{base}/delete").status_code == 303
    assert client.get(base).status_code == 404


@pytest.mark.parametrize("address", ["", "/items", "/items/1", "/delete"])
def test_what_is_not_there_is_not_found(client: FlaskClient, address: str) -> None:
    assert client.get(f"/evaluations/gone{address}").status_code == 404


def hostile() -> dict[str, bytes]:
    answer = {
        "id": HOSTILE,
        "item": HOSTILE,
        "answer": f"{HOSTILE} [CIT:d1].",
        "gold": HOSTILE,
        "contexts": [{"id": "d1", "text": HOSTILE}],
        "claim_similarities": [1],
    }
    chunk = {"id": HOSTILE, "question": HOSTILE, "expected_answer": HOSTILE, "strategy": HOSTILE}
    example = {key: HOSTILE if isinstance(v, str) else [HOSTILE] for key, v in EXAMPLE.items()}
    item = {"id": HOSTILE, "question": HOSTILE, "expected": {"answer_example": example}}
    return {
        "answers": lines(answer),
        "chunks": lines(chunk | {"retrieved_chunks": [HOSTILE]}),
        "json-v2": document(
            JSON_SET | {"model_id": HOSTILE, "items": [item | {"output": HOSTILE}]}
        ),
    }


@pytest.mark.parametrize("kind", ["answers", "chunks", "json-v2"])
def test_hostile_texts_are_text(client: FlaskClient, kind: str) -> None:
    base = scored(client, kind, hostile()[kind])

    for address in ("", "/items", "/items/1", "/delete"):
        page = client.get(base + address).text
        assert "<script>alert" not in page
    assert HOSTILE in Page(client.get(f"{base}/items/1"))
