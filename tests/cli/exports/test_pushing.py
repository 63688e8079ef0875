"""``relevansi push``: judgments reach Phoenix and OpenSearch once, however often they are sent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import stamina

from relevansi.services.exports import pushes
from tests.chatbot.bots import Behaviour, Bot, Handler, cut, send, serving, status
from tests.cli.relevansi import document, environment, relevansi
from tests.stored_studies import folder_made_once


@pytest.fixture(autouse=True)
def _with_token() -> Iterator[None]:
    def with_secret(instance: Path, language: str) -> dict[str, str]:
        return {**environment(instance, language), "RELEVANSI_PUSH_TOKEN": "the-token"}

    with (
        mock.patch("tests.cli.relevansi.environment", with_secret),
        stamina.set_testing(True, attempts=3, cap=True),
    ):
        yield


@pytest.fixture(name="run")
@folder_made_once
def _run(tmp_path: Path) -> str:
    """A run of two spans with three documents, the first two of them graded."""
    spans = []
    for name, query, docs in (("s1", "red dress", ["d7", "d2"]), ("s2", "hat", ["d9"])):
        documents = {
            f"retrieval.documents.{n}.document.{key}": value
            for n, doc in enumerate(docs)
            for key, value in (("id", doc), ("content", f"Text {doc}"))
        }
        about = {"openinference.span.kind": "RETRIEVER", "input.value": query}
        span = {"name": "r", "context": {"span_id": name}, "attributes": {**about, **documents}}
        spans.append(json.dumps(span))
    (tmp_path / "spans.jsonl").write_text("\n".join(spans), "utf-8")
    imported = document(relevansi(tmp_path, "import", tmp_path / "spans.jsonl", "--json"))
    return str(imported["runs"][0]["id"])


@pytest.fixture(name="judged")
@folder_made_once
def _judged(tmp_path: Path, run: str) -> str:
    grades = [("red dress", "d7", 1), ("red dress", "d2", 0), ("hat", "d9", 1)]
    rows = ({"query": query, "doc_id": doc, "grade": grade} for query, doc, grade in grades)
    (tmp_path / "grades.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    document(relevansi(tmp_path, "import", tmp_path / "grades.jsonl", "--json"))
    return run


class Phoenix:
    """Keeps annotations of the spans that it knows, as Phoenix does; for one it refuses all."""

    def __init__(self, **documents: int) -> None:
        self.documents = documents
        self.stored: dict[tuple[str, int, str], Any] = {}

    def take(self, handler: Handler, body: Any) -> tuple[int, Any]:
        assert handler.path == "/v1/document_annotations?sync=true"
        for question in body["data"]:
            span, position = question["span_id"], question["document_position"]
            if question.get("identifier"):
                return 422, {"detail": "Non-empty identifier is not supported"}
            if span not in self.documents:
                return 404, {"detail": f"Spans with IDs {span} do not exist."}
            if position >= self.documents[span]:
                return 422, {"detail": f"{position} is out of bounds for span {span}"}
        for question in body["data"]:
            self.stored[question["span_id"], question["document_position"], question["name"]] = (
                question["result"]
            )
        return 200, {"data": [{"id": str(n)} for n, _ in enumerate(body["data"])]}

    def __call__(self, handler: Handler, body: Any) -> None:
        code, answer = self.take(handler, body)
        send(handler, code, json.dumps(answer).encode())

    def lost(self, handler: Handler, body: Any) -> None:
        self.take(handler, body)
        cut(handler, body)


class OpenSearch(Phoenix):
    """Makes a new list of every import, as OpenSearch does."""

    def __init__(self, *, has_search: bool = True) -> None:
        super().__init__()
        self.lists: list[Any] = []
        self.has_search = has_search

    def take(self, handler: Handler, body: Any) -> tuple[int, Any]:
        path = handler.path.removeprefix("/_plugins/_search_relevance/judgments")
        if handler.command == "PUT" and not path:
            self.lists.append(body)
            return 200, {"judgment_id": str(len(self.lists))}
        if path == "/_search" and not self.has_search:
            return 405, {"error": "Incorrect HTTP method"}
        assert (handler.command, path) in {("POST", "/_search"), ("GET", "")}
        hits = [{"_source": {"name": row["name"], "status": "COMPLETED"}} for row in self.lists]
        return 200, {"took": 1, "hits": {"total": {"value": len(hits)}, "hits": hits}}


def pushed(folder: Path, server: Bot, run: str, to: str, *further: str) -> tuple[int, str, str]:
    endpoint = server.address.removesuffix("/chat")
    arguments = ("push", "--to", to, "--endpoint", endpoint, "--run", run, *further)
    process = relevansi(folder, *arguments)
    return process.returncode, process.stdout, process.stderr


RESULTS = {("s1", 0): ("1", 1.0), ("s1", 1): ("0", 0.0), ("s2", 0): ("1", 1.0)}


def test_annotations_are_the_same_after_busy_servers_lost_answers_and_a_second_push(
    tmp_path: Path, judged: str
) -> None:
    """503, then stored without an answer, then answered, then all of it again."""
    phoenix = Phoenix(s1=2, s2=1)
    with serving(status(503, {"detail": "busy"}), phoenix.lost, phoenix) as server:
        first = pushed(tmp_path, server, judged, "phoenix", "--format", "json")
        second = pushed(tmp_path, server, judged, "phoenix")

    assert {
        (span, at): (result["label"], result["score"])
        for (span, at, _), result in phoenix.stored.items()
    } == RESULTS
    report = json.loads(first[1])
    assert (first[0], report["n_accepted"], report["refused"]) == (0, 3, [])
    assert (second[0], "3 accepted" in second[1]) == (0, True)
    assert server.headers[-1]["Authorization"] == "Bearer the-token"
    assert {question["metadata"]["rater"] for question in server.asked[-1]["data"]} == {
        "adjudicated"
    }


def test_only_what_a_server_cannot_place_is_refused(tmp_path: Path, judged: str) -> None:
    """Phoenix refuses a whole request for one span that it lacks: the others go on their own."""
    phoenix = Phoenix(s1=1)
    with serving(phoenix) as server:
        code, out, err = pushed(tmp_path, server, judged, "phoenix")

    assert {(span, at) for span, at, _ in phoenix.stored} == {("s1", 0)}
    assert (code, "1 accepted" in out, "2 refused" in out) == (1, True, True)
    assert "s1:1 (422: 1 is out of bounds for span s1)" in err
    assert "s2:0 (404: Spans with IDs s2 do not exist.)" in err


def test_batches_that_got_no_answer_are_named_and_the_others_counted(
    tmp_path: Path, judged: str
) -> None:
    """A server that fails half way leaves what it took; the rest is told, with why."""
    phoenix = Phoenix(s1=2, s2=1)
    with (
        mock.patch.object(pushes, "AT_ONCE", 1),
        serving(phoenix, status(503, {"detail": "full"})) as server,
    ):
        code, out, err = pushed(tmp_path, server, judged, "phoenix")

    assert (code, "1 accepted" in out, "2 refused" in out) == (1, True, True)
    assert "s1:1, s2:0 (The server failed (503): full)" in err
    assert len(phoenix.stored) == 1


@pytest.mark.parametrize("has_search", [True, False])
def test_a_list_is_imported_once_even_if_its_answer_was_lost(
    tmp_path: Path, judged: str, has_search: bool
) -> None:
    """It is looked for by its name before each try, where there is a search and where not."""
    workbench = OpenSearch(has_search=has_search)

    def losing(handler: Handler, body: Any) -> None:
        answers = workbench.lost if handler.command == "PUT" else workbench.__call__
        answers(handler, body)

    with serving(losing) as server:
        first = pushed(tmp_path, server, judged, "opensearch", "--format", "json")
        second = pushed(tmp_path, server, judged, "opensearch", "--format", "json")

    (imported,) = workbench.lists
    assert (imported["type"], imported["name"]) == ("IMPORT_JUDGMENT", json.loads(first[1])["name"])
    assert imported["judgmentRatings"] == [
        {
            "query": "red dress",
            "ratings": [{"docId": "d7", "rating": "1.000"}, {"docId": "d2", "rating": "0.000"}],
        },
        {"query": "hat", "ratings": [{"docId": "d9", "rating": "1.000"}]},
    ]
    assert [json.loads(out)["n_accepted"] for _, out, _ in (first, second)] == [3, 3]
    assert json.loads(second[1])["was_there"]
    assert first[0] == second[0] == 0


def test_other_judgments_are_another_list(tmp_path: Path, judged: str) -> None:
    """The name ends in a digest of the ratings, so that a new verdict makes a new list."""
    workbench = OpenSearch()
    with serving(workbench) as server:
        pushed(tmp_path, server, judged, "opensearch")
        row = {"query": "hat", "doc_id": "d9", "grade": 0}
        (tmp_path / "later.jsonl").write_text(json.dumps(row), "utf-8")
        relevansi(tmp_path, "import", tmp_path / "later.jsonl", "--rater", "Ani")
        code, out, _ = pushed(tmp_path, server, judged, "opensearch", "--rule", "rater Ani")

    assert (code, "1 accepted, 0 refused" in out) == (0, True)
    names = [stored["name"] for stored in workbench.lists]
    assert len(set(names)) == 2


@pytest.mark.parametrize(
    ("answer", "to", "words"),
    [
        (status(401, {"detail": "who?"}), "phoenix", "refused the token (401: who?)"),
        (status(403, {"error": "no"}), "opensearch", "Set RELEVANSI_PUSH_TOKEN"),
        (status(422, {"detail": "unfit"}), "phoenix", "s1:0, s1:1, s2:0 (422: unfit)"),
        (status(404, {"detail": "Not Found"}), "phoenix", "(404: Not Found)"),
        (status(503, {"detail": "busy"}), "phoenix", "The server failed (503): busy"),
        (status(503, {"detail": "busy"}), "opensearch", "The server failed (503): busy"),
    ],
)
def test_a_server_that_takes_nothing_is_a_failure(
    tmp_path: Path, judged: str, answer: Behaviour, to: str, words: str
) -> None:
    """With its own words, and without asking again for each judgment."""
    with serving(answer) as server:
        process = pushed(tmp_path, server, judged, to)

    assert (process[0], words in process[2]) == (1, True), process
    assert len(process[2].splitlines()) == 1
    assert len(server.asked) <= 3


@pytest.mark.parametrize(
    ("endpoint", "words"),
    [
        ("http://me:hunter2@127.0.0.1:1", "must be without a user and password"),
        ("file:///etc/passwd", "is not an http or https address"),
        ("http://127.0.0.1:1", "could not be reached"),
    ],
)
def test_an_address_that_cannot_be_used_is_said(
    tmp_path: Path, judged: str, endpoint: str, words: str
) -> None:
    """In one line, which does not repeat a password."""
    process = relevansi(
        tmp_path, "push", "--to", "phoenix", "--endpoint", endpoint, "--run", judged
    )

    assert (process.returncode, process.stdout, words in process.stderr) == (1, "", True)
    assert "hunter2" not in process.stderr


def test_what_cannot_be_pushed_is_said_before_anything_is_sent(tmp_path: Path, run: str) -> None:
    """A run without a judgment, and a study that no such tool holds."""
    with serving(status(200, {})) as server:
        for to in pushes.FORMS:
            code, _, err = pushed(tmp_path, server, run, to)
            assert (code, "has no judgment to push" in err) == (1, True)
        code, _, err = pushed(tmp_path, server, "none", "phoenix")
        assert (code, "This study has no run none" in err) == (1, True)

    assert server.asked == []
