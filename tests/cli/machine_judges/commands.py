"""The commands of machine judges, run with an endpoint configured."""

from __future__ import annotations

from pathlib import Path
from subprocess import CompletedProcess
from unittest import mock

from tests.chatbot.bots import Bot
from tests.cli import relevansi as commands
from tests.services.machine_judges import machines

N = 24
"""The cards of the run."""


def judge(
    tmp_path: Path, bot: Bot | None, *arguments: str, model: str = machines.MODEL
) -> CompletedProcess[str]:
    """Run a command with the bot configured; without one there is no endpoint."""
    at = machines.endpoint(bot, model) if bot else None
    known = {"RELEVANSI_JUDGE_URL": at.url, "RELEVANSI_JUDGE_MODEL": at.model} if at else {}
    environment = commands.environment(tmp_path, "en") | known
    with mock.patch.object(commands, "environment", return_value=environment):
        return commands.relevansi(tmp_path, *arguments)
