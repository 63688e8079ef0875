"""Questions are put to a chatbot from the terminal; the demo chatbot is run there too."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import stamina

from tests.chatbot import bots
from tests.chatbot.bots import Bot, below, good, serving, status
from tests.cli.relevansi import document, environment, relevansi

FILE = re.compile(r"test_results_hybrid_\d{8}_\d{6}\.json")


@pytest.fixture(autouse=True)
def _no_pauses() -> Iterator[None]:
    with stamina.set_testing(True, attempts=20, cap=True):
        yield


@pytest.fixture(name="questions")
def _questions(tmp_path: Path) -> Path:
    path = tmp_path / "pertanyaan.json"
    listed = [{"id": n, "question": f"Rumah {n}?", "category": "location"} for n in (1, 2, 3)]
    path.write_text(json.dumps(listed), "utf-8")
    return path


def collect_arguments(bot: Bot, folder: Path, questions: Path) -> list[str]:
    return [
        "collect", "--endpoint", bot.address, "--method", "hybrid", "--llm", "gpt-4o-mini",
        "--questions", str(questions), "-o", str(folder / "hasil"),
    ]  # fmt: skip


def results(folder: Path) -> list[dict[str, Any]]:
    file = folder / "hasil" / "hybrid" / "test_results_latest.json"
    answers: list[dict[str, Any]] = json.loads(file.read_text("utf-8"))["results"]
    return answers


def test_collect_writes_the_file_and_imports_it(tmp_path: Path, questions: Path) -> None:
    with serving(good, status(422, {"detail": "too long"}), good) as bot:
        arguments = collect_arguments(bot, tmp_path, questions)
        alone = relevansi(tmp_path, *arguments, "--no-import", "--resume")
        assert document(relevansi(tmp_path, "runs", "--json"))["runs"] == []
        process = relevansi(tmp_path, *arguments, "--resume", language="id")

    assert (alone.returncode, len(bot.asked)) == (0, 3)
    assert "a new collection begins" in alone.stderr
    assert "Question 2: The chatbot refused the question (422): too long" in alone.stderr
    assert process.returncode == 0, process.stderr
    assert "3 pertanyaan ditanyakan, 1 gagal" in process.stdout
    assert FILE.search(process.stdout)
    (run,) = document(relevansi(tmp_path, "runs", "--json"))["runs"]
    assert (run["search_method"], run["llm"], run["queries"], run["cards"]) == (
        "hybrid", "gpt-4o-mini", 3, 2,
    )  # fmt: skip
    assert (list(run["latency_ms"]), run["failed"]) == (["p50", "p95", "mean", "n"], 1)
    assert run["latency_ms"]["n"] == 2


def test_a_chatbot_that_answers_nothing_ends_with_1(tmp_path: Path, questions: Path) -> None:
    with serving(status(500, {"detail": "no index"})) as bot:
        process = relevansi(tmp_path, *collect_arguments(bot, tmp_path, questions))

        arguments = collect_arguments(bot, tmp_path / "kept", questions)
        saved = relevansi(tmp_path / "kept", *arguments, "--keep-unanswered", "--limit", "1")

    assert saved.returncode == 1
    assert saved.stderr.splitlines()[-1] == "relevansi: The chatbot answered none of the questions."
    assert results(tmp_path / "kept")[0]["tries"] == 3
    assert process.returncode == 1
    assert len(bot.asked) == 12  # three tries each
    assert process.stderr.splitlines()[-1] == (
        "relevansi: The chatbot answered none of the questions, so nothing is kept. Such a run "
        "is kept with --keep-unanswered."
    )
    assert list((tmp_path / "hasil" / "hybrid").iterdir()) == []
    assert document(relevansi(tmp_path, "runs", "--json"))["runs"] == []


def test_a_chatbot_below_api_v1_is_found_and_its_address_is_told(
    tmp_path: Path, questions: Path
) -> None:
    with serving(below("/api/v1/chat", good)) as bot:
        arguments = collect_arguments(bot, tmp_path, questions)
        process = relevansi(tmp_path, *arguments)
        again = relevansi(tmp_path, *arguments, "--resume")

    assert process.returncode == 0, process.stderr
    result = bot.address.replace("/chat", "/api/v1/chat")
    assert f"The chatbot is at {result}; nothing is at {bot.address}." in process.stderr
    assert bot.paths == ["/chat", *["/api/v1/chat"] * 3]
    assert "finished already" in again.stderr
    file = tmp_path / "hasil" / "hybrid" / "test_results_latest.json"
    assert json.loads(file.read_text("utf-8"))["endpoint"] == result


def test_both_addresses_that_were_tried_are_named(tmp_path: Path, questions: Path) -> None:
    with serving(status(404, {"detail": "Not Found"})) as bot:
        process = relevansi(tmp_path, *collect_arguments(bot, tmp_path, questions), "--limit", "1")

    assert process.returncode == 1
    versioned = bot.address.replace("/chat", "/api/v1/chat")
    assert f"is neither at {bot.address} nor at {versioned} (404): Not Found." in process.stderr
    assert bot.paths == ["/chat", "/api/v1/chat"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT to send")
def test_an_interruption_leaves_a_file_that_resume_goes_on_with(
    tmp_path: Path, questions: Path
) -> None:
    """Ctrl+C while the second answer is awaited: it is the only question asked twice."""
    with serving(good, bots.silent, good) as bot:
        arguments = collect_arguments(bot, tmp_path, questions)
        running = subprocess.Popen(
            [sys.executable, "-m", "relevansi", *arguments],
            env=environment(tmp_path, "en"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        assert bot.waiting.wait(60)
        os.kill(running.pid, signal.SIGINT)
        _, stderr = running.communicate(timeout=60)
        process = relevansi(tmp_path, *arguments, "--resume")

    assert running.returncode == 1
    assert "Interrupted after 1 of 3 questions" in stderr
    assert "Traceback" not in stderr
    assert process.returncode == 0, process.stderr
    assert [question["message"] for question in bot.asked] == [
        "Rumah 1?", "Rumah 2?", "Rumah 2?", "Rumah 3?",
    ]  # fmt: skip
    assert len({question["session_id"] for question in bot.asked}) == 1
    assert [answer["success"] for answer in results(tmp_path)] == [True, True, True]


def test_a_part_of_the_questions_is_asked_and_the_earlier_turns_it_lacks_are_named(
    tmp_path: Path,
) -> None:
    """3 and 4 go on from 2: from 3 on, 2 is left out of both; the category says so of 4."""
    listed: list[dict[str, object]] = [
        {"id": 1, "question": "A?", "category": "location"},
        {"id": 2, "question": "B?", "category": "location"},
        {"id": 3, "question": "C?", "category": "location", "context_dependent": True},
        {"id": 4, "question": "D?", "category": "context_followup"},
        {"id": 5, "question": "E?", "category": "location"},
    ]
    path = tmp_path / "pertanyaan.json"
    path.write_text(json.dumps(listed), "utf-8")
    with serving(good) as bot:
        arguments = collect_arguments(bot, tmp_path, path)
        process = relevansi(tmp_path, *arguments, "--from", "2")
        part = relevansi(tmp_path, *arguments, "--from", "3", "--to", "4")
        again = relevansi(tmp_path, *arguments, "--from", "3", "--to", "4", "--resume")

    assert "depends" not in process.stderr
    assert [line for line in part.stderr.splitlines() if "depends" in line] == [
        "relevansi: Question 3 depends on earlier turns that are not asked: 2.",
        "relevansi: Question 4 depends on earlier turns that are not asked: 2.",
    ]
    assert "2 questions asked, 0 failed" in part.stdout
    assert "finished already" in again.stderr
    assert [question["message"] for question in bot.asked[4:]] == ["C?", "D?"]


@pytest.mark.parametrize(
    ("changed", "code", "words"),
    [
        (("--endpoint", "bot.example"), 2, "bot.example is not an http or https address"),
        (("--method", "../x"), 2, "only letters, digits"),
        (("--mapping", "{peta}"), 1, "{message}"),
        (("--mapping", "{peta}", "--api", "openai"), 2, "not both"),
        (("--questions", "{peta}"), 1, "peta.json"),
        (("--tries", "0"), 2, "--tries"),
        (("--from", "4"), 2, "their numbers go from 1 to 3"),
        (("--from", "3", "--to", "1"), 2, "their numbers go from 1 to 3"),
    ],
)
def test_what_cannot_be_collected_is_said_in_one_line(
    tmp_path: Path, questions: Path, changed: tuple[str, ...], code: int, words: str
) -> None:
    mapping = tmp_path / "peta.json"
    mapping.write_text('{"send": {"q": "halo"}, "read": {"text": "a"}}', "utf-8")
    options = [word.replace("{peta}", str(mapping)) for word in changed]
    with serving(good) as bot:
        process = relevansi(tmp_path, *collect_arguments(bot, tmp_path, questions), *options)

    assert process.returncode == code
    assert words in process.stderr
    assert len(process.stderr.splitlines()) == 1
    assert bot.asked == []
    assert not (tmp_path / "hasil").exists()


def test_the_demo_chatbot_answers_what_collect_asks(tmp_path: Path, questions: Path) -> None:
    running = subprocess.Popen(
        [sys.executable, "-m", "relevansi", "chatbot", "--port", "0"],
        env=environment(tmp_path, "en") | {"PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        assert running.stdout is not None
        address = running.stdout.readline().split()[-1]
        process = relevansi(
            tmp_path, "collect", "--endpoint", address, "--method", "api_only", "--llm", "demo",
            "--questions", questions, "-o", tmp_path / "hasil",
        )  # fmt: skip
    finally:
        os.kill(running.pid, signal.SIGINT)
        _, stderr = running.communicate(timeout=60)

    assert process.returncode == 0, process.stderr
    assert "API Only (api_only), demo: imported, 3 questions" in process.stdout
    assert "Traceback" not in stderr
