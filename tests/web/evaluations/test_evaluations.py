"""Evaluations as pages: uploaded, read, drilled into, judged beside the machine, deleted."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from tests.cli.relevansi import relevansi
from tests.services.evaluations.scored_files import (
    ANSWERS,
    CHUNKS,
    EXAMPLE,
    JSON_SET,
    document,
    lines,
)
from tests.web import places
from tests.web.blocks import assert_named_in_blocks
from tests.web.conftest import in_english
from tests.web.evaluations.scored import DATA, judge, rows, scored, send, text
from webapp.app import create_app
from webapp.config import Settings, sqlite_url
from webapp.db.engine import Database
from webapp.db.tables.evaluations import Evaluation, ItemEvent, ItemJudgment
from webapp.services.evaluations import files

HOSTILE = "<script>alert(1)</script>"


MAIN = (
    "Count (N)", "Avg Faithfulness", "Avg Overlap", "Avg F1", "Avg Total Tokens",
    "P50 Latency (ms)", "Abstain Rate", "IDK+Cit Count",
)  # fmt: skip
APPENDIX = ("Avg EM", "P95 Latency (ms)", "Avg Prompt Tokens", "Avg Completion Tokens")


def test_how_the_file_says_its_answers_were_made_is_shown(client: FlaskClient) -> None:
    stated = {"temperature": 0, "top_p": 0, "max_output_tokens": 256, "token_target": 1000}
    page = text(client.get(scored(client, "answers", lines(stated, *ANSWERS))).text)

    assert "The file states token_target 1,000 (3 answers)." in page


def test_a_summary_has_figures_with_n_explanations_and_what_to_read_together(
    client: FlaskClient,
) -> None:
    page = client.get(scored(client, "answers")).text

    assert 'popovertarget="about-avg_overlap"' in page
    assert 'id="about-avg_overlap"' in page
    assert re.search(r"Avg Overlap 0\.50 3 ", text(page))  # (1/2 + 0 + 1) / 3
    main, appendix = text(page).split("Rules of thumb", 1)
    assert [name in main for name in MAIN] == [True] * len(MAIN)
    assert [name in appendix.split("Item by item")[0] for name in APPENDIX] == [True] * 4
    assert "max_output_tokens from 128 to 256, temperature 0 and top_p 0" in appendix
    assert "Citations are left out of exact match and F1." in main
    assert "the contract of the prompt is broken" in page
    assert "2 with unsupported claims" in page
    assert "Cosines: claim_similarities; tau_sim 0.60." in text(page)


def test_a_figure_without_a_value_says_why(client: FlaskClient) -> None:
    page = client.get(scored(client, "answers", lines({"id": 1, "answer": "Ada."}))).text

    assert 'popovertarget="why-no_embedder"' in page
    assert "give claim_similarities in the file or choose what makes them" in page


def test_strategies_stand_side_by_side(client: FlaskClient) -> None:
    page = text(client.get(scored(client, "chunks")).text)

    assert "Strategies side by side" in page
    assert "Strategy n IoU Recall Precision Precision Omega F1-score" in page
    # c1: iou 1/6, recall 1/3, precision 1/4, omega 1/4 x 1/4, f1 2/7
    assert "hybrid 1 0.17 0.33 0.25 0.06 0.29" in page
    assert "vector 1 0.00 0.00 0.00 0.00 0.00" in page


def test_rows_that_name_no_strategy_stand_below_those_that_do(client: FlaskClient) -> None:
    unnamed, named = {**CHUNKS[0], "strategy": None}, CHUNKS[1]
    page = text(client.get(scored(client, "chunks", lines(unnamed, named))).text)

    assert re.search("vector 1 0.00.* None named 1 0.17", page)


def test_the_gate_the_provenance_and_why_outputs_failed_are_shown(client: FlaskClient) -> None:
    page = text(client.get(scored(client, "json-v2")).text)
    limits = {"min_average": "40", "min_pass_rate": "0,5"}
    passed = client.get(send(client, "json-v2", DATA["json-v2"], **limits).headers["Location"])

    assert "✗ Gate not passed" in page
    assert "✓ Gate passed It asks for a mean score of at least 40" in text(passed.text)
    assert "prompt_sha256 9f9f" in page
    assert "The object is inside a code fence. 1" in page
    assert re.search(r"Mean score 45 2 ", page)  # (90 + 0) / 2


def test_only_the_first_rows_are_scored_and_the_page_says_of_how_many(client: FlaskClient) -> None:
    """As with --n; without it every row is scored and nothing is said."""
    three = DATA["answers"] + b"\n{bad\n"  # a blank line is not a row, a broken one is
    address = send(client, "answers", three, first="2").headers["Location"]
    page = text(client.get(address).text)

    assert "Only the first 2 of 4 rows were scored." in page
    assert "2 items" in page
    assert "is not complete JSON" not in page  # nobody looked there
    assert client.get(f"{address}/scores.json").get_json()["first_n"] == 2
    assert "Only the first" not in client.get(scored(client, "answers")).text
    enough = client.get(send(client, "answers", three, first="4").headers["Location"]).text
    assert "Only the first" not in enough
    assert send(client, "answers", three, first="2").headers["Location"] == f"{address}?again=1"


def test_a_line_of_settings_is_no_row(client: FlaskClient) -> None:
    stated = b'{"temperature": 0}\n' + DATA["answers"]
    page = client.get(send(client, "answers", stated, first="2").headers["Location"])

    assert "Only the first 2 of 3 rows were scored." in text(page.text)


def test_a_dev_set_is_scored_first_and_decides(client: FlaskClient) -> None:
    """As with --subset: j1 scores 90 and is well-formed, j2 fails."""
    limits = {"min_average": "80", "min_pass_rate": "0.9"}

    def sent(ids: list[str], **more: str) -> str:
        dev = {"subset": (io.BytesIO(document(ids)), "dev.json")}
        answer = send(client, "json-v2", DATA["json-v2"], **limits, **more, **dev)
        address: str = answer.headers["Location"]
        return address

    passed = text(client.get(sent(["j1"])).text)
    assert "✓ Gate passed" in passed
    assert (
        "The dev set decides: 1 of 2 questions, mean score 90.00, schema pass rate 1.00. "
        "All questions: Gate not passed." in passed
    )
    assert "dev.json" in passed
    stopped = sent(["j2"], stop_at_gate="1")
    page = text(client.get(stopped).text)
    assert "✗ Gate not passed" in page
    assert "the rest was not scored: all figures are those of the dev set" in page
    assert "1 item " in page
    assert client.get(f"{stopped}/scores.json").get_json()["subset"]["count"] == 1
    unknown = text(client.get(sent(["j1", "j9"])).text)
    assert "dev.json names questions that are not in the set: j9" in unknown


def test_a_file_without_provenance_is_refused_with_what_is_missing(
    client: FlaskClient, web_database: Database
) -> None:
    answer = send(client, "json-v2", document({"items": JSON_SET["items"]}))

    assert answer.status_code == 422
    assert "missing: prompt_sha256, prompt_version" in answer.text
    assert rows(web_database, Evaluation) == 0


@pytest.mark.parametrize(
    ("kind", "data", "said"),
    [
        ("answers", b"PK\x03\x04", "it looks like a zip archive or an Excel file"),
        ("chunks", b"<html>", "it looks like a web page"),
        ("answers", b"", "is empty"),
        ("json-v2", DATA["chunks"], "it looks like JSON Lines"),
        ("chunks", DATA["answers"], "Not one row of some.jsonl could be scored."),
        ("other", DATA["chunks"], "Say first what kind of file it is."),
    ],
)
def test_a_wrong_file_says_what_it_is_and_nothing_is_stored(
    client: FlaskClient, web_database: Database, kind: str, data: bytes, said: str
) -> None:
    answer = send(client, kind, data)

    assert answer.status_code == 422
    assert said in answer.text
    assert "Nothing was stored." in answer.text
    assert rows(web_database, Evaluation) == 0


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"tau_sim": "much"}, "Threshold (tau_sim): a number from -1 to 1."),
        ({"tau_sim": "2"}, "Threshold (tau_sim): a number from -1 to 1."),
        ({"tau_sim": "1e999999999"}, "Threshold (tau_sim): a number from -1 to 1."),
        ({"first": "9" * 5_000}, "Only the first rows: a whole number from 1."),
        ({"embedder": "endpoint"}, "No embeddings endpoint is configured."),
        ({"outputs": (io.BytesIO(b"{}"), "o.jsonl")}, "Only JSON answers come in two files."),
        ({"subset": (io.BytesIO(b"[]"), "dev.json")}, "Only JSON answers have a dev set."),
        ({"first": "0"}, "Only the first rows: a whole number from 1."),
        ({"first": "-3"}, "Only the first rows: a whole number from 1."),
        ({"first": "many"}, "Only the first rows: a whole number from 1."),
        ({"kind": "json-v2", "first": "3"}, "give a dev set instead"),
    ],
)
def test_settings_that_cannot_be_are_told(
    client: FlaskClient, more: dict[str, Any], said: str
) -> None:
    answer = send(client, more.pop("kind", "answers"), DATA["answers"], **more)

    assert answer.status_code == 422
    assert said in answer.text


def test_a_dev_set_that_is_none_is_refused(client: FlaskClient, web_database: Database) -> None:
    dev = {"subset": (io.BytesIO(b"<html>"), "dev.json")}
    answer = send(client, "json-v2", DATA["json-v2"], **dev)

    assert answer.status_code == 422
    assert "dev.json" in answer.text
    assert rows(web_database, Evaluation) == 0


def test_no_file_or_outputs_without_questions_are_told(client: FlaskClient) -> None:
    none = client.post("/evaluations/", data={"kind": "chunks"})
    form = {"kind": "json-v2", "outputs": (io.BytesIO(b"{}"), "o.jsonl")}
    outputs = client.post("/evaluations/", data=form, content_type="multipart/form-data")

    assert "Please choose a file first." in none.text
    assert "Choose the questions too" in outputs.text


def test_more_rows_than_are_kept_point_to_the_command_line(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MOST_ROWS", 1)

    assert "which takes any number" in send(client, "chunks", DATA["chunks"]).text


@pytest.mark.parametrize(("code", "shown"), [("en", "0.6"), ("id", "0,6")])
def test_the_usual_threshold_is_written_as_the_reader_writes_it(
    client: FlaskClient, code: str, shown: str
) -> None:
    client.post("/language", data={"to": code})

    assert f'placeholder="{shown}"' in client.get("/evaluations/").text


def test_a_threshold_of_zero_is_honoured(client: FlaskClient) -> None:
    answer = send(client, "answers", DATA["answers"], tau_sim="0")

    assert "tau_sim 0.00" in text(client.get(answer.headers["Location"]).text)


def test_bad_rows_are_told_by_line_on_the_page(client: FlaskClient) -> None:
    page = client.get(scored(client, "chunks", DATA["chunks"] + b"{bad\n")).text

    assert "some.jsonl, line 3 is not complete JSON" in page
    assert "2 items" in page


def test_the_same_file_again_leads_to_what_was_kept(client: FlaskClient) -> None:
    first, again = scored(client, "chunks"), scored(client, "chunks")

    assert again == f"{first}?again=1"
    assert "scored before with the same settings" in client.get(again).text


def test_deleting_says_what_goes_first(client: FlaskClient, web_database: Database) -> None:
    base = scored(client, "answers")
    judge(client, f"{base}/items/1", "0", 1)
    question = text(client.get(f"{base}/delete").text)

    assert "3 items with their scores" in question
    assert "1 judgment or grade by people" in question
    assert "the log of every click" in question
    assert client.post(f"{base}/delete").status_code == 303
    assert client.get(base).status_code == 404
    assert rows(web_database, ItemJudgment) == 0
    assert rows(web_database, ItemEvent) == 1


@pytest.mark.parametrize("address", ["", "/items", "/items/1", "/people", "/delete"])
def test_what_is_not_there_is_not_found(client: FlaskClient, address: str) -> None:
    assert client.get(f"/evaluations/gone{address}").status_code == 404


def test_files_have_a_name_and_a_type(client: FlaskClient) -> None:
    base = scored(client, "chunks")
    csv = client.get(f"{base}/scores.csv")

    assert csv.headers["Content-Disposition"].endswith(".csv")
    assert csv.text.splitlines()[0] == "id,strategy,iou,recall,precision,precision_omega,f1"
    assert client.get(f"{base}/scores.json").get_json()["summary"]["count"] == 2


@pytest.mark.parametrize("kind", ["answers", "chunks", "json-v2"])
def test_reports_equal_those_of_the_command_line(
    client: FlaskClient, tmp_path: Path, kind: str
) -> None:
    """The first 2 of 3 answers, a line left out, all chunks by strategy, a dev set that stops."""
    (tmp_path / "some.jsonl").write_bytes(DATA[kind] + (b"{bad" if kind == "chunks" else b""))
    (tmp_path / "dev.json").write_text('["j1"]', "utf-8")
    more: dict[str, Any] = {}
    options: list[str | Path] = []
    if kind == "answers":
        more, options = {"first": "2"}, ["--n", "2"]
    if kind == "json-v2":
        dev = (io.BytesIO(b'["j1"]'), "dev.json")
        more = {"subset": dev, "stop_at_gate": "1"}
        options = ["--subset", tmp_path / "dev.json", "--gate"]
    base = send(client, kind, (tmp_path / "some.jsonl").read_bytes(), **more).headers["Location"]
    page = client.get(base).text

    for name, file_format in (("report.md", "markdown"), ("report.tex", "latex")):
        assert f"{base}/{name}" in page
        command = ("score", kind, tmp_path / "some.jsonl", "--format", file_format)
        assert client.get(f"{base}/{name}").text == relevansi(tmp_path, *command, *options).stdout


def test_the_prompt_that_is_given_must_be_the_one_that_is_stated(
    client: FlaskClient, web_database: Database
) -> None:
    """As with --prompt: another one stores nothing."""
    prompt = b"Answer as JSON.\n"

    def sent(kind: str, data: bytes) -> TestResponse:
        return send(client, kind, data, prompt=(io.BytesIO(prompt), "prompt.md"))

    refused = [sent("json-v2", DATA["json-v2"]), sent("chunks", DATA["chunks"])]
    assert [one.status_code for one in refused] == [422, 422]
    assert "prompt.md" in refused[0].text
    assert "Only JSON answers state their prompt." in refused[1].text
    assert rows(web_database, Evaluation) == 0
    stated = JSON_SET | {"prompt_sha256": sha256(prompt).hexdigest()}
    taken = client.get(sent("json-v2", document(stated)).headers["Location"])
    assert "prompt.md" in text(taken.text)


def hostile() -> dict[str, bytes]:
    answer = {
        "id": HOSTILE,
        "question": HOSTILE,
        "answer": f"{HOSTILE} [CIT:d1].",
        "gold": HOSTILE,
        "contexts": [{"id": "d1", "text": HOSTILE}],
        "claim_similarities": [1],
    }
    chunk = {"id": HOSTILE, "question": HOSTILE, "expected_answer": HOSTILE, "strategy": HOSTILE}
    example = {key: HOSTILE if isinstance(v, str) else [HOSTILE] for key, v in EXAMPLE.items()}
    one = {"id": HOSTILE, "question": HOSTILE, "expected": {"answer_example": example}}
    return {
        "answers": lines(answer),
        "chunks": lines(chunk | {"retrieved_chunks": [HOSTILE]}),
        "json-v2": document(JSON_SET | {"model_id": HOSTILE, "items": [one | {"output": HOSTILE}]}),
    }


@pytest.mark.parametrize("kind", ["answers", "chunks", "json-v2"])
def test_hostile_texts_are_text(client: FlaskClient, kind: str) -> None:
    base = scored(client, kind, hostile()[kind])
    judge(client, f"{base}/items/1", "grade", 1)

    for address in ("", "/items", "/items/1", "/people", "/delete"):
        page = client.get(base + address).text
        assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in client.get(f"{base}/items/1").text


@pytest.mark.parametrize(
    ("menu", "endpoint", "marked"),
    [
        ("owner", "machine_agreement.show", "study.show"),
        ("more", "machine_agreement.show", "evaluations.index"),
        ("rater", "item_rating.next_one", "item_rating.index"),
    ],
)
def test_a_page_is_marked_in_a_menu(menu: str, endpoint: str, marked: str) -> None:
    assert places.marked(menu, endpoint) == [marked]


@pytest.mark.parametrize(
    ("path", "says", "leads_to"),
    [
        ("/items/", "What the owner takes from an automatic evaluation", "Come back"),
    ],
)
def test_an_empty_page_says_what_will_stand_there_and_how_to_get_it(
    app: Flask, path: str, says: str, leads_to: str
) -> None:
    places.assert_explained(app, path, says, leads_to)


@pytest.fixture(name="demo", scope="module")
def _demo(demo_file: Path) -> Iterator[Flask]:
    app = create_app(Settings(sqlite_url(demo_file), demo_file.parent, is_demo=True))
    yield app
    app.extensions["database"].close()


def test_a_table_that_stands_in_blocks_on_a_phone_names_every_figure(
    demo: Flask, demo_session: Session
) -> None:
    evaluation = demo_session.scalars(select(Evaluation.id)).first()

    assert_named_in_blocks(in_english(demo).get(f"/evaluations/{evaluation}/people").text)
