"""The demo's phase 3: eight participants, what they asked, and what they thought of it."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from itertools import cycle
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from relevansi.chatbot.answers import Answer
from relevansi.db.tables.phase_3 import Participant
from relevansi.db.tables.study import Study
from relevansi.records import USABILITY_ITEMS, Click, EmptyOutcome, Relevance
from relevansi.services.judging import judgments
from relevansi.services.judging.answer_ratings import KEEP, AnswerRating
from relevansi.services.phase_3 import (
    findings,
    own_questions,
    participants,
    questionnaires,
    user_studies,
)
from relevansi.services.phase_3.asking import QuestionCall, QuestionWork
from relevansi.services.phase_3.own_questions import rater
from relevansi.services.phase_3.user_studies import UserStudySettings

SETTINGS = UserStudySettings(
    is_open=True, endpoint="http://127.0.0.1:8810/chat", search_method="hybrid", llm="openai"
)
STEP = timedelta(minutes=1)
TOKEN = "demo"  # noqa: S105 - it guards nothing
"""The token of the demo's link for everybody, at which one more participant begins."""
YEARS_IN_DAYS = 3650


class _Clock:
    def __init__(self, name: str, begins: datetime) -> None:
        self.name, self.at = name, begins

    def next(self) -> datetime:
        self.at += STEP
        return self.at

    def click(self) -> Click:
        at = self.next()
        return Click(f"demo-{self.name}-{at:%d%H%M}", at)


def add(session: Session, study: Study, folder: Path, now: datetime) -> None:
    """Let eight people take part, and make the link by which anybody in the demo does too."""
    user_studies.set_settings(session, study, SETTINGS, now)
    people = json.loads((folder / "participants.json").read_text("utf-8"))
    for number, person in enumerate(people, start=1):
        _take_part(session, study, person, _Clock(f"p{number}", now + timedelta(hours=number)))
    participants.make_link(session, study, now + timedelta(days=2), days=YEARS_IN_DAYS, token=TOKEN)


def _take_part(session: Session, study: Study, person: dict[str, Any], clock: _Clock) -> None:
    text = user_studies.consent(session, study)["id"]
    made = participants.invite(session, study, person["pseudonym"], clock.next())
    link = participants.accept(session, study, made.token, clock.next())
    participants.agree(session, link, text, person["pseudonym"], made.token, clock.next())
    participant = link.participant
    assert participant is not None
    for asked in person["asked"]:
        _ask(session, participant, asked, clock)
    for item, score in zip(USABILITY_ITEMS, person["usability"], strict=True):
        questionnaires.answer(session, rater(participant), item, score, clock.click())
    for item in ("helped", "missing"):
        if person[item]:
            questionnaires.answer(session, rater(participant), item, person[item], clock.click())
    if person["theme"]:
        findings.add(session, participant, "missing", person["theme"], clock.next())
    participants.finish(participant, clock.next())
    participants.delete_links(session, participant)


def _ask(session: Session, participant: Participant, asked: dict[str, Any], clock: _Clock) -> None:
    position = own_questions.ask(session, participant, asked["text"], clock.next())
    work = QuestionWork()
    call = work.claim(session, clock.next())
    assert isinstance(call, QuestionCall)
    answer = Answer(
        text=asked["response"],
        properties=tuple(asked["properties"]),
        metadata=asked["metadata"],
        latency_ms=asked["latency_ms"],
    )
    work.store(session, call, answer, clock.next())
    who, run_id = rater(participant), participant.run_id
    assert run_id is not None
    for rank, verdict in zip(range(1, len(asked["properties"]) + 1), cycle(asked["verdicts"])):
        said = Relevance.UNSURE if verdict == "?" else Relevance(verdict)
        judgments.judge(session, who, run_id, position, rank, said, clock.click())
    nothing = KEEP if asked["properties"] else EmptyOutcome.CORRECT_EMPTY
    rating = AnswerRating(asked["quality"], asked["note"] or KEEP, nothing)
    judgments.rate(session, who, run_id, position, rating, clock.click())
    own_questions.close(session, participant, position, clock.next())
    findings.set_category(session, participant, position, asked["category"], clock.next())
    if asked["theme"]:
        findings.add(session, participant, f"note {position}", asked["theme"], clock.next())
