from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.orm import Session

from relevansi.chatbot.client import Patience
from relevansi.config import JudgeEndpoint
from relevansi.db.tables.machine_judges import MachineJudge, MachineSession
from relevansi.db.tables.study import Study
from relevansi.services.machine_judges import calls, judges, prompts
from relevansi.services.machine_judges.calls import JudgeCall, JudgeWork, Terms
from relevansi.services.workers.loop import Idle
from tests.chatbot import bots
from tests.chatbot.bots import Behaviour, Bot, Handler
from tests.conftest import NOW

MODEL = "small-model-1"
QUICK = Patience(seconds=5, tries=2, first_pause=0, longest_pause=0, jitter=0)
USAGE = {"prompt_tokens": 300, "completion_tokens": 20}


def endpoint(bot: Bot, model: str = MODEL, key_variable: str = "") -> JudgeEndpoint:
    return JudgeEndpoint(f"http://127.0.0.1:{bot.server_address[1]}/v1", model, key_variable)


def saying(decide: Callable[[str], str], usage: dict[str, int] | None = USAGE) -> Behaviour:
    """Answer with the verdict that `decide` makes of the prompt, and a reason."""

    def answer(handler: Handler, request: Any) -> None:
        (message,) = request["messages"]
        verdict = {"verdict": decide(message["content"]), "reason": "As the card says."}
        bots.send(handler, 200, json.dumps(_completion(json.dumps(verdict), usage)).encode())

    return answer


def text(content: str, usage: dict[str, int] | None = USAGE) -> Behaviour:
    """Answer with this very text."""
    return bots.status(200, _completion(content, usage))


def always(verdict: str) -> Behaviour:
    """Answer the same of every card."""
    return saying(lambda _prompt: verdict)


def stored_judge(
    session: Session,
    study: Study,
    at: JudgeEndpoint,
    *,
    name: str = "Mesin",
    prompt: str | None = None,
) -> MachineJudge:
    prompt = prompt or prompts.default(study.guidelines)
    return judges.make(session, study, name, at, prompt, NOW)


def worked(
    session: Session,
    judge: MachineJudge,
    at: JudgeEndpoint,
    terms: Terms | None = None,
    *,
    now: datetime = NOW,
) -> MachineSession:
    """Start a judge, let it work until it ends, and return the session."""
    result = calls.start(session, judge, at, terms or Terms(), now)
    work = JudgeWork(judge.rater_id, at, QUICK)
    while (call := work.claim(session, now)) is not Idle.DONE:
        assert isinstance(call, JudgeCall)
        now += timedelta(seconds=1)
        work.store(session, call, work.ask(call), now)
    session.flush()
    return result


def _completion(content: str, usage: dict[str, int] | None) -> dict[str, Any]:
    counts = {"usage": usage} if usage is not None else {}
    return {
        "choices": [{"message": {"role": "assistant", "content": content}}],
        "model": MODEL,
        **counts,
    }
