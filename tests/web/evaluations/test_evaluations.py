"""Evaluations as pages: uploaded, read, drilled into, judged beside the machine, deleted."""

from __future__ import annotations

import io
import re
from hashlib import sha256
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import func, select
from werkzeug.test import TestResponse

from tests.cli.relevansi import relevansi
from tests.services.evaluations.embeddings import BROKEN, serving
from tests.services.evaluations.scored_files import (
    ANSWERS,
    CHUNKS,
    EXAMPLE,
    JSON_SET,
    document,
    lines,
)
from tests.web.conftest import PART
from webapp.db.engine import Database
from webapp.db.tables.evaluations import Evaluation, ItemEvent, ItemJudgment
from webapp.services.evaluations import embedders, files

DATA = {"answers": lines(*ANSWERS), "chunks": lines(*CHUNKS), "json-v2": document(JSON_SET)}
HOSTILE = "<script>alert(1)</script>"


def send(client: FlaskClient, kind: str, data: bytes, **more: Any) -> TestResponse:
    form = {"kind": kind, "file": (io.BytesIO(data), "some.jsonl"), **more}
    return client.post("/evaluations/", data=form, content_type="multipart/form-data")


def scored(client: FlaskClient, kind: str, data: bytes | None = None) -> str:
    """Return the address of an evaluation of the data, else of the small sample."""
    answer = send(client, kind, DATA[kind] if data is None else data)
    assert answer.status_code == 303, answer.text
    return answer.headers["Location"]


def judge(client: FlaskClient, item: str, part: str, value: object, **headers: str) -> TestResponse:
    form = {"part": part, "value": value}
    return client.post(f"{item}/judgment", data=form, headers=headers or None)


def text(page: str) -> str:
    """Return what a page says, without its tags."""
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def rows(database: Database, table: type[Any]) -> int:
    with database.reading() as session:
        return session.scalar(select(func.count()).select_from(table)) or 0


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


def test_cosines_come_from_words_or_the_configured_endpoint_and_from_no_other(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch, web_database: Database
) -> None:
    rows_without = [{k: v for k, v in row.items() if k != "claim_similarities"} for row in ANSWERS]
    lexical = send(client, "answers", lines(*rows_without), embedder="lexical")
    page = text(client.get(lexical.headers["Location"]).text)
    assert "Cosines: lexical (TF-IDF); tau_sim 0.30." in page
    assert 'value="endpoint"' not in client.get("/evaluations/").text

    monkeypatch.setenv("RELEVANSI_EMBEDDINGS_URL", "http://127.0.0.1:9/v1")  # nobody answers
    monkeypatch.setenv("RELEVANSI_EMBEDDINGS_MODEL", "small")
    assert 'value="endpoint"' in client.get("/evaluations/").text
    refused = send(client, "answers", lines(*rows_without), embedder="endpoint")
    assert refused.status_code == 422
    assert "http://127.0.0.1:9/v1/embeddings cannot be used" in refused.text
    assert rows(web_database, Evaluation) == 1


@pytest.fixture(name="without_cosines")
def _without_cosines() -> bytes:
    """The sample of cited answers, whose cosines the endpoint is to make."""
    kept = [{k: v for k, v in row.items() if k != "claim_similarities"} for row in ANSWERS]
    return lines(*kept)


