"""A machine judge at work: one judged item at a time is claimed, asked about and kept.

A call whose caller died is known by its lease (see ``workers.loop``) and is made again. A session
is stored, so that it outlives a page, a thread and the process; who asks the model goes on from it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import asdict, replace
from sqlalchemy import ColumnElement, and_, func, or_, select
from sqlalchemy.orm import Session

from relevansi.chatbot import mappings
from relevansi.chatbot.answers import Message
from relevansi.chatbot.client import Chatbot, Patience
from relevansi.chatbot.failures import CallFailed, NotTheContract
from relevansi.chatbot.mappings import MissingKey
from relevansi.config import JudgeEndpoint
from relevansi.db.tables.judging import JudgedItem
from relevansi.db.tables.machine_judges import MachineCall, MachineJudge, MachineSession
from relevansi.db.tables.study import Question
from relevansi.failures import Conflict
from relevansi.i18n import SOURCE_LANGUAGE, gettext, mark, speaking
from relevansi.importers.runs.json_documents import storable_text
from relevansi.kinds import from_row
from relevansi.records import BINARY, Click, Scale
from relevansi.services.judging import events
from relevansi.services.judging.events import Target
from relevansi.services.machine_judges import judges, prompts
from relevansi.services.machine_judges.judges import (
    LANGUAGE,
    NotConfigured,
    OtherConfiguration,
    OtherLanguage,
)
from relevansi.services.machine_judges.prompts import FENCED, MachineVerdict, UnreadableVerdict
from relevansi.services.runs.reports import UnknownRater
from relevansi.services.workers import loop
from relevansi.services.workers.loop import Idle, Lease, OutsideWork

MOST_FAILURES = 5
"""The failed calls in a row that end a session: repeating them would only cost money."""
MOST_AT_ONCE = MOST_FAILURES
"""The most calls at once: with more, too many could fail before the first one is back."""
MISSING_KEY, OTHER_CONFIGURATION, UNEXPECTED = "missing_key", "other_configuration", "unexpected"

SENTENCES: Mapping[str, str] = {
    **prompts.EXPLANATIONS,
    "not_reached": mark("The endpoint could not be reached."),
    "no_answer_in_time": mark("The answer was not there in time."),
    "connection_cut": mark("The connection was cut before the answer was complete."),
    "too_many_requests": mark("The endpoint is busy and refused (429)."),
    "pause_too_long": mark("The endpoint asks for a longer pause than is waited for."),
    "server_failed": mark("The endpoint failed."),
    "not_the_contract": mark("What came back is not an answer of an OpenAI-compatible endpoint."),
    "answer_too_large": mark("The answer is too large and was not read further."),
    "question_refused": mark("The endpoint refused the call."),
    "nothing_there": mark("There is nothing at the address of the endpoint (404)."),
    "redirected": mark("The address of the endpoint leads elsewhere."),
    MISSING_KEY: mark("The environment variable for the key is empty or not set."),
    OTHER_CONFIGURATION: mark("Another endpoint or model is configured by now."),
    UNEXPECTED: mark("Something went wrong on our side."),
}
"""Why a call or a session failed, in words, as message ids."""


class AlreadyRunning(Conflict):
    message = mark("%(name)s is at work already")
    remedy = mark("Stop it on its page first.")


class NothingToJudge(Conflict):
    message = mark("%(name)s has judged every card of the study")
    remedy = mark("Import another run first.")


class SessionState(StrEnum):
    """The state of a session; ``INTERRUPTED`` is never stored."""

    RUNNING = "running"
    INTERRUPTED = "interrupted"
    FINISHED = "finished"
    STOPPED = "stopped"
    CAPPED = "capped"
    FAILING = "failing"


class CallState(StrEnum):
    """The state of the last call about a judged item, once it is not on its way any more."""

    JUDGED = "judged"
    FAILED = "failed"


class Terms(Struct, frozen=True):
    """The terms the owner agreed to: prices for a million tokens, caps, calls at once."""

    prompt_price: float | None = None
    completion_price: float | None = None
    currency: str = ""
    most_calls: int | None = None
    at_once: int = 2


def mapping(endpoint: JudgeEndpoint, model: str, temperature: float) -> mappings.Mapping:
    """Return how the endpoint is spoken to; its key comes from the environment."""
    bearer = f"Bearer {{env:{endpoint.key_variable}}}"
    spoken = mappings.openai(model, {"temperature": temperature})
    return replace(spoken, headers={"Authorization": bearer} if endpoint.key_variable else {})


def start(
    session: Session,
    judge: MachineJudge,
    endpoint: JudgeEndpoint | None,
    terms: Terms,
    now: datetime,
) -> MachineSession:
    """Return a new session of a judge, running, logged with its estimate."""
    if endpoint is None:
        raise NotConfigured
    if not judges.fits(judge, endpoint):
        raise OtherConfiguration(f"{judge.model} ({judge.endpoint})")
    if judge.language != LANGUAGE:
        raise OtherLanguage(judge.rater.name)
    mappings.filled(mapping(endpoint, judge.model, judge.temperature).headers)
    events.lock(session, judge.rater)
    if running(session, judge.rater_id) is not None:
        raise AlreadyRunning(judge.rater.name)
    if judge.rater.removed_at is not None:
        raise UnknownRater(judge.rater.name)
    expected = prompts.estimate(session, judge, terms.most_calls)
    if not expected.n_cards:
        raise NothingToJudge(judge.rater.name)
    judging = MachineSession(rater_id=judge.rater_id, started_at=now, **asdict(terms))
    judging.state, judging.judged_items = str(SessionState.RUNNING), expected.n_cards
    judging.estimated_prompt_tokens = expected.prompt_tokens
    judging.estimated_completion_tokens = expected.completion_tokens
    session.add(judging)
    session.flush()
    tokens = expected.prompt_tokens + expected.completion_tokens
    size = f"{expected.n_cards} cards, about {tokens} tokens"
    judges.log(session, judge, "start machine judge", size, now)
    return judging


def stop(session: Session, judge: MachineJudge, now: datetime) -> None:
    """End the running session, logged; calls that are on their way are still kept."""
    judging = running(session, judge.rater_id)
    if judging is not None:
        end(judging, SessionState.STOPPED, now)
        judges.log(session, judge, "stop machine judge", f"{judging.calls} calls", now)


def running(session: Session, rater_id: int) -> MachineSession | None:
    """Return the judge's running session, locked against other changes."""
    is_open = MachineSession.ended_at.is_(None)
    return _lock_session(session, (MachineSession.rater_id == rater_id) & is_open)


