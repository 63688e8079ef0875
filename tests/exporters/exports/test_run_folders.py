from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from relevansi.exporters.exports.run_folders import (
    RunNames,
    collected_run_file,
    document,
    folder,
    in_order,
    names,
    responses,
    run_file,
)
from relevansi.i18n import speaking
from relevansi.importers.runs import json_runs
from relevansi.records import CollectedAnswer, CollectedRun, QueryState, ReadQuery, ReadRun


def stored(
    run_id: str, timestamp: str | None = None, method: str | None = "hybrid", *more: ReadQuery
) -> ReadRun:
    query = ReadQuery(1, "Rumah?", "harga", "Tidak ada.", QueryState.EMPTY, claimed_count=0)
    return ReadRun(
        "v1", run_id, "", (query, *more), timestamp, search_method=method, llm="openai", key=run_id
    )


@pytest.mark.parametrize(
    ("method", "name"),
    [
        ("hybrid", "hybrid"),
        ("Hybrid (60/40)", "Hybrid_60_40"),
        ("../../etc", "etc"),
        ("..", "method_not_stated"),
        ("", "method_not_stated"),
        ("CON", "CON_"),
        ("nul.txt", "nul.txt_"),
        ("m" * 200, "m" * 80),
    ],
)
def test_a_folder_is_a_name_that_every_system_takes(method: str, name: str) -> None:
    assert folder(method) == name


def test_the_only_run_of_a_day_goes_by_the_day_and_others_by_moment_and_number() -> None:
    runs = in_order(
        [
            stored("late", "20260126_150000"),
            stored("early", "20260126_140000"),
            stored("twin", "20260126_140000"),
            stored("alone", "20260127_090000"),
            stored("elsewhere", "20260126_140000", "api_only"),
        ]
    )

    assert names(runs) == {
        "early": RunNames("hybrid", "20260126_140000", "20260126_140000"),
        "twin": RunNames("hybrid", "20260126_140000_2", "20260126_140000_2"),
        "late": RunNames("hybrid", "20260126_150000", "20260126_150000"),
        "alone": RunNames("hybrid", "20260127_090000", "20260127"),
        "elsewhere": RunNames("api_only", "20260126_140000", "20260126"),
    }


def test_methods_that_differ_in_case_alone_share_a_folder_and_no_time_is_undated() -> None:
    result = names([stored("a", "kemarin", "Hybrid"), stored("b", method="hybrid")])

    assert [result[name].folder for name in "ab"] == ["Hybrid", "Hybrid"]
    assert [result[name].moment for name in "ab"] == ["undated", "undated_2"]


def test_a_run_file_keeps_what_nobody_understands_and_counts_what_came() -> None:
    state, extra = QueryState.FAILED, {"odd": [1]}
    failed = ReadQuery(2, "Ruko?", "harga", "", state, error="timeout", extra=extra)
    stored_run = replace(stored("a", None, "hybrid", failed), llm=None, extra={"note": "mine"})
    read = json.loads(run_file(stored_run))

    assert (read["note"], read["total_questions"], read["successful"]) == ("mine", 2, 1)
    assert "llm" not in read
    assert (read["results"][1]["error"], read["results"][1]["odd"]) == ("timeout", [1])
    assert "error" not in read["results"][0]


def test_every_answer_is_there_to_read_and_where_none_came_why() -> None:
    failed = ReadQuery(2, "Ruko?", "harga", "", QueryState.FAILED, error="timeout")
    run = replace(stored("a", None, "hybrid", failed), llm=None)
    with speaking("en"):
        text = responses(run).decode()

    assert text.startswith("Search method: hybrid\nLLM: -\nTime: -\n")
    assert "1. Rumah?\n[harga]" in text
    assert text.index("Tidak ada.") < text.index("2. Ruko?") < text.index("timeout")


ANSWER = "1. **Rumah A**\n   📍 Cemara"
RUN = CollectedRun(
    timestamp="20260126_141433",
    thread_id="t",
    user_id="u",
    search_method="hybrid",
    llm="openai",
    endpoint="https://bot.example/chat",
    total_questions=3,
    answers=(
        CollectedAnswer(1, "Rumah?", "harga", response=ANSWER, results_count=1, latency_ms=812),
        CollectedAnswer(2, "Ruko?", "harga", error="timeout", error_code="timed_out", tries=3),
    ),
)


def test_a_collected_run_has_the_keys_of_the_original_first_and_is_read_as_a_run() -> None:
    head = json.loads(collected_run_file(RUN))
    answered, failed = head["results"]
    read = json_runs.read("run.json", collected_run_file(RUN))

    original = [
        "query_id", "question", "category", "success", "response", "response_length",
        "results_count",
    ]  # fmt: skip
    assert list(answered) == [*original, "latency_ms", "tries"]
    assert list(failed) == [*original, "error", "error_code", "tries"]
    assert (answered["response_length"], failed["success"]) == (len(ANSWER), False)
    assert (head["total_questions"], head["successful"]) == (3, 1)
    assert (read.search_method, read.llm, read.timestamp) == ("hybrid", "openai", RUN.timestamp)
    assert [query.state for query in read.queries] == [QueryState.RESULTS, QueryState.FAILED]
    assert [card.title for card in read.queries[0].cards] == ["Rumah A"]


def test_a_row_stands_on_a_line_and_half_a_character_as_its_escape() -> None:
    data = document({"a": 1, "b": "é"}, "rows", [{"text": "x\ud83d"}, {}])

    assert data.decode() == '{"a": 1,\n"b": "é",\n"rows": [\n{"text":"x\\ud83d"},\n{}\n]}\n'
    assert json.loads(data)["rows"][0]["text"] == "x\ud83d"
    assert json.loads(document({}, "rows", [])) == {"rows": []}