def configure(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("RELEVANSI_EMBEDDINGS_URL", url)
    monkeypatch.setenv("RELEVANSI_EMBEDDINGS_MODEL", "tiny")
    monkeypatch.setenv("RELEVANSI_EMBEDDINGS_KEY", "a secret key")


def test_the_configured_endpoint_makes_the_cosines_and_its_key_is_never_shown(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch, without_cosines: bytes
) -> None:
    with serving() as (url, asked):
        configure(monkeypatch, url)
        address = send(client, "answers", without_cosines, embedder="endpoint").headers["Location"]
    page, item = client.get(address).text, client.get(f"{address}/items/1").text

    # the endpoint gives every text of the sample the same vector: each cosine is 1
    assert f"Cosines: tiny ({url}/embeddings); tau_sim 0.60." in text(page)
    assert "✓ Supported cosine 1.00" in text(item)
    assert {key for _, key, _ in asked} == {"Bearer a secret key"}
    assert len(asked) == 2  # q1 and q3; the claim of q2 cites what is not there
    for shown in (page, item, client.get("/evaluations/").text):
        assert "a secret key" not in shown


@pytest.mark.parametrize("broken", BROKEN[::4])  # every kind: see test_embedders
def test_an_endpoint_that_gives_no_vectors_is_told_and_nothing_is_stored(
    client: FlaskClient,
    monkeypatch: pytest.MonkeyPatch,
    web_database: Database,
    without_cosines: bytes,
    broken: tuple[int, bytes, int, str],
) -> None:
    status, body, promised, why = broken
    with serving(status, body, promised=promised) as (url, _):
        configure(monkeypatch, url)
        answer = send(client, "answers", without_cosines, embedder="endpoint")

    assert answer.status_code == 422
    assert f"The embeddings endpoint {url}/embeddings" in answer.text or "tiny (" in answer.text
    assert why in unescape(answer.text)
    assert "Nothing was stored." in answer.text
    assert 'value="endpoint" selected' in answer.text  # as it was chosen, to try again
    assert rows(web_database, Evaluation) == 0


def test_an_endpoint_that_is_silent_is_given_up_and_told(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch, without_cosines: bytes
) -> None:
    monkeypatch.setattr(embedders, "TIMEOUT_SECONDS", 0.2)
    with serving(seconds=20) as (url, _):
        configure(monkeypatch, url)
        answer = send(client, "answers", without_cosines, embedder="endpoint")

    assert answer.status_code == 422
    assert "it did not answer within 0.2 seconds" in answer.text


def test_bad_rows_are_told_by_line_on_the_page(client: FlaskClient) -> None:
    page = client.get(scored(client, "chunks", DATA["chunks"] + b"{bad\n")).text

    assert "some.jsonl, line 3 is not complete JSON" in page
    assert "2 items" in page


def test_the_same_file_again_leads_to_what_was_kept(client: FlaskClient) -> None:
    first, again = scored(client, "chunks"), scored(client, "chunks")

    assert again == f"{first}?again=1"
    assert "scored before with the same settings" in client.get(again).text


def test_sentences_are_told_apart_by_word_and_sign_beside_their_context(
    client: FlaskClient,
) -> None:
    item = text(client.get(scored(client, "answers") + "/items/1").text)

    assert "✓ Supported cosine 0.80 Ada tiga kamar [CIT:d1]. d1 Rumah tiga kamar di" in item
    assert "✗ No citation cosine 0.10 Harganya murah." in item
    assert "– Says “I don&#39;t know” Tidak tahu." in item
    second = text(client.get(scored(client, "answers").partition("?")[0] + "/items/2").text)
    assert "✗ Cites what is not among the contexts" in second


def test_words_in_common_and_missed_are_marked_and_surplus_is_listed(client: FlaskClient) -> None:
    page = client.get(scored(client, "chunks") + "/items/1").text

    assert page.count('<mark class="common">rumah</mark>') == 2  # expected and the chunk
    assert '<mark class="missed">cemara</mark>' in page
    assert "besar · kolam · renang" in page


def test_fields_stand_side_by_side_with_their_points_and_why(client: FlaskClient) -> None:
    page = text(client.get(scored(client, "json-v2") + "/items/1").text)

    assert "✓ Target audience 10 of 10 points One text contains the other." in page
    assert "✗ Main topic 0 of 10 points Jaccard of character pairs 0.00, below 0.72." in page
    assert "1 pair; 1 expected, 1 given and looked at, 0 beyond the limit." in page
    assert "2 pairs; 2 expected, 2 given and looked at, 0 beyond the limit." in page
    assert "1 of 1 references lead back to the contexts. Contexts a.md References a.md" in page


def test_a_failed_output_says_why_and_is_shown_as_it_came(client: FlaskClient) -> None:
    page = client.get(scored(client, "json-v2") + "/items/2").text

    assert "This output failed: 0 points." in page
    assert "The object is inside a code fence." in page
    assert "```json" in page


def test_a_word_is_stored_shown_and_taken_back_without_a_script(client: FlaskClient) -> None:
    item = scored(client, "answers") + "/items/1"
    answer = judge(client, item, "1", 1)
    page = client.get(item).text

    assert answer.status_code == 303
    assert answer.headers["Location"] == f"{item}#part-1"
    assert 'id="say-1-1" name="value" value="" aria-pressed="true"' in page
    assert "The machine says otherwise" in page
    judge(client, item, "1", "")
    assert 'aria-pressed="true"' not in client.get(item).text
    judge(client, item, "grade", 4)
    assert 'id="grade-4" name="value" value="" aria-pressed="true"' in client.get(item).text
    undone = client.post(f"{item}/undo")
    assert undone.headers["Location"] == item
    assert 'aria-pressed="true"' not in client.get(item).text


def test_with_htmx_the_item_alone_is_sent(client: FlaskClient) -> None:
    item = scored(client, "answers") + "/items/1"

    part = judge(client, item, "0", 0, **PART).text
    undone = client.post(f"{item}/undo", headers=PART).text

    assert part.lstrip().startswith('<div id="item">')
    assert 'id="say-0-0" name="value" value="" aria-pressed="true"' in part
    assert "<html" not in part
    assert 'aria-pressed="true"' not in undone


@pytest.mark.parametrize(("part", "value"), [("9", 1), ("0", 3), ("grade", 6), ("", 1), ("0", "x")])
def test_what_cannot_be_said_is_refused(
    client: FlaskClient, web_database: Database, part: str, value: object
) -> None:
    item = scored(client, "answers") + "/items/1"

    assert judge(client, item, part, value).status_code == 400
    assert rows(web_database, ItemEvent) == 0


def test_items_can_be_narrowed_to_those_that_failed_or_divide(client: FlaskClient) -> None:
    base = scored(client, "answers")
    judge(client, f"{base}/items/3", "0", 0)  # the machine says supported

    failed = client.get(f"{base}/items?show=failed").text
    divided = client.get(f"{base}/items?show=disagreements").text

    assert [f"/items/{n}" in failed for n in (1, 2, 3)] == [True, True, False]
    assert [f"/items/{n}" in divided for n in (1, 2, 3)] == [False, False, True]
    assert "1 differs" in divided
    assert client.get(f"{base}/items?show=judged&page=9").status_code == 200


def test_a_page_of_items_leads_to_the_next(client: FlaskClient) -> None:
    many = lines(*(CHUNKS[0] | {"id": f"c{n}"} for n in range(60)))
    base = scored(client, "chunks", many)

    first, second = client.get(f"{base}/items").text, client.get(f"{base}/items?page=2").text

    assert "Page 1 of 2" in first
    assert 'rel="next"' in first
    assert "/items/51" in second
    assert 'rel="next"' not in second


def test_people_are_put_beside_the_machine(client: FlaskClient) -> None:
    base = scored(client, "answers")
    assert "Nobody has judged an item yet." in client.get(f"{base}/people").text
    for position, part, value in [(1, "0", 1), (1, "1", 1), (2, "0", 0), (3, "0", 0)]:
        judge(client, f"{base}/items/{position}", part, value)
    for position, grade in [(1, 3), (2, 0), (3, 5)]:
        judge(client, f"{base}/items/{position}", "grade", grade)

    page = text(client.get(f"{base}/people").text)

    # machine ✓ ✗ ✗ ✓ against people ✓ ✓ ✗ ✗: agreed 2 of 4, kappa 0
    assert "Machine ✓ 1 1 Machine ✗ 1 1" in page
    assert re.search(r"All 4 0\.50 0\.00 .*?0\.50 0\.50", page)
    # overlap 0.5, 0, 1 against 3, 0, 5
    assert re.search(r"Supported claims \(overlap\) 3 1\.00 .*? 1\.00", page)
    assert "1 of 2 parts differ · grade 3 of 5, Supported claims (overlap) 0.50" in page
    assert "By the number of parts that differ, then by how far the grade / 5 lies" in page
    items = text(client.get(f"{base}/items").text)
    assert "✓ 2 ✗ 0 grade 3 " in items
    assert "Fewer than 30 items are graded" in page
    document = client.get(f"{base}/people.json").get_json()
    assert document["verdicts"]["cohen_kappa"]["value"] == 0
    assert (document["verdicts"]["both"], document["graded"]) == (1, 3)
    assert document["grades"]["overlap"]["spearman"]["value"] == pytest.approx(1)
    assert document["grades"]["overlap"]["spearman"]["lower"] is None  # fewer than 5
    assert document["grades"]["f1"]["why_undefined"] == "too_few_items"


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
