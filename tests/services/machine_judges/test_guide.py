"""The statements of docs/machine-judge.md about a machine judge are true."""

from __future__ import annotations

from pathlib import Path

import pytest

from webapp.chatbot.failures import CallFailed
from webapp.config import JudgeEndpoint, Settings, UnusableSetting
from webapp.services.machine_judges import calls, judges, prompts
from webapp.services.workers.leases import ALIVE

GUIDE = (Path(__file__).parents[3] / "docs" / "machine-judge.md").read_text("utf-8")
WORDS = {2: "one more try", 5: "five"}


def test_the_guide_states_the_numbers_of_the_code() -> None:
    characters, tokens = prompts.CHARACTERS_PER_TOKEN, prompts.COMPLETION_TOKENS
    patience = calls.PATIENCE
    for said in (
        f"at least {judges.FEWEST_SHARED} cards",
        f"divided by {characters} and {tokens} for each answer",
        f"once {WORDS[prompts.FEWEST_MEASURED]} answers",
        f"{WORDS[calls.MOST_FAILURES]} cards in a row",
        f"within {patience.seconds:g} seconds | {WORDS[patience.tries]}",
        f"after {ALIVE.total_seconds():g} seconds",
        *(f"`{word}`" for word in prompts.VERDICTS),
        *(f"`{{{place}}}`" for place in prompts.PLACES),
    ):
        assert said in GUIDE, said


def test_every_way_to_fail_is_told_in_words() -> None:
    kinds = {kind.code for kind in CallFailed.__subclasses__()} - {"other_session"}

    assert kinds <= set(calls.SENTENCES)


@pytest.mark.parametrize("variable", ["URL", "MODEL", "KEY_VARIABLE"])
def test_the_guide_s_variables_configure_an_endpoint(variable: str) -> None:
    stated = {"URL": "http://127.0.0.1:1/v1", "MODEL": "m", "KEY_VARIABLE": "MY_KEY"}
    environ = {f"RELEVANSI_JUDGE_{name}": value for name, value in stated.items()}

    assert f"`RELEVANSI_JUDGE_{variable}`" in GUIDE
    assert Settings.from_environment(environ).judge == JudgeEndpoint(*stated.values())


def test_without_an_address_there_is_none_and_half_a_set_up_is_refused() -> None:
    assert JudgeEndpoint.from_environment({"RELEVANSI_JUDGE_MODEL": "m"}) is None
    with pytest.raises(UnusableSetting, match="RELEVANSI_JUDGE_MODEL is not"):
        JudgeEndpoint.from_environment({"RELEVANSI_JUDGE_URL": "http://x"})
    known = {"RELEVANSI_JUDGE_URL": "http://x", "RELEVANSI_JUDGE_MODEL": "m"}
    with pytest.raises(UnusableSetting) as refused:
        JudgeEndpoint.from_environment(known | {"RELEVANSI_JUDGE_KEY_VARIABLE": "sk-live-123"})
    assert "sk-live" not in str(refused.value)
