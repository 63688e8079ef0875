"""A machine judge at work: one judged thing at a time is claimed, asked about and kept.

A call whose caller died is known by its lease (see ``workers.leases``) and is made again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import and_, or_, select
from sqlalchemy.orm import Session

from webapp.chatbot.answers import Answer, Message
from webapp.chatbot.client import Chatbot, Patience
from webapp.chatbot.failures import CallFailed, NotTheContract
from webapp.chatbot.mappings import MissingKey
from webapp.config import JudgeEndpoint
from webapp.db.tables.judging import JudgedThing
from webapp.db.tables.machine_judges import MachineCall, MachineJudge, MachineSession
from webapp.i18n import SOURCE_LANGUAGE, gettext, speaking
from webapp.importers.runs.json_documents import storable_text
from webapp.records import Click
from webapp.services.judging import events
from webapp.services.judging.events import Target
from webapp.services.machine_judges import estimates, judges, prompts, sessions
from webapp.services.machine_judges.prompts import MachineVerdict, UnreadableVerdict
from webapp.services.machine_judges.sessions import (
    MISSING_KEY,
    MOST_FAILURES,
    OTHER_CONFIGURATION,
    UNEXPECTED,
    CallState,
    SessionState,
    mapping,
)
from webapp.services.workers import leases
from webapp.services.workers.leases import Lease
from webapp.services.workers.loop import Nothing, OutsideWork

PATIENCE = Patience(seconds=60, tries=2, first_pause=1, longest_pause=5, longest_wait=30)


class JudgeCall(Struct, frozen=True):
    """One judged thing to ask about: the whole text, and how many tries the budget allows."""

    lease: Lease
    session_id: int
    model: str
    temperature: float
    prompt: str
    tries: int


class Usage(Struct, frozen=True):
    """The tokens that an answer states; ``None`` where it states none."""

    prompt: int | None = None
    completion: int | None = None


class CallOutcome(Struct, frozen=True):
    """The outcome of a call: the model's verdict, or a failure's code, detail and excerpt.

    ``answered`` is true if the model answered at all, readable or not.
    """

    said: MachineVerdict | None
    tries: int = 1
    usage: Usage = Usage()
    answered: bool = True
    code: str = ""
    detail: str = ""
    excerpt: str = ""


@dataclass(frozen=True, slots=True)
class JudgeWork(OutsideWork[JudgeCall, CallOutcome]):
    """The work of one machine judge, for the session that it has running."""

    rater_id: int
    endpoint: JudgeEndpoint | None
    patience: Patience = PATIENCE

    def claim(self, session: Session, now: datetime) -> JudgeCall | Nothing:
        """Return the next call, with its part of the budget reserved; else why there is none.

        A session ends here when everything is judged, when the next call could exceed its
        budget, when the judge was removed, or when another model is configured than its own.
        So few calls are on their way that no more can fail in a row than end the session.
        """
        found = sessions.running(session, self.rater_id)
        if found is None:
            return Nothing.MORE
        judge = session.get_one(MachineJudge, self.rater_id)
        if not _may_go_on(judge, found, self.endpoint, now):
            return Nothing.MORE
        asking = sessions.asking(session, found, now)
        if len(asking) >= min(found.at_once, MOST_FAILURES - found.failed_in_a_row):
            return Nothing.YET
        call = _prepared(session, judge, found, asking, now)
        if isinstance(call, JudgeCall):
            return call
        if asking:
            return Nothing.YET
        sessions.end(found, call, now)
        return Nothing.MORE

    def ask(self, call: JudgeCall) -> CallOutcome:
        """Return the model's verdict on one judged thing, or why there is none."""
        assert self.endpoint is not None  # or nothing would have been claimed
        try:
            client = Chatbot(
                judges.address(self.endpoint),
                mapping(self.endpoint, call.model, call.temperature),
                replace(self.patience, tries=min(call.tries, self.patience.tries)),
            )
            answer = client.ask(Message(message=call.prompt, session_id="", user_id="", method=""))
        except CallFailed as failure:
            return CallOutcome(
                None, failure.tries, answered=False, code=failure.code,
                detail=_detail(failure), excerpt=failure.excerpt,
            )  # fmt: skip
        except MissingKey as missing:
            why = str(missing.args[0])
            return CallOutcome(None, 0, answered=False, code=MISSING_KEY, detail=why)
        tries, usage = answer.tries, _usage(answer)
        try:
            return CallOutcome(prompts.read(answer.text), tries, usage)
        except UnreadableVerdict as wrong:
            return CallOutcome(None, tries, usage, code=wrong.code, excerpt=answer.text[:2000])

    def keep(self, session: Session, call: JudgeCall, outcome: CallOutcome, now: datetime) -> None:
        """Store the outcome of a call: the verdict through the judge's event, or the failure.

        The outcome of a call that was given up is not stored; its cost counts.
        """
        found = session.scalar(
            select(MachineSession)
            .where(MachineSession.id == call.session_id)
            .with_for_update()
            .execution_options(populate_existing=True)
        )
        if found is None:
            return  # the judge was deleted meanwhile
        _count(found, call, outcome)
        row = leases.own(session, MachineCall, call.lease)
        if row is None:
            return
        row.prompt_tokens, row.completion_tokens = outcome.usage.prompt, outcome.usage.completion
        row.at, row.reserved_calls, row.reserved_tokens = now, 0, 0
        if outcome.said is None:
            _fail(found, row, outcome, now)
        else:
            _judge(session, row, outcome.said, now)
            found.failed_in_a_row = 0

    def unforeseen(self, error: Exception) -> CallOutcome:  # noqa: ARG002 (the log has it)
        """Return the failure of a call that ended with an error of ours."""
        return CallOutcome(None, answered=False, code=UNEXPECTED)


