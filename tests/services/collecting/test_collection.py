"""A question set goes through a chatbot in order, in one session, and nothing is lost."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from relevansi.chatbot import mappings
from relevansi.chatbot.client import Chatbot, Patience
from relevansi.importers.runs import json_runs
from relevansi.importers.runs.problems import ImportRefused
from relevansi.importers.runs.questions import ReadQuestion
from relevansi.records import QueryState
from relevansi.services.collecting import collection
from relevansi.services.collecting.collection import Collection, CollectionPlan, OtherCollection
from tests.chatbot import bots
from tests.chatbot.bots import AT_ONCE, Behaviour, Bot, good, raw, serving, status

QUESTIONS = tuple(
    ReadQuestion(number, f"Pertanyaan {number}", "location", number == 3) for number in range(1, 5)
)
BEGUN = datetime(2026, 3, 1, 9, 0, 0)  # noqa: DTZ001 (a run file's time names no zone)


def planned(bot: Bot, patience: Patience = AT_ONCE, key: str = "") -> CollectionPlan:
    chatbot = Chatbot(bot.address + key, patience=patience)
    return CollectionPlan(QUESTIONS, "hybrid", "gpt-4o-mini", chatbot)


def collected(bot: Bot, folder: Path, patience: Patience = AT_ONCE) -> Collection:
    """The finished collection of the four questions from `bot`."""
    plan = planned(bot, patience)
    return finished(collection.begin(plan, folder, BEGUN), plan)


def finished(result: Collection, plan: CollectionPlan) -> Collection:
    for further in collection.ask_rest(result, plan):
        result = further
    return collection.finish(result)


def content(file: Path) -> Any:
    return json.loads(file.read_text("utf-8"))


def test_the_questions_are_asked_in_one_session_and_the_file_has_the_layout_of_the_original(
    tmp_path: Path,
) -> None:
    text = '{"response": "half \\ud83d, nul \\u0000, 🏠"}'
    with serving(good, good, good, raw(text.encode())) as bot:
        plan = planned(bot, key="?key=rahasia")
        result = finished(collection.begin(plan, tmp_path, BEGUN), plan)
        file = content(result.file)

    names = sorted(path.name for path in (tmp_path / "hybrid").iterdir())
    assert names == ["test_results_hybrid_20260301_090000.json", "test_results_latest.json"]
    assert result.file.read_bytes() == (tmp_path / "hybrid" / names[1]).read_bytes()
    assert [question["message"] for question in bot.asked] == [
        question.text for question in QUESTIONS
    ]
    assert {question["session_id"] for question in bot.asked} == {result.run.thread_id}
    assert "rahasia" not in result.file.read_text("utf-8")
    read = json_runs.read_collected("part", result.file.read_bytes())
    assert read.answers[-1].response == "half , nul , 🏠"
    first = file["results"][0]
    assert list(file) == [
        "timestamp", "thread_id", "user_id", "search_method", "llm", "endpoint",
        "total_questions", "successful", "results",
    ]  # fmt: skip
    assert list(first)[:7] == [
        "query_id", "question", "category", "success", "response", "response_length",
        "results_count",
    ]  # fmt: skip
    assert (file["timestamp"], file["total_questions"], file["successful"]) == (
        "20260301_090000", 4, 4,
    )  # fmt: skip
    assert first["response_length"] == len(first["response"])
    assert first["results_count"] == 1
    assert first["usage"] == {"prompt_tokens": 11, "completion_tokens": 5}
    assert first["latency_ms"] >= 0
    assert [result["context_dependent"] for result in file["results"]] == [
        False, False, True, False,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("behaviour", "code"),
    [
        (bots.silent, "no_answer_in_time"),
        (status(422, {"detail": "too long"}), "question_refused"),
        (raw(b"<html>"), "not_the_contract"),
    ],
)
def test_a_question_that_fails_is_kept_with_its_reason_and_the_rest_goes_on(
    tmp_path: Path, behaviour: Behaviour, code: str
) -> None:
    with serving(good, behaviour, good) as bot:
        file = collected(bot, tmp_path, replace(AT_ONCE, seconds=2, tries=1)).file

    read = json_runs.read(file.name, file.read_bytes())
    states = [query.state for query in read.queries]
    assert states == [QueryState.RESULTS, QueryState.FAILED, *[QueryState.RESULTS] * 2]
    assert content(file)["results"][1]["error_code"] == code
    assert read.queries[1].error
    assert {problem.code for problem in read.problems} == {"call_failed"}


def test_an_answer_is_on_disk_before_the_next_question_goes_out(tmp_path: Path) -> None:
    answers_on_disk: list[int] = []

    def look(handler: bots.Handler, request: Any) -> None:
        (part,) = (tmp_path / "hybrid").glob("*.part")
        answers_on_disk.append(len(content(part)["results"]))
        good(handler, request)

    with serving(look) as bot:
        collected(bot, tmp_path)

    assert answers_on_disk == [0, 1, 2, 3]
    assert list((tmp_path / "hybrid").glob("*.part")) == []


def test_an_interrupted_collection_goes_on_where_it_was(tmp_path: Path) -> None:
    with serving(good) as bot:
        plan = planned(bot)
        asking = collection.ask_rest(collection.begin(plan, tmp_path, BEGUN), plan)
        next(asking)
        next(asking)

        result = collection.unfinished(plan, tmp_path)
        assert result is not None
        result = finished(result, plan)

    assert [question["message"][-1] for question in bot.asked] == ["1", "2", "3", "4"]
    assert {question["session_id"] for question in bot.asked} == {result.run.thread_id}
    assert result.run.timestamp == "20260301_090000"
    assert len(content(result.file)["results"]) == 4


def test_the_collection_of_other_questions_is_not_gone_on_with(tmp_path: Path) -> None:
    with serving(good) as bot:
        plan = planned(bot)
        next(collection.ask_rest(collection.begin(plan, tmp_path, BEGUN), plan))
        others = (replace(QUESTIONS[0], text="Lain?"), *QUESTIONS[1:])

        for changed_plan in (replace(plan, questions=others), replace(plan, llm="gemini")):
            with pytest.raises(OtherCollection, match=r"\.part"):
                collection.unfinished(changed_plan, tmp_path)


def test_a_part_that_somebody_damaged_is_refused_by_name(tmp_path: Path) -> None:
    with serving(good) as bot:
        plan = planned(bot)
        part = collection.begin(plan, tmp_path, BEGUN).file
        part.write_bytes(part.read_bytes()[:-20])

        with pytest.raises(ImportRefused) as refused:
            collection.unfinished(plan, tmp_path)

    assert refused.value.problem.file == part.name


def test_a_chatbot_that_names_its_sessions_is_asked_in_the_one_it_named(tmp_path: Path) -> None:
    def assigning(handler: bots.Handler, request: Any) -> None:
        bots.send(handler, 200, json.dumps({"text": "Ya", "id": request["id"] or "bot-1"}).encode())

    mapping = mappings.Mapping(
        send={"q": "{message}", "id": "{session_id}"},
        text="text",
        session="id",
        assigns_sessions=True,
    )
    with serving(assigning) as bot:
        chatbot = Chatbot(bot.address, mapping, AT_ONCE)
        plan = CollectionPlan(QUESTIONS, "hybrid", "gpt", chatbot)
        result = finished(collection.begin(plan, tmp_path, BEGUN), plan)

    assert [request["id"] for request in bot.asked] == [None, "bot-1", "bot-1", "bot-1"]
    assert result.run.thread_id == "bot-1"


def test_an_endpoint_without_memory_gets_the_turns_that_were_answered(tmp_path: Path) -> None:
    def answered(handler: bots.Handler, request: Any) -> None:
        text = f"Jawaban {len(request['messages'])}"
        body = {"choices": [{"message": {"content": text}}]}
        bots.send(handler, 200, json.dumps(body).encode())

    with serving(answered, status(400, {}), answered) as bot:
        chatbot = Chatbot(bot.address, mappings.openai("gpt"), AT_ONCE)
        plan = CollectionPlan(QUESTIONS[:3], "hybrid", "gpt", chatbot)
        finished(collection.begin(plan, tmp_path, BEGUN), plan)

    assert [turn["content"] for turn in bot.asked[2]["messages"]] == [
        "Pertanyaan 1", "Jawaban 1", "Pertanyaan 3",
    ]  # fmt: skip


def test_a_crash_while_writing_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.json"
    collection.write_durably(path, b"before")

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        collection.write_durably(path, b"after")

    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]
