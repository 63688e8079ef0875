"""How far a machine judge is: the cards it judged and failed at, its sessions and their cost."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from webapp.db.tables.judging import JudgedThing
from webapp.db.tables.machine_judges import MachineCall, MachineJudge, MachineSession
from webapp.db.tables.study import Question
from webapp.services.judging.judged_things import from_row
from webapp.services.machine_judges import estimates, sessions
from webapp.services.machine_judges.prompts import FENCED
from webapp.services.machine_judges.sessions import CallState, SessionState

MOST_FAILED = 10


class SessionLine(Struct, frozen=True):
    """One session as it is now, its estimate beside its actual cost (see ``MachineSession``)."""

    state: SessionState
    started_at: datetime
    ended_at: datetime | None
    things: int
    judged: int
    failed: int
    estimated_prompt_tokens: int
    estimated_completion_tokens: int
    prompt_tokens: int
    completion_tokens: int
    prompt_price: float | None
    completion_price: float | None
    currency: str
    most_calls: int | None
    most_tokens: int | None
    calls: int
    uncounted: int
    why: str | None


class FailedCall(Struct, frozen=True):
    """A card on which there is no verdict, and why; ``excerpt`` is how the answer began."""

    position: int
    title: str
    code: str
    detail: str
    excerpt: str


class Work(Struct, frozen=True):
    """The numbers of cards judged and left, the running session if any, and those before.

    ``n_failed`` cards had an answer that could not be used: the next session asks again.
    ``n_fenced`` of those judged had theirs in a code fence.
    """

    judged: int
    left: int
    n_failed: int
    n_fenced: int
    current: SessionLine | None
    earlier: tuple[SessionLine, ...]
    failed: tuple[FailedCall, ...]


def work(session: Session, judge: MachineJudge, now: datetime) -> Work:
    """Return how far a judge is."""
    found = session.scalars(
        select(MachineSession)
        .where(MachineSession.rater_id == judge.rater_id)
        .order_by(MachineSession.id.desc())
    ).all()
    counted = _counted(session, [one.id for one in found])
    lines = [_line(session, one, counted.get(one.id, {}), now) for one in found]
    failed = _failed(session, judge)
    own = MachineCall.rater_id == judge.rater_id
    judged = select(func.count()).where(own, MachineCall.state == str(CallState.JUDGED))
    fenced = judged.where(MachineCall.error_code == FENCED)
    n_failed = select(func.count()).where(own, MachineCall.state == str(CallState.FAILED))
    return Work(
        judged=session.scalar(judged) or 0,
        left=len(estimates.open_things(session, judge)),
        n_failed=session.scalar(n_failed) or 0,
        n_fenced=session.scalar(fenced) or 0,
        current=next((line for line in lines if line.ended_at is None), None),
        earlier=tuple(line for line in lines if line.ended_at is not None),
        failed=failed,
    )


def _counted(session: Session, ids: Sequence[int]) -> dict[int, dict[str, int]]:
    """Return the number of calls of each session, by their state."""
    rows = session.execute(
        select(MachineCall.session_id, MachineCall.state, func.count())
        .where(MachineCall.session_id.in_(ids))
        .group_by(MachineCall.session_id, MachineCall.state)
    )
    found: dict[int, dict[str, int]] = {}
    for session_id, state, count in rows:
        found.setdefault(session_id, {})[state] = count
    return found


def _line(
    session: Session, found: MachineSession, counted: dict[str, int], now: datetime
) -> SessionLine:
    counts: dict[str, Any] = {
        "state": sessions.state(session, found, now),
        "judged": counted.get(CallState.JUDGED, 0),
    }
    names = set(SessionLine.__struct_fields__) - counts.keys()
    return SessionLine(**counts, **{name: getattr(found, name) for name in names})


def _failed(session: Session, judge: MachineJudge) -> tuple[FailedCall, ...]:
    rows = session.execute(
        select(MachineCall, JudgedThing, Question.position)
        .join(JudgedThing, JudgedThing.id == MachineCall.judged_thing_id)
        .join(Question, Question.id == JudgedThing.question_id)
        .where(
            MachineCall.rater_id == judge.rater_id,
            MachineCall.state == str(CallState.FAILED),
        )
        .order_by(MachineCall.at.desc(), MachineCall.judged_thing_id)
        .limit(MOST_FAILED)
    )
    return tuple(
        FailedCall(
            position=position,
            title=from_row(thing.card or {"title": ""}).title,
            code=call.error_code or "",
            detail=call.error or "",
            excerpt=call.excerpt or "",
        )
        for call, thing, position in rows
    )
