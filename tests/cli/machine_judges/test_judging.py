from __future__ import annotations

from pathlib import Path
from subprocess import CompletedProcess
from unittest import mock

import pytest

from relevansi.services.workers.loop import WorkLoop
from tests.chatbot import bots
from tests.chatbot.bots import Bot
from tests.cli import relevansi as commands
from tests.cli.relevansi import document
from tests.services.machine_judges import machines

N = 24
"""The cards of the run."""


def judge(
    tmp_path: Path, bot: Bot | None, *arguments: str, model: str = machines.MODEL
) -> CompletedProcess[str]:
    at = machines.endpoint(bot, model) if bot else None
    variables = {"RELEVANSI_JUDGE_URL": at.url, "RELEVANSI_JUDGE_MODEL": at.model} if at else {}
    environment = commands.environment(tmp_path, "en") | variables
    with mock.patch.object(commands, "environment", return_value=environment):
        return commands.relevansi(tmp_path, *arguments)


def test_without_an_endpoint_a_judge_can_be_priced(tmp_path: Path, bot: Bot) -> None:
    judge(tmp_path, bot, "judge", "new", "M")

    process = judge(tmp_path, None, "judge", "estimate", "M")

    assert (process.returncode, process.stderr) == (0, "")
    assert process.stdout


def test_without_an_endpoint_no_judge_is_made_or_run(tmp_path: Path) -> None:
    for arguments in (["new", "M"], ["run", "M", "--yes"]):
        process = judge(tmp_path, None, "judge", *arguments)
        assert (process.returncode, process.stdout) == (1, "")
        (line,) = process.stderr.splitlines()
        assert "RELEVANSI_JUDGE_URL" in line


def test_an_address_without_a_model_or_with_a_key_for_a_name_is_told_and_not_repeated(
    tmp_path: Path,
) -> None:
    environment = commands.environment(tmp_path, "en")
    for wrong, words in (
        ({"RELEVANSI_JUDGE_URL": "http://127.0.0.1:9"}, "RELEVANSI_JUDGE_MODEL is not"),
        (
            {"RELEVANSI_JUDGE_URL": "http://127.0.0.1:9", "RELEVANSI_JUDGE_MODEL": "m",
             "RELEVANSI_JUDGE_KEY_VARIABLE": "sk-secret-key"},
            "takes the name of an environment variable",
        ),
        ({"RELEVANSI_JUDGE_URL": "ftp://me:sk-secret@x", "RELEVANSI_JUDGE_MODEL": "m"}, "is no"),
    ):  # fmt: skip
        with mock.patch.object(commands, "environment", lambda *_, on=wrong: environment | on):
            process = commands.relevansi(tmp_path, "judge", "new", "M")
        assert process.returncode == 1
        assert words in process.stderr
        assert "sk-secret" not in process.stderr


def test_a_judge_is_made_priced_and_run(tmp_path: Path, bot: Bot) -> None:
    new = judge(tmp_path, bot, "judge", "new", "Mesin")
    prices = ("--prompt-price", "1", "--completion-price", "2", "--currency", "USD")
    priced = document(judge(tmp_path, bot, "judge", "estimate", "Mesin", *prices, "--json"))
    assert bot.asked == []
    process = judge(tmp_path, bot, "judge", "run", "Mesin", *prices, "--yes", "--at-once", "3")

    assert new.stdout.startswith(f"Mesin  {machines.MODEL}  ")
    assert (priced["cards"], priced["completion_tokens"]) == (N, N * 60)
    tokens = priced["prompt_tokens"] + 2 * priced["completion_tokens"]
    assert priced["cost"] == pytest.approx(tokens / 1e6)
    assert (process.returncode, len(bot.asked)) == (0, N), process.stderr
    assert f"24 cards are left: about {priced['prompt_tokens']} tokens" in process.stderr
    assert f"24 judged, 0 failed, 24 calls, {N * 300} + {N * 20} tokens; 0 left." in process.stdout
    again = judge(tmp_path, bot, "judge", "run", "Mesin", "--yes")
    assert (again.returncode, len(bot.asked)) == (1, N)
    assert "judged every card" in again.stderr


def test_nothing_starts_before_its_cost_was_agreed_to(tmp_path: Path, bot: Bot) -> None:
    judge(tmp_path, bot, "judge", "new", "Mesin")
    with mock.patch("click.termui.visible_prompt_func", return_value="n"):
        process = judge(tmp_path, bot, "judge", "run", "Mesin")

    assert process.returncode == 1
    assert "24 cards are left" in process.stderr
    assert bot.asked == []


def test_an_endpoint_that_fails_ends_with_1_and_its_reason(tmp_path: Path) -> None:
    with bots.serving(bots.status(401, {"error": {"message": "no"}})) as bot:
        judge(tmp_path, bot, "judge", "new", "Mesin")
        process = judge(tmp_path, bot, "judge", "run", "Mesin", "--yes")

    assert process.returncode == 1
    assert "The endpoint refused the call." in process.stderr.splitlines()[-1]


def test_ctrl_c_stops_it_and_keeps_what_was_on_its_way(
    tmp_path: Path, bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_idle, presses = WorkLoop.is_idle, iter([KeyboardInterrupt])

    def interrupted(loop: WorkLoop, seconds: float) -> bool:
        assert bot.waiting.wait(60)
        if press := next(presses, None):
            raise press
        bot.released.set()
        return is_idle(loop, seconds)

    bot.behaviours = (bots.silent, machines.always("relevant"))
    monkeypatch.setattr(WorkLoop, "is_idle", interrupted)
    judge(tmp_path, bot, "judge", "new", "Mesin")
    process = judge(tmp_path, bot, "judge", "run", "Mesin", "--yes", "--at-once", "1")

    assert process.returncode == 1
    assert "1 judged, 0 failed, 2 calls" in process.stdout  # the silent try, and one more
    assert "Stopped; the same command goes on with what is left." in process.stderr