def _lock_session(session: Session, where: ColumnElement[bool]) -> MachineSession | None:
    # The row in memory may be older than the lock: another process may have ended the session.
    newest = select(MachineSession).where(where).with_for_update()
    return session.scalar(newest.execution_options(populate_existing=True))


def state_of(session: Session, judging: MachineSession, now: datetime) -> SessionState:
    """Return the state of a session; interrupted when no caller has worked on it for a while."""
    if judging.ended_at is not None:
        return SessionState(judging.state)
    of_session = MachineCall.session_id == judging.id
    last = session.scalar(select(func.max(MachineCall.at)).where(of_session))
    quiet = now - (last or judging.started_at) > loop.LEASE_TIME
    is_asking = bool(calls_in_flight(session, judging, now))
    return SessionState.INTERRUPTED if quiet and not is_asking else SessionState.RUNNING


def calls_in_flight(session: Session, judging: MachineSession, now: datetime) -> list[MachineCall]:
    """Return the judge's calls that are on their way, of whichever session."""
    theirs = MachineCall.rater_id == judging.rater_id
    in_flight = select(MachineCall).where(theirs, loop.are_held(MachineCall, now))
    return list(session.scalars(in_flight))


def end(
    judging: MachineSession, became: SessionState, now: datetime, why: str | None = None
) -> None:
    judging.state, judging.ended_at, judging.why = str(became), now, why


def running_judges(session: Session) -> list[tuple[int, int]]:
    """Return the machine judges with a running session, and how many calls each makes at once."""
    sessions = session.scalars(select(MachineSession).where(MachineSession.ended_at.is_(None)))
    return [(judging.rater_id, judging.at_once) for judging in sessions]


PATIENCE = Patience(seconds=60, tries=2, first_pause=1, longest_pause=5, longest_wait=30)


class JudgeCall(Struct, frozen=True):
    """One judged item to ask about: the whole text, and how many tries the budget allows.

    ``scale`` is that of the study, by which the answer is read.
    """

    lease: Lease
    session_id: int
    model: str
    temperature: float
    prompt: str
    tries: int
    scale: Scale = BINARY


