from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy.orm import Session

from relevansi.db.tables.machine_judges import MachineJudge
from relevansi.db.tables.study import Study
from tests.chatbot import bots
from tests.chatbot.bots import Bot
from tests.services.machine_judges import machines
from tests.services.machine_judges.machines import saying, stored_judge
from tests.services.rating.blind_raters import set_study, stored
from tests.services.runs.runs import card, query

N = 30

QUESTIONS = [
    query(number, card(f"p{number}a"), card(f"p{number}b"), text=f"Rumah {number}?")
    for number in range(1, N // 2 + 1)
]


@pytest.fixture(name="bot")
def _bot() -> Iterator[Bot]:
    """A machine that calls relevant whatever is a first card, and p3b; unsure of p1a."""

    def decide(prompt: str) -> str:
        slug = prompt.rpartition("- Title: ")[2].split()[0].lower()
        if slug == "p1a":
            return "cannot_tell"
        return "relevant" if slug.endswith("a") or slug == "p3b" else "not_relevant"

    with bots.serving(saying(decide)) as bot:
        yield bot


@pytest.fixture(name="judge")
def _judge(session: Session, study: Study, bot: Bot) -> MachineJudge:
    """A judge that has not begun, of two runs of 30 cards."""
    set_study(session, study, repeat_percent=0, blind=True)
    for method in ("hybrid", "vector"):
        stored(session, study, method, *QUESTIONS)
    return stored_judge(session, study, machines.endpoint(bot))