def _may_go_on(
    judge: MachineJudge, found: MachineSession, endpoint: JudgeEndpoint | None, now: datetime
) -> bool:
    """Whether the judge is still there and configured; if not, its session ends here."""
    if judge.rater.removed_at is not None:
        sessions.end(found, SessionState.STOPPED, now)
    elif endpoint is None or not judges.fits(judge, endpoint):
        sessions.end(found, SessionState.FAILING, now, OTHER_CONFIGURATION)
    return found.ended_at is None


def _prepared(
    session: Session,
    judge: MachineJudge,
    found: MachineSession,
    asking: Sequence[MachineCall],
    now: datetime,
) -> JudgeCall | SessionState:
    """Return the next call, stored as being asked; else how the session ends without one."""
    thing_id = _next(session, judge, found, now)
    if thing_id is None:
        return SessionState.FINISHED
    ((_, prompt),) = estimates.prompts_of(session, judge, [thing_id])
    row = session.get(MachineCall, (judge.rater_id, thing_id)) or MachineCall(
        rater_id=judge.rater_id, judged_thing_id=thing_id, state="", attempt=0
    )
    if leases.is_lost(row, now):
        _bury(session, row)
    tries, tokens = _left(session, judge, found, asking, prompt)
    if not tries:
        return SessionState.CAPPED
    row.session_id, row.prompt_characters, row.at = found.id, len(prompt), now
    row.verdict, row.reason, row.error, row.error_code, row.excerpt = None, "", None, None, None
    row.prompt_tokens = row.completion_tokens = None
    row.reserved_calls, row.reserved_tokens = tries, tokens
    session.add(row)
    session.flush()
    lease = leases.take(session, row, now)
    assert lease is not None  # the session is locked, and no call on its way was looked at
    return JudgeCall(lease, found.id, judge.model, judge.temperature, prompt, tries)


