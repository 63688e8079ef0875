"""How far a machine judge agrees with people is shown as text and as JSON."""

from __future__ import annotations

from pathlib import Path

from tests.chatbot.bots import Bot
from tests.cli.machine_judges.commands import N, judge
from tests.cli.relevansi import document


def test_the_agreement_with_people_is_told_as_text_and_as_json(tmp_path: Path, bot: Bot) -> None:
    judge(tmp_path, bot, "judge", "new", "Mesin", "--language", "en")
    judge(tmp_path, bot, "judge", "run", "Mesin", "--yes")
    found = document(judge(tmp_path, bot, "judge", "agreement", "Mesin", "--json"))
    told = judge(tmp_path, bot, "judge", "agreement", "Mesin").stdout

    assert (found["n"], found["figures_in_use"]) == (N, False)
    assert found["agreement"]["cohen_kappa"]["value"] == 1.0
    assert found["table"] == [
        {"machine": "0", "people": "0", "cards": 12},
        {"machine": "1", "people": "1", "cards": 12},
    ]
    assert "Cohen's kappa: 1.0000" in told
