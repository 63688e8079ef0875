"""A collected run is written in the layout of the original, with what is known of each call."""

from __future__ import annotations

import json

from webapp.exporters.exports.run_folders import collected_run_file, document
from webapp.importers.runs import json_runs
from webapp.records import CollectedAnswer, CollectedRun, QueryState

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


def test_the_keys_of_the_original_come_first_and_then_what_is_known() -> None:
    answered, failed = json.loads(collected_run_file(RUN))["results"]

    original = [
        "query_id", "question", "category", "success", "response", "response_length",
        "results_count",
    ]  # fmt: skip
    assert list(answered) == [*original, "latency_ms", "tries"]
    assert list(failed) == [*original, "error", "error_code", "tries"]
    assert (answered["response_length"], failed["success"]) == (len(ANSWER), False)


def test_the_head_counts_the_answers_that_came() -> None:
    head = json.loads(collected_run_file(RUN))

    assert (head["total_questions"], head["successful"]) == (3, 1)
    assert not RUN.is_complete


def test_what_was_written_is_read_as_a_run() -> None:
    read = json_runs.read("run.json", collected_run_file(RUN))

    assert (read.search_method, read.llm, read.timestamp) == ("hybrid", "openai", RUN.timestamp)
    assert [query.state for query in read.queries] == [QueryState.RESULTS, QueryState.FAILED]
    assert [card.title for card in read.queries[0].cards] == ["Rumah A"]


def test_a_row_stands_on_a_line_and_half_a_character_as_its_escape() -> None:
    data = document({"a": 1, "b": "é"}, "rows", [{"text": "x\ud83d"}, {}])

    assert data.decode() == '{"a": 1,\n"b": "é",\n"rows": [\n{"text":"x\\ud83d"},\n{}\n]}\n'
    assert json.loads(data)["rows"][0]["text"] == "x\ud83d"
    assert json.loads(document({}, "rows", [])) == {"rows": []}
