"""Run files of both formats: what is read, what is reported, what is refused."""

from __future__ import annotations

import contextlib
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import asdict

from relevansi.i18n import LANGUAGES, speaking
from relevansi.importers.runs import json_documents, json_runs
from relevansi.importers.runs.json_documents import FromFile, SaidWords, kind_of, read_object
from relevansi.importers.runs.problems import (
    ImportRefused,
    UnknownRunFormat,
    UnreadableFile,
    message,
)
from relevansi.records import QueryState, ReadRun, Severity
from tests.importers.runs.run_files import SITE, described, entry, query, read, v1, v2, v2_entry


def test_a_v1_file_is_read_with_its_labels_and_its_hash() -> None:
    extras: dict[str, Any] = {
        "latency_ms": 12.5,
        "usage": [{"prompt_tokens": 3}],
        "mood": {"a": [1]},
    }
    document = v1(entry(**extras), total_questions=1, successful=1, note="x")
    data = json.dumps(document).encode()
    run = json_runs.read("hybrid/test_results.json", b"\xef\xbb\xbf" + data)

    assert run.file_format == "v1"
    assert run.sha256 == hashlib.sha256(b"\xef\xbb\xbf" + data).hexdigest()
    assert (run.timestamp, run.thread_id, run.user_id) == ("20260126_141433", "t", "u")
    assert (run.search_method, run.llm, run.total_questions) == ("hybrid", None, 1)
    assert (run.extra, run.problems) == ({"note": "x"}, ())
    assert [card.slug for card in run.queries[0].cards] == ["a", "b"]
    assert run.queries[0].extra == extras


def test_a_v2_file_is_read_with_its_llm_and_its_properties_as_they_are() -> None:
    properties = [{"name": "Rumah A", "api_data": {"price": "5"}}, {}]
    run = read(v2(v2_entry(*properties)))

    assert (run.file_format, run.search_method, run.llm) == ("v2", "hybrid", "openai")
    assert run.extra == {"threshold_t": 0.6}
    assert run.queries[0].claimed_count == 2
    assert run.queries[0].extra == {"properties": properties}


@pytest.mark.parametrize(
    ("document", "file_format"),
    [
        (v1(entry(properties=[])), "v1"),
        (v2(v2_entry()), "v2"),
        ({"results": [entry()]}, "v1"),
        ({"results": [v2_entry()]}, "v2"),
        ({"results": [{"query_id": 1, "question": "a", "response": ""}]}, "v1"),
        ({"results": [{"query_id": 1, "question": "a", "response": "", "properties": []}]}, "v2"),
    ],
)
@pytest.mark.parametrize("name", ["test_results.json", "results.json", "x"])
def test_the_format_is_known_by_what_the_file_holds(
    document: object, file_format: str, name: str
) -> None:
    assert read(document, name).file_format == file_format


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ({}, QueryState.RESULTS),
        ({"results_count": None}, QueryState.RESULTS),
        ({"results_count": 0}, QueryState.RESULTS),
        ({"response": "Tidak ada.", "results_count": 0}, QueryState.EMPTY),
        ({"response": "Tidak ada.", "results_count": None}, QueryState.EMPTY),
        ({"response": "Tidak ada.", "results_count": ...}, QueryState.EMPTY),
        ({"response": "", "results_count": 0}, QueryState.EMPTY),
        ({"response": "Ada lima!", "results_count": 5}, QueryState.UNREADABLE),
        ({"success": False, "response": None, "error": "timeout"}, QueryState.FAILED),
        ({"success": False, "response": ..., "results_count": 0}, QueryState.FAILED),
        ({"success": False}, QueryState.FAILED),
        ({"success": ..., "error": "timeout", "response": ""}, QueryState.FAILED),
        ({"success": ...}, QueryState.RESULTS),
        ({"response": ...}, QueryState.UNREADABLE),
        ({"response": None}, QueryState.UNREADABLE),
        ({"response": 42}, QueryState.UNREADABLE),
        ({"success": "true"}, QueryState.UNREADABLE),
    ],
)
def test_what_came_back_is_told_apart(changes: dict[str, Any], state: QueryState) -> None:
    read_one = query(v1(entry(**changes)))

    assert read_one.state is state
    assert bool(read_one.cards) == (state is QueryState.RESULTS)
    failed = query(v1(entry(success=False, error={"code": 504}, response="")))
    assert failed.error == '{"code": 504}'


@pytest.mark.parametrize(
    ("changes", "depends"),
    [
        ({}, None),
        ({"category": "context_followup"}, True),
        ({"category": "context_followup", "context_dependent": False}, False),
        ({"context_dependent": True}, True),
        ({"category": "no_context_here"}, None),
    ],
)
def test_context_dependence_is_said_or_follows_the_category(
    changes: dict[str, Any], depends: bool | None
) -> None:
    assert query(v1(entry(**changes))).context_dependent is depends