class CallOutcome(Struct, frozen=True):
    """The outcome of a call: the model's verdict, or a failure's code, detail and excerpt."""

    verdict: MachineVerdict | None = None
    tries: int = 1
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
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

    def claim(self, session: Session, now: datetime) -> JudgeCall | Idle:
        """Return the next call, with its part of the budget reserved; else why there is none.

        A session ends here when everything is judged, when the next call could exceed its
        budget, when the judge was removed, or when another model is configured than its own.
        So few calls are on their way that no more can fail in a row than end the session.
        """
        judging = running(session, self.rater_id)
        if judging is None:
            return Idle.DONE
        judge = session.get_one(MachineJudge, self.rater_id)
        if judge.rater.removed_at is not None:
            end(judging, SessionState.STOPPED, now)
        elif self.endpoint is None or not judges.fits(judge, self.endpoint):
            end(judging, SessionState.FAILING, now, OTHER_CONFIGURATION)
        if judging.ended_at is not None:
            return Idle.DONE
        in_flight = calls_in_flight(session, judging, now)
        if len(in_flight) >= min(judging.at_once, MOST_FAILURES - judging.failed_in_a_row):
            return Idle.RETRY
        call = _prepare_call(session, judge, judging, in_flight, now)
        if isinstance(call, JudgeCall):
            return call
        if in_flight:
            return Idle.RETRY
        end(judging, call, now)
        return Idle.DONE

    def ask(self, call: JudgeCall) -> CallOutcome:
        """Return the model's verdict on one card, or why there is none."""
        assert self.endpoint is not None  # or nothing would have been claimed
        try:
            spoken = mapping(self.endpoint, call.model, call.temperature)
            patience = replace(self.patience, tries=min(call.tries, self.patience.tries))
            client = Chatbot(judges.address(self.endpoint), spoken, patience)
            answer = client.ask(Message(message=call.prompt, session_id="", user_id="", method=""))
        except CallFailed as failure:
            with speaking(SOURCE_LANGUAGE):
                detail = " ".join(failure.values.values())
                if isinstance(failure, NotTheContract):
                    detail = gettext(failure.what, **failure.values)
            about = {name: getattr(failure, name) for name in ("code", "excerpt", "tries")}
            return CallOutcome(answered=False, detail=detail, **about)
        except MissingKey as missing:
            why = str(missing.args[0])
            return CallOutcome(tries=0, answered=False, code=MISSING_KEY, detail=why)
        numbers = [(answer.usage or {}).get(f"{part}_tokens") for part in ("prompt", "completion")]
        prompt, completion = (n if type(n) is int and 0 <= n < 10**9 else None for n in numbers)
        used = answer.tries, prompt, completion
        try:
            return CallOutcome(prompts.read(answer.text, call.scale), *used)
        except UnreadableVerdict as wrong:
            return CallOutcome(None, *used, code=str(wrong), excerpt=answer.text[:2000])

    def store(self, session: Session, call: JudgeCall, outcome: CallOutcome, now: datetime) -> None:
        """Store the outcome of a call: the verdict through the judge's event, or the failure."""
        judging = _lock_session(session, MachineSession.id == call.session_id)
        if judging is None:
            return  # the judge was deleted meanwhile
        _count(judging, call, outcome)
        row = loop.lock_row(session, MachineCall, call.lease)
        if row is None:
            return
        row.prompt_tokens, row.completion_tokens = outcome.prompt_tokens, outcome.completion_tokens
        row.at, row.reserved_calls = now, 0
        if outcome.verdict is not None:
            _judge(session, row, outcome.verdict, now)
            judging.failed_in_a_row = 0
            return
        loop.give_back(row, CallState.FAILED)
        row.error_code, row.error = outcome.code, storable_text(outcome.detail)
        row.excerpt = storable_text(outcome.excerpt) or None
        judging.failed += 1
        judging.failed_in_a_row += 1
        if judging.failed_in_a_row >= MOST_FAILURES and judging.ended_at is None:
            end(judging, SessionState.FAILING, now, outcome.code)

    def unforeseen(self, error: Exception) -> CallOutcome:  # noqa: ARG002 (the log has it)
        return CallOutcome(answered=False, code=UNEXPECTED)


def _prepare_call(
    session: Session,
    judge: MachineJudge,
    judging: MachineSession,
    in_flight: Sequence[MachineCall],
    now: datetime,
) -> JudgeCall | SessionState:
    mine = MachineCall.rater_id == judge.rater_id
    failed = and_(MachineCall.state == str(CallState.FAILED), MachineCall.session_id == judging.id)
    is_held = loop.are_held(MachineCall, now)
    busy = select(MachineCall.judged_item_id).where(mine, or_(failed, is_held))
    left_to_judge = prompts.open_items(session, judge, JudgedItem.id.not_in(busy))
    if not left_to_judge:
        return SessionState.FINISHED
    item_id = left_to_judge[0]
    ((_, prompt),) = prompts.prompts_of(session, judge, [item_id])
    key = {"rater_id": judge.rater_id, "judged_item_id": item_id}
    row = session.get(MachineCall, key) or MachineCall(**key, state="", attempt=0)
    if loop.is_lost(row, now):
        # Its caller died: it counts at its estimated cost, which it may have had.
        died_in = session.get(MachineSession, row.session_id)
        if died_in is not None:
            died_in.calls += 1
            died_in.uncounted += 1
            died_in.prompt_tokens += prompts.Rates().prompt(row.prompt_characters)
        row.reserved_calls = 0
    tries = _tries_left(judging, in_flight)
    if not tries:
        return SessionState.CAPPED
    row.session_id, row.prompt_characters, row.at = judging.id, len(prompt), now
    row.verdict = row.error = row.error_code = row.excerpt = None
    row.prompt_tokens = row.completion_tokens = None
    row.reason, row.reserved_calls = "", tries
    session.add(row)
    session.flush()
    lease = loop.take(session, row, now)
    assert lease is not None  # the session is locked, and no call on its way was looked at
    scale = Scale.stored(judge.rater.study.scale)
    return JudgeCall(lease, judging.id, judge.model, judge.temperature, prompt, tries, scale)


