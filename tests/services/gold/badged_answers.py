"""Answers whose cards have badges, and a blind rater who decides on them."""

from __future__ import annotations

import json

from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.gold.gold_files import listing, v2_file
from tests.services.rating.blind_raters import Robot
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study
from webapp.importers.runs import json_runs
from webapp.services.gold import card_badges
from webapp.services.gold.card_badges import CheckedAnswer
from webapp.services.gold.card_decisions import Decision
from webapp.services.gold.constraints import CheckedCard
from webapp.services.runs import imports
from webapp.services.runs.imports import Labels


def answer(session: Session, study: Study, run_id: str, query_id: int = 1) -> CheckedAnswer:
    found = card_badges.of_answer(session, study, run_id, query_id)
    assert found is not None
    return found


def outcomes(checked: CheckedCard) -> list[str]:
    """Kind, sale or rent, place, price."""
    return [str(check.outcome) for check in checked.evaluation.checks][:4]


def decide(session: Session, rater: Rater, run_id: str, rank: int, *what: str, n: int = 1) -> None:
    subject, outcome, reason = (*what, "")[:3]
    wanted = Decision(0, subject, outcome or None, reason)
    card_badges.decide_on_answer(session, rater, run_id, n, rank, wanted, NOW)


class Blind:
    """A blind rater's question 1 in a study of two runs that shows badges."""

    def __init__(self, session: Session, rater: Rater) -> None:
        self.session, self.rater = session, rater
        robot = Robot(session, rater)
        page = robot.next_page()
        assert page is not None
        self.task_id = page.task_id
        self.keys = {shown.card.slug: shown.key for shown in page.cards}

    def badges(self) -> dict[str, CheckedCard]:
        """Return the badges by slug."""
        found = card_badges.of_task(self.session, self.rater, self.task_id)
        return {slug: found[key] for slug, key in self.keys.items() if slug and key in found}

    def decide(self, slug: str, *what: str) -> None:
        subject, outcome, reason = (*what, "")[:3]
        wanted = Decision(0, subject, outcome or None, reason)
        key = self.keys[slug]
        card_badges.decide_in_task(self.session, self.rater, self.task_id, key, wanted, NOW)


def text_run(session: Session, study: Study) -> str:
    """Store a second run of the same questions of which no file lists the properties.

    It shows "b" and "a" as the first does, and "f" alone.
    """
    shown = [listing("b", price=2_000_000_000), listing("a"), listing("f")]
    document = json.loads(v2_file({1: shown, 2: [], 3: []}))
    for entry in document["results"]:
        del entry["properties"], entry["properties_count"]
    read = json_runs.read(
        "test_results.json", json.dumps(document | {"method": "api_only"}).encode()
    )
    return imports.store(session, study, read, Labels(), NOW).id