@pytest.mark.parametrize(
    ("broken", "place", "kind"),
    [
        ({"question": "a", "response": ""}, "results[1].query_id", "missing"),
        (entry(2) | {"query_id": "2"}, "results[1].query_id", "a text"),
        (entry(2) | {"query_id": 2**60}, "results[1].query_id", str(2**60)),
        (entry(2) | {"query_id": True}, "results[1].query_id", "true or false"),
        (entry(2, question=...), "results[1].question", "missing"),
        (entry(2, question="  "), "results[1].question", "an empty text"),
        (entry(2, question=["a"]), "results[1].question", "a list"),
        (None, "results[1]", "nothing (null)"),
        (entry(1, question="Lain"), "results[1].query_id", "repeats question number 1"),
    ],
)
def test_an_entry_without_a_number_or_question_of_its_own_is_left_out(
    broken: object, place: str, kind: str
) -> None:
    run = read(v1(entry(1), broken))

    assert [(query.query_id, query.question) for query in run.queries] == [(1, "Carikan rumah 1")]
    assert described(run).startswith(f"test_results.json: {place} ")
    assert kind in described(run)
    assert "left out" in described(run)
    assert run.problems[0].severity is Severity.ERROR


@pytest.mark.parametrize(
    ("changes", "place", "state"),
    [
        ({"response": 42}, "response", QueryState.UNREADABLE),
        ({"response": ...}, "response", QueryState.UNREADABLE),
        ({"success": 1}, "success", QueryState.UNREADABLE),
        ({"results_count": -1}, "results_count", QueryState.RESULTS),
        ({"results_count": "two"}, "results_count", QueryState.RESULTS),
        ({"results_count": 2**54}, "results_count", QueryState.RESULTS),
        ({"category": 5}, "category", QueryState.RESULTS),
        ({"context_dependent": "no"}, "context_dependent", QueryState.RESULTS),
        ({"properties": {}}, "properties", QueryState.RESULTS),
    ],
)
def test_a_broken_answer_is_kept_as_unreadable_and_another_wrong_value_ignored(
    changes: dict[str, Any], place: str, state: QueryState
) -> None:
    run = read(v1(entry(1), entry(2, **changes)))

    assert [query.state for query in run.queries] == [QueryState.RESULTS, state]
    problem, *_ = run.problems
    assert (problem.severity, problem.query_id) == (Severity.ERROR, 2)
    assert problem.details["place"] == f"results[1].{place}"


def test_a_wrong_value_of_a_property_is_told_of_its_question_not_of_its_id() -> None:
    (problem, *_) = read(v2(v2_entry({"id": 4242, "price": {"from": 1}}))).problems

    assert (problem.code, problem.query_id) == ("value_wrong", 1)
    assert problem.details["place"] == "results[0].properties[0].price"


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "9" * 5000])
def test_an_impossible_number_is_reported_with_its_place(number: str) -> None:
    data = json.dumps(v1(entry(latency_ms="HERE"))).replace('"HERE"', number).encode()
    run = json_runs.read("test_results.json", data)

    assert "results[0].latency_ms is no usable number" in described(run)
    assert run.queries[0].extra == {"latency_ms": None}


def test_what_databases_refuse_is_taken_out_of_texts() -> None:
    dirty = entry(question="Ca\x00ri\ud800", response="a\x00b\udfff\u202ec", results_count=0)
    read_one = query(v1({**dirty, "x\x00": ["y\ud800"]}))

    assert (read_one.question, read_one.response) == ("Cari", "ab\u202ec")
    assert read_one.extra == {"x": ["y"]}


GOOD = json.dumps(v1(entry())).encode()


