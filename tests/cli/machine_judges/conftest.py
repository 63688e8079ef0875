from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from relevansi.records import Relevance
from relevansi.services.judging import judgments
from relevansi.services.study import studies
from tests.chatbot import bots
from tests.chatbot.bots import Bot
from tests.services.machine_judges import machines
from tests.services.runs.runs import card, click, query, run, store
from tests.stored_studies import folder_made_once, study_in

QUERIES = [query(n, card(f"p{n}a"), card(f"p{n}b"), text=f"Rumah {n}?") for n in range(1, 13)]


@pytest.fixture(name="bot")
def _bot() -> Iterator[Bot]:
    def decide(prompt: str) -> str:
        return "relevant" if "A\n" in prompt.rpartition("- Title: ")[2] else "not_relevant"

    with bots.serving(machines.saying(decide)) as bot:
        yield bot


@pytest.fixture(name="run_id", autouse=True)
@folder_made_once
def _run_id(tmp_path: Path) -> str:
    """A run of 24 cards, of which the owner calls the first of every answer relevant."""
    with study_in(tmp_path) as (session, study):
        stored = store(session, study, run(*QUERIES))
        (owner,) = studies.raters(session, study)
        for number in range(1, 13):
            for rank, verdict in ((1, Relevance.RELEVANT), (2, Relevance.NOT_RELEVANT)):
                at = click(f"{number}-{rank}", minute=number)
                judgments.judge(session, owner, stored.id, number, rank, verdict, at)
    return stored.id
