"""The demo's machine judge: its verdicts come from recorded answers, no model is asked."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path

from sqlalchemy.orm import Session

from webapp.config import JudgeEndpoint
from webapp.db.tables.judging import JudgedThing
from webapp.db.tables.study import Question, Study
from webapp.services.machine_judges import beside_people, judges, prompts, sessions
from webapp.services.machine_judges.calls import CallOutcome, JudgeCall, JudgeWork, Usage
from webapp.services.machine_judges.sessions import Terms

ENDPOINT = JudgeEndpoint("http://127.0.0.1:9/v1", "demo-judge")
"""Nothing listens there: a new session of this judge asks nobody."""
CALLS = 40
PACE = timedelta(seconds=3)


def add(session: Session, study: Study, folder: Path, now: datetime) -> None:
    """Let a machine judge 40 cards, as recorded, and release its figures."""
    recorded = json.loads((folder / "machine_answers.json").read_text("utf-8"))
    prompt = prompts.default("id", study.guidelines)
    rater = judges.make(session, study, "Mesin A", ENDPOINT, "id", prompt, now)
    judge = judges.find(session, study, rater.id)
    terms = Terms(0.15, 0.6, "USD", most_calls=CALLS, at_once=1)
    sessions.start(session, judge, ENDPOINT, terms, now)
    work, at = JudgeWork(rater.id, ENDPOINT), now
    while isinstance(call := work.claim(session, at), JudgeCall):
        work.keep(session, call, _outcome(session, call, recorded), at)
        at += PACE
    beside_people.release(session, study, judge, at)


def _outcome(session: Session, call: JudgeCall, recorded: dict[str, str]) -> CallOutcome:
    """Return the recorded answer about the judged thing of a call."""
    thing = session.get_one(JudgedThing, call.lease.key[1])
    position = session.get_one(Question, thing.question_id).position
    answer = recorded[f"{position} {(thing.card or {})['slug']}"]
    usage = Usage(len(call.prompt) // 4, len(answer) // 4)
    return CallOutcome(prompts.read(answer), usage=usage)