@pytest.mark.parametrize(
    ("data", "kind", "says"),
    [
        (b"", UnreadableFile, "is empty"),
        (b"\xef\xbb\xbf \n", UnreadableFile, "is empty"),
        (GOOD[:-20], UnreadableFile, "line 1, column"),
        (GOOD + b"x", UnreadableFile, "line 1, column"),
        (GOOD.decode().encode("utf-16"), UnreadableFile, "text in UTF-16"),
        (b'{"results": ["\xff"]}', UnreadableFile, "text in another encoding"),
        (b"\x01\x00\x81\x02", UnreadableFile, "binary data"),
        (b"PK\x03\x04....", UnreadableFile, "a zip archive or an Excel file"),
        (b"%PDF-1.7", UnreadableFile, "a PDF"),
        (b"\x89PNG\r\n", UnreadableFile, "a picture"),
        (b"<!doctype html><html>", UnreadableFile, "a web page"),
        (b"query_id,question\n1,a\n", UnreadableFile, "a table (CSV)"),
        (b"Halo dunia", UnreadableFile, "plain text"),
        (b'{"id": 1}\n{"id": 2}\n', UnreadableFile, "JSON Lines"),
        (b"[" * 100_000, UnreadableFile, "64 levels"),
        (b"[" * 70 + b"]" * 70, UnreadableFile, "64 levels"),
        (b"[]", UnknownRunFormat, "looks like a list"),
        (b"null", UnknownRunFormat, "another kind of value"),
        (b"3", UnknownRunFormat, "another kind of value"),
        (b"{}", UnknownRunFormat, "an object that holds no answers"),
        (b'{"results": {}}', UnknownRunFormat, "an object that holds no answers"),
        (b'{"results": [1, {"a": 2}]}', UnknownRunFormat, "an object that holds no answers"),
        (b'[{"id": 1, "question": "a"}]', UnknownRunFormat, "a list of questions without answers"),
        (b'{"questions": []}', UnknownRunFormat, "a gold file"),
        (json.dumps(v1()).encode(), ImportRefused, "holds no question"),
        (json.dumps(v1(entry(question=""))).encode(), ImportRefused, "Not one of the questions"),
    ],
)
def test_a_wrong_file_is_refused_with_what_it_looks_like(
    data: bytes, kind: type[ImportRefused], says: str
) -> None:
    with pytest.raises(kind) as refusal:
        json_runs.read("run.json", data)

    with speaking("en"):
        assert says in str(refusal.value)
    for language in LANGUAGES:
        with speaking(language):
            assert "run.json" in str(refusal.value)


def test_a_file_above_the_limit_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_documents, "MAX_BYTES", 2**20)
    with pytest.raises(UnreadableFile) as refusal:
        json_documents.load("run.json", b" " * 2**21, expected="run_file")

    assert refusal.value.problem.details == {"megabytes": 2, "limit": 1}


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode()))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with contextlib.suppress(ImportRefused):
        json_runs.read("run.json", data)


@given(
    st.dictionaries(st.sampled_from(json_runs.RunFileHead.__struct_fields__), _JSON),
    st.dictionaries(st.sampled_from(json_runs.AnsweredQuestionInFile.__struct_fields__), _JSON),
    st.dictionaries(st.sampled_from(["name", "slug", "price", "bedrooms", "url"]), _JSON),
)
def test_any_values_in_a_run_keep_its_good_question(
    top: dict[str, Any], wrong: dict[str, Any], expected: dict[str, Any]
) -> None:
    entries = [entry(1, properties=[expected]), wrong, v2_entry(expected, query_id=2)]
    run = read({**top, "results": entries})

    assert run.queries[0].query_id == 1
    assert len(run.queries[0].cards) == 2
    for language in LANGUAGES:
        with speaking(language):
            assert all(message(problem) for problem in run.problems)


class Entry(FromFile, frozen=True):
    """An object with a required and an optional field."""

    name: SaidWords
    count: int | None = None


@pytest.mark.parametrize(
    ("raw", "query_id", "code", "place", "expected"),
    [
        ({"name": "a", "count": "many"}, None, "value_wrong", ".count", "number_in_range"),
        ({}, None, "value_missing", ".name", "text"),
        ({"name": 5, "query_id": 3, "id": 4}, 3, "value_wrong", ".name", "text"),
        ({"name": "-", "id": 4}, 4, "value_wrong", ".name", "text"),
        ({"name": "-", "query_id": 2**70}, None, "value_wrong", ".name", "text"),
        ({"name": "-", "query_id": True}, None, "value_wrong", ".name", "text"),
        ([], None, "value_wrong", "", "object"),
    ],
)
def test_a_wrong_value_costs_itself_alone_where_it_is_optional(
    raw: object, query_id: int | None, code: str, place: str, expected: str
) -> None:
    outcomes = {"": "entry_left_out"}
    result, (problem,) = read_object(Entry, raw, file="f.json", place="r[0]", outcomes=outcomes)

    outcome = "value_ignored" if result else "entry_left_out"
    assert (result is not None) == (place == ".count")
    assert (problem.code, problem.query_id) == (code, query_id)
    details = {"place": f"r[0]{place}", "expected": expected, "outcome": outcome}
    assert details.items() <= problem.details.items()


def test_a_value_is_called_by_its_kind() -> None:
    values: tuple[object, ...] = (None, True, 2.5, "a", " ", [], {})
    kinds = ["null", "true_or_false", "2.5", "text", "empty_text", "list", "object"]
    assert [*map(kind_of, values)] == kinds