def _next(
    session: Session, judge: MachineJudge, found: MachineSession, now: datetime
) -> int | None:
    """Return the thing to ask about: not on its way, and not failed in this session."""
    mine = MachineCall.rater_id == judge.rater_id
    failed = and_(MachineCall.state == str(CallState.FAILED), MachineCall.session_id == found.id)
    held = leases.are_held(MachineCall, now)
    busy = select(MachineCall.judged_thing_id).where(mine, or_(failed, held))
    left = estimates.open_things(session, judge, JudgedThing.id.not_in(busy))
    return left[0] if left else None


def _left(
    session: Session,
    judge: MachineJudge,
    found: MachineSession,
    asking: Sequence[MachineCall],
    prompt: str,
) -> tuple[int, int]:
    """Return how many tries the budget allows for `prompt`, and the tokens they may take."""
    rates = estimates.rates(session, judge)
    tokens = rates.prompt(len(prompt)) + round(rates.completion)
    if found.most_tokens is not None:
        used = found.prompt_tokens + found.completion_tokens
        held = sum(call.reserved_tokens for call in asking)
        if used + held + tokens > found.most_tokens:
            return 0, tokens
    if found.most_calls is None:
        return PATIENCE.tries, tokens
    held = sum(call.reserved_calls for call in asking)
    return min(PATIENCE.tries, max(0, found.most_calls - found.calls - held)), tokens


def _bury(session: Session, row: MachineCall) -> None:
    """Count a call whose caller died at its estimated cost, which it may have had."""
    died_in = session.get(MachineSession, row.session_id)
    if died_in is not None:
        died_in.calls += 1
        died_in.uncounted += 1
        died_in.prompt_tokens += row.reserved_tokens
    row.reserved_calls = row.reserved_tokens = 0


def _count(found: MachineSession, call: JudgeCall, outcome: CallOutcome) -> None:
    """Add a call's tokens and cost; an answer that states no tokens counts the usual number."""
    found.calls += outcome.tries
    if not outcome.answered:
        return
    usage, rates = outcome.usage, estimates.Rates()
    if usage.prompt is None or usage.completion is None:
        found.uncounted += 1
    prompt = rates.prompt(len(call.prompt)) if usage.prompt is None else usage.prompt
    completion = round(rates.completion) if usage.completion is None else usage.completion
    found.prompt_tokens += prompt
    found.completion_tokens += completion


def _judge(session: Session, row: MachineCall, said: MachineVerdict, now: datetime) -> None:
    judge = session.get_one(MachineJudge, row.rater_id)
    leases.give_back(row, CallState.JUDGED)
    row.verdict, row.reason = str(said.verdict), storable_text(said.reason)
    row.error_code = said.flaw
    target = Target("verdict", thing_id=row.judged_thing_id)
    click = Click(f"machine:{row.session_id}:{row.judged_thing_id}:{row.attempt}", now)
    events.lock(session, judge.rater)
    events.record(session, judge.rater, target, said.verdict, click, cause="machine")
    events.refresh(session, judge.rater, [target])


def _fail(found: MachineSession, row: MachineCall, outcome: CallOutcome, now: datetime) -> None:
    leases.give_back(row, CallState.FAILED)
    row.error_code, row.error = outcome.code, storable_text(outcome.detail)
    row.excerpt = storable_text(outcome.excerpt) or None
    found.failed += 1
    found.failed_in_a_row += 1
    if found.failed_in_a_row >= MOST_FAILURES and found.ended_at is None:
        sessions.end(found, SessionState.FAILING, now, outcome.code)


def _usage(answer: Answer) -> Usage:
    """Return the tokens that an answer states, where they are whole numbers."""
    stated = answer.usage or {}

    def tokens(name: str) -> int | None:
        found = stated.get(name)
        return found if type(found) is int and 0 <= found < 10**9 else None

    return Usage(tokens("prompt_tokens"), tokens("completion_tokens"))


def _detail(failure: CallFailed) -> str:
    """Return the details of a failure beside its kind, in the source language."""
    with speaking(SOURCE_LANGUAGE):
        if isinstance(failure, NotTheContract):
            return gettext(failure.what, **failure.values)
        return " ".join(failure.values.values())
