"""The demo's machine judge: its verdicts come from recorded answers, no model is asked.

It judges 40 cards, is released, and then judges the rest in a second session, which is stored in
a few statements: 400 calls one by one would take a start ten seconds.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from math import ceil
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.config import JudgeEndpoint
from relevansi.db.tables.judging import JudgedItem
from relevansi.db.tables.machine_judges import MachineCall, MachineJudge, MachineSession
from relevansi.db.tables.runs import Result
from relevansi.db.tables.study import Question, Study
from relevansi.records import Click, Scale
from relevansi.services.judging import events, stored_summaries
from relevansi.services.judging.events import Target, TargetChange
from relevansi.services.machine_judges import calls as sessions
from relevansi.services.machine_judges import judges, prompts, token_estimates
from relevansi.services.machine_judges.calls import (
    CallOutcome,
    CallState,
    JudgeCall,
    JudgeWork,
    SessionState,
    Terms,
)
from relevansi.services.machine_judges.prompts import MachineVerdict
from relevansi.services.runs.reports import in_study

ENDPOINT = JudgeEndpoint("http://127.0.0.1:9/v1", "demo-judge")
"""Nothing listens there: a new session of this judge asks nobody."""
NAMES = {"id": "Mesin A", "en": "Machine A"}
CALLS = 40
PRICES = (0.15, 0.6)
PACE = timedelta(seconds=3)


def add(session: Session, study: Study, folder: Path, now: datetime, language: str = "id") -> None:
    """Let a machine judge 40 cards, as recorded, and release its figures."""
    recorded = json.loads((folder / "machine_answers.json").read_text("utf-8"))
    prompt, name = judges.usual_prompt(study), NAMES[language]
    judge = judges.make(session, study, name, ENDPOINT, prompt, now)
    terms = Terms(*PRICES, "USD", most_calls=CALLS, at_once=1)
    sessions.start(session, judge, ENDPOINT, terms, now)
    work, at = JudgeWork(judge.rater_id, ENDPOINT), now
    while isinstance(call := work.claim(session, at), JudgeCall):
        thing = session.get_one(JudgedItem, call.lease.key[1])
        position = session.get_one(Question, thing.question_id).position
        said, prompt_tokens, completion_tokens = _answered(
            call.prompt, recorded[_name(thing, position)], call.scale
        )
        outcome = CallOutcome(said, 1, prompt_tokens, completion_tokens)
        work.store(session, call, outcome, at)
        at += PACE
    judges.release(session, judge, at)
    _judge_the_rest(session, judge, recorded, at)


def _judge_the_rest(
    session: Session, judge: MachineJudge, recorded: dict[str, str], at: datetime
) -> None:
    left = prompts.open_items(session, judge)
    prompts_of: dict[int, str] = dict(prompts.prompts_of(session, judge, left))
    told = token_estimates.rates(session, judge)
    found = MachineSession(
        rater_id=judge.rater_id,
        state=str(SessionState.FINISHED),
        started_at=at,
        ended_at=at + PACE * len(prompts_of),
        judged_items=len(prompts_of),
        estimated_prompt_tokens=told.prompt(sum(map(len, prompts_of.values()))),
        estimated_completion_tokens=ceil(len(prompts_of) * told.completion),
        prompt_price=PRICES[0],
        completion_price=PRICES[1],
        currency="USD",
        calls=len(prompts_of),
    )
    session.add(found)
    session.flush()
    shown = select(JudgedItem, Question.position).join(
        Question, Question.id == JudgedItem.question_id
    )
    of_study = shown.where(JudgedItem.id.in_(select(Result.judged_item_id)))
    answers = {
        thing.id: recorded.get(_name(thing, position), "")
        for thing, position in session.execute(of_study)
    }
    scale = Scale.stored(judge.rater.study.scale)
    calls, changes = [], []
    for thing, prompt in prompts_of.items():
        at += PACE
        answer = answers[thing]
        said, prompt_tokens, completion_tokens = _answered(prompt, answer, scale)
        found.prompt_tokens += prompt_tokens
        found.completion_tokens += completion_tokens
        calls.append(
            MachineCall(
                rater_id=judge.rater_id,
                judged_item_id=thing,
                session_id=found.id,
                state=str(CallState.JUDGED),
                verdict=str(said.verdict),
                reason=said.reason,
                error_code=said.flaw,
                prompt_characters=len(prompt),
                prompt_tokens=prompt_tokens,
                completion_tokens=completion_tokens,
                at=at,
            )
        )
        click = Click(f"machine:{found.id}:{thing}:1", at)
        target = Target("verdict", item_id=thing)
        changes.append(TargetChange(target, said.verdict, click))
    session.add_all(calls)
    events.record_all(session, judge.rater, changes, cause="machine")
    stored_summaries.refresh(session, [judge.rater_id], in_study(judge.rater.study))


def _name(thing: JudgedItem, position: int) -> str:
    card = thing.card or {}
    return f"{position} {card.get('slug') or card.get('doc_id')}"


def _answered(prompt: str, answer: str, scale: Scale) -> tuple[MachineVerdict, int, int]:
    return prompts.read(answer, scale), len(prompt) // 4, len(answer) // 4