def test_the_v1_and_the_v2_file_of_one_session_have_one_key() -> None:
    v1_file, v2_file = v1(entry(1), entry(2)), v2(v2_entry({}, {}), v2_entry({}, {}, query_id=2))
    v2_file["results"][1]["question"] = " CARIKAN  rumah2"

    assert json_runs.session_key(read(v1_file)) == json_runs.session_key(read(v2_file))


@pytest.mark.parametrize("changes", [{"response": "x"}, {"question": "y"}, {"query_id": 3}])
def test_another_answer_question_or_number_is_another_session(changes: dict[str, Any]) -> None:
    key = json_runs.session_key(read(v1(entry())))

    assert json_runs.session_key(read(v1(entry() | changes))) != key


@pytest.mark.real
@pytest.mark.parametrize("name", ["test_results.json", "results.json"])
def test_the_real_run_has_30_questions_and_237_cards(real_run: Path, name: str) -> None:
    """28 with results, 2 empty, and one listing shown twice for question 29."""
    run = json_runs.read(f"hybrid/{name}", (real_run / name).read_bytes())
    states = [read_one.state for read_one in run.queries]

    assert len(states) == 30
    assert (states.count(QueryState.RESULTS), states.count(QueryState.EMPTY)) == (28, 2)
    assert sum(len(read_one.cards) for read_one in run.queries) == 237
    assert [(problem.code, problem.query_id) for problem in run.problems] == [("card_repeated", 29)]


@pytest.mark.real
def test_the_v2_file_of_the_real_run_says_the_same_and_more(real_run: Path) -> None:
    """198 listings for sale and 39 for rent, as its properties say."""
    v1_run, v2_run = (
        json_runs.read(f"hybrid/{name}", (real_run / name).read_bytes())
        for name in ("test_results.json", "results.json")
    )
    v1_cards = [card for read_one in v1_run.queries for card in read_one.cards]
    v2_cards = [card for read_one in v2_run.queries for card in read_one.cards]

    assert json_runs.session_key(v1_run) == json_runs.session_key(v2_run)
    for v1_card, fuller in zip(v1_cards, v2_cards, strict=True):
        for name, value in asdict(v1_card).items():
            assert value is None or value == getattr(fuller, name)
    assert [card.listing_type for card in v2_cards].count("sale") == 198
    assert [card.listing_type for card in v2_cards].count("rent") == 39


def codes(run: ReadRun) -> list[str]:
    return [problem.code for problem in run.problems]


@pytest.mark.parametrize(
    ("document", "code"),
    [
        (v1(entry(results_count=3)), "count_differs"),
        (v1(entry(results_count=0)), None),
        (v1(entry(response="Ada lima!", results_count=5)), "answer_unreadable"),
        (v1(entry(success=False, error="timeout")), "call_failed"),
        (v1(entry(success=False)), "call_failed"),
        (v1(entry(category="")), "category_missing"),
        (v1(entry(response=f"1. [A]({SITE}/a)\n2. [B]({SITE}/a)")), "card_repeated"),
        (v1(entry(response="1. **A**\n2. **B**")), "card_without_slug"),
        (v1(entry(2), entry(4), total_questions=2), "questions_missing"),
        (v1(entry(1), successful=0), "successful_differs"),
        (v1(entry(1), total_questions=2**31 - 1), "total_differs"),
    ],
)
def test_a_claim_that_does_not_hold_is_a_warning(document: object, code: str | None) -> None:
    run = read(document)

    assert codes(run) == ([code] if code else [])
    assert {problem.severity for problem in run.problems} <= {Severity.WARNING}


@pytest.mark.parametrize(
    ("name", "labels", "expected"),
    [
        ("hybrid/test_results.json", {}, []),
        ("api_only/test_results.json", {}, ["method_differs"]),
        ("test_results_api_only_20260126.json", {}, ["method_differs"]),
        (r"C:\data\vector_only\test_results.json", {}, ["method_differs"]),
        ("hybrid/test_results.json", {"search_method": "Hybrid (60/40)"}, []),
        ("api-only/test_results.json", {"search_method": "api_only"}, []),
        ("api_only/test_results.json", {"search_method": ...}, []),
        ("/home/hybrid/a/b/c/run.json", {"search_method": "api_only"}, []),
        ("claude/test_results.json", {"llm": "openai"}, ["llm_differs"]),
        ("gpt-4o-mini/test_results.json", {"llm": "openai"}, []),
        ("google/test_results.json", {"llm": "gemini-1.5-flash"}, []),
        ("google/test_results.json", {"llm": "llama"}, ["llm_differs"]),
        ("anthropic/test_results.json", {}, []),
    ],
)
def test_a_label_that_contradicts_name_or_folder_is_reported(
    name: str, labels: dict[str, Any], expected: list[str]
) -> None:
    document = {key: value for key, value in v1(entry(), **labels).items() if value is not ...}

    assert codes(read(document, name)) == expected