def _tries_left(judging: MachineSession, in_flight: Sequence[MachineCall]) -> int:
    """Return how many tries the session's limit of calls leaves, those under way counted."""
    if judging.most_calls is None:
        return PATIENCE.tries
    reserved = sum(call.reserved_calls for call in in_flight)
    return min(PATIENCE.tries, max(0, judging.most_calls - judging.calls - reserved))


def _count(judging: MachineSession, call: JudgeCall, outcome: CallOutcome) -> None:
    """Add a call's tokens and cost; an answer that states no tokens counts the usual number."""
    judging.calls += outcome.tries
    if not outcome.answered:
        return
    rates, prompt, completion = prompts.Rates(), outcome.prompt_tokens, outcome.completion_tokens
    judging.uncounted += prompt is None or completion is None
    judging.prompt_tokens += rates.prompt(len(call.prompt)) if prompt is None else prompt
    judging.completion_tokens += round(rates.completion) if completion is None else completion


def _judge(session: Session, row: MachineCall, verdict: MachineVerdict, now: datetime) -> None:
    judge = session.get_one(MachineJudge, row.rater_id)
    loop.give_back(row, CallState.JUDGED)
    row.verdict, row.reason = str(verdict.verdict), storable_text(verdict.reason)
    row.error_code = verdict.flaw
    target = Target("verdict", item_id=row.judged_item_id)
    click = Click(f"machine:{row.session_id}:{row.judged_item_id}:{row.attempt}", now)
    events.lock(session, judge.rater)
    events.record(session, judge.rater, target, verdict.verdict, click, cause="machine")
    events.refresh(session, judge.rater, [target])


MOST_FAILED = 10


class SessionNow(NamedTuple):
    """A session as it is now, and how many cards it judged."""

    line: MachineSession
    state: SessionState
    judged: int


class Work(Struct, frozen=True):
    """The numbers of cards judged and left, the running session if any, and those before.

    ``n_failed`` cards had an answer that could not be used, ``failed`` are the latest: (call,
    position, title); the next session asks again. ``n_fenced`` of those judged had theirs in a
    code fence.
    """

    judged: int
    n_open: int
    n_failed: int
    n_fenced: int
    current: SessionNow | None
    earlier: tuple[SessionNow, ...]
    failed: tuple[tuple[MachineCall, int, str], ...]


def work(session: Session, judge: MachineJudge, now: datetime) -> Work:
    """Return what a judge has done so far, what it does now, and what failed."""
    is_judged = MachineCall.state == str(CallState.JUDGED)
    of_session = MachineCall.session_id == MachineSession.id
    judged = select(func.count()).where(of_session, is_judged).scalar_subquery()
    own_sessions = select(MachineSession, judged).where(MachineSession.rater_id == judge.rater_id)
    rows = session.execute(own_sessions.order_by(MachineSession.id.desc()))
    sessions = [SessionNow(line, state_of(session, line, now), count) for line, count in rows]
    of_judge = MachineCall.rater_id == judge.rater_id
    is_failed = MachineCall.state == str(CallState.FAILED)

    def count(*which: ColumnElement[bool]) -> int:
        return session.scalar(select(func.count()).where(of_judge, *which)) or 0

    failed = session.execute(
        select(MachineCall, JudgedItem, Question.position)
        .join(JudgedItem, JudgedItem.id == MachineCall.judged_item_id)
        .join(Question, Question.id == JudgedItem.question_id)
        .where(of_judge, is_failed)
        .order_by(MachineCall.at.desc(), MachineCall.judged_item_id)
        .limit(MOST_FAILED)
    )
    cards = [(call, at, from_row(item.card or {"title": ""})) for call, item, at in failed]
    return Work(
        judged=count(is_judged),
        n_open=len(prompts.open_items(session, judge)),
        n_failed=count(is_failed),
        n_fenced=count(is_judged, MachineCall.error_code == FENCED),
        current=next((line for line in sessions if line.line.ended_at is None), None),
        earlier=tuple(line for line in sessions if line.line.ended_at is not None),
        failed=tuple((call, position, card.title) for call, position, card in cards),
    )
