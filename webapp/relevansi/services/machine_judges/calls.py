"""The sessions and calls of a machine judge: each judged item is claimed, asked about and stored.

A call whose process died is known by its lease, which has ended (see ``workers.loop``), and is made
again. Sessions are stored, so that they outlive a page, a thread and the process (decision 0024).
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
from relevansi.services.machine_judges import judges, prompts, token_estimates
from relevansi.services.machine_judges.judges import (
    LANGUAGE,
    NotConfigured,
    OtherConfiguration,
    OtherLanguage,
)
from relevansi.services.machine_judges.prompts import FENCED, MachineVerdict, UnreadableVerdict
from relevansi.services.machine_judges.token_estimates import Rates
from relevansi.services.runs.reports import UnknownRater
from relevansi.services.workers import loop
from relevansi.services.workers.loop import Idle, Lease, OutsideWork

MAX_FAILURES = 5
"""So many failed calls in a row end a session: repeating them would only cost money."""

MAX_AT_ONCE = MAX_FAILURES
"""The most calls at once: with more, too many could fail before the first is back."""

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
"""The sentence of each code of a failed call or session, as message ids."""


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
    """The state of the last call about a judged item, once the call has ended."""

    JUDGED = "judged"
    FAILED = "failed"


class Terms(Struct, frozen=True):
    """The owner's terms of a session: prices of a million tokens, cap on calls, calls at once."""

    prompt_price: float | None = None
    completion_price: float | None = None
    currency: str = ""
    most_calls: int | None = None
    at_once: int = 2


def mapping(endpoint: JudgeEndpoint, model: str, temperature: float) -> mappings.Mapping:
    """Return the requests and answers of the endpoint; its key comes from the environment."""
    headers = {}
    if endpoint.key_variable:
        headers["Authorization"] = f"Bearer {{env:{endpoint.key_variable}}}"
    return replace(mappings.openai(model, {"temperature": temperature}), headers=headers)


def start(
    session: Session,
    judge: MachineJudge,
    endpoint: JudgeEndpoint | None,
    terms: Terms,
    now: datetime,
) -> MachineSession:
    """Return a new running session of a judge, logged with its estimate of tokens.

    Raises ``NotConfigured``, ``OtherConfiguration``, ``OtherLanguage``, ``MissingKey``,
    ``AlreadyRunning``, ``UnknownRater`` for a removed judge, and ``NothingToJudge``.
    """
    if endpoint is None:
        raise NotConfigured
    if not judges.fits(judge, endpoint):
        raise OtherConfiguration(f"{judge.model} ({judge.endpoint})")
    if judge.language != LANGUAGE:
        raise OtherLanguage(judge.rater.name)
    # Raises MissingKey now, rather than in the first call.
    mappings.filled(mapping(endpoint, judge.model, judge.temperature).headers)
    # Locked, since two sessions started at once would both run.
    events.lock(session, judge.rater)
    if running(session, judge.rater_id) is not None:
        raise AlreadyRunning(judge.rater.name)
    if judge.rater.removed_at is not None:
        raise UnknownRater(judge.rater.name)
    expected = token_estimates.estimate(session, judge, terms.most_calls)
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
    """End the running session, logged; verdicts of calls in flight are still stored."""
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
    """Return the state of a session: "interrupted" if it makes no calls any more."""
    if judging.ended_at is not None:
        return SessionState(judging.state)
    of_session = MachineCall.session_id == judging.id
    last = session.scalar(select(func.max(MachineCall.at)).where(of_session))
    is_quiet = now - (last or judging.started_at) > loop.LEASE_TIME
    if is_quiet and not calls_in_flight(session, judging, now):
        return SessionState.INTERRUPTED
    return SessionState.RUNNING


def calls_in_flight(session: Session, judging: MachineSession, now: datetime) -> list[MachineCall]:
    """Return the judge's calls that are in flight, of any session."""
    of_judge = MachineCall.rater_id == judging.rater_id
    in_flight = select(MachineCall).where(of_judge, loop.is_leased(MachineCall, now))
    return list(session.scalars(in_flight))


def end(
    judging: MachineSession, state: SessionState, now: datetime, why: str | None = None
) -> None:
    """End a session in this state; `why` is a code of ``SENTENCES``."""
    judging.state, judging.ended_at, judging.why = str(state), now, why


def running_judges(session: Session) -> list[tuple[int, int]]:
    """Return the machine judges with a running session, and how many calls each makes at once."""
    sessions = session.scalars(select(MachineSession).where(MachineSession.ended_at.is_(None)))
    return [(judging.rater_id, judging.at_once) for judging in sessions]


PATIENCE = Patience(seconds=60, tries=2, first_pause=1, longest_pause=5, longest_wait=30)


class JudgeCall(Struct, frozen=True):
    """A call about one judged item: the full prompt, and how many tries the cap on calls allows.

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
    """The calls of one machine judge, for its running session."""

    rater_id: int
    endpoint: JudgeEndpoint | None
    patience: Patience = PATIENCE

    def claim(self, session: Session, now: datetime) -> JudgeCall | Idle:
        """Return the next call, its tries reserved under the cap on calls; else why there is none.

        A session ends here when everything is judged, when the cap leaves no call, when the judge
        was removed, or when another model is configured than its own.
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
        # So few at once that no more can fail in a row than end the session.
        if len(in_flight) >= min(judging.at_once, MAX_FAILURES - judging.failed_in_a_row):
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
            requests = mapping(self.endpoint, call.model, call.temperature)
            patience = replace(self.patience, tries=min(call.tries, self.patience.tries))
            client = Chatbot(judges.address(self.endpoint), requests, patience)
            answer = client.ask(Message(message=call.prompt, session_id="", user_id="", method=""))
        except CallFailed as failure:
            # Stored in English: it is read by people of either language.
            with speaking(SOURCE_LANGUAGE):
                detail = " ".join(failure.values.values())
                if isinstance(failure, NotTheContract):
                    detail = gettext(failure.what, **failure.values)
            return CallOutcome(
                answered=False,
                detail=detail,
                code=failure.code,
                excerpt=failure.excerpt,
                tries=failure.tries,
            )
        except MissingKey as missing:
            variable = str(missing.args[0])
            return CallOutcome(tries=0, answered=False, code=MISSING_KEY, detail=variable)
        usage = answer.usage or {}
        outcome = CallOutcome(
            tries=answer.tries,
            prompt_tokens=_token_count(usage.get("prompt_tokens")),
            completion_tokens=_token_count(usage.get("completion_tokens")),
        )
        try:
            return replace(outcome, verdict=prompts.read(answer.text, call.scale))
        except UnreadableVerdict as wrong:
            return replace(outcome, code=str(wrong), excerpt=answer.text[:2000])

    def store(self, session: Session, call: JudgeCall, outcome: CallOutcome, now: datetime) -> None:
        """Store the outcome of a call: the verdict as an event of the judge, or the failure."""
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
        if judging.failed_in_a_row >= MAX_FAILURES and judging.ended_at is None:
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
    """Return the call about the next item, leased to the caller, or a state to end the session in.

    An item whose call failed in this session is not asked about again before the next.
    """
    of_judge = MachineCall.rater_id == judge.rater_id
    failed = and_(MachineCall.state == str(CallState.FAILED), MachineCall.session_id == judging.id)
    is_held = loop.is_leased(MachineCall, now)
    skipped = select(MachineCall.judged_item_id).where(of_judge, or_(failed, is_held))
    open_items = prompts.open_items(session, judge, JudgedItem.id.not_in(skipped))
    if not open_items:
        return SessionState.FINISHED
    item_id = open_items[0]
    ((_, prompt),) = prompts.prompts_of(session, judge, [item_id])
    key = {"rater_id": judge.rater_id, "judged_item_id": item_id}
    row = session.get(MachineCall, key) or MachineCall(**key, state="", attempt=0)
    if loop.is_abandoned(row, now):
        # Its process died, perhaps after the model was paid: it counts at its estimated cost.
        lost_session = session.get(MachineSession, row.session_id)
        if lost_session is not None:
            lost_session.calls += 1
            lost_session.uncounted += 1
            lost_session.prompt_tokens += Rates().prompt(row.prompt_characters)
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
    assert lease is not None  # the session is locked, and items of calls in flight were skipped
    scale = Scale.stored(judge.rater.study.scale)
    return JudgeCall(lease, judging.id, judge.model, judge.temperature, prompt, tries, scale)


def _tries_left(judging: MachineSession, in_flight: Sequence[MachineCall]) -> int:
    """Return how many tries the session's cap on calls leaves beside those of calls in flight."""
    if judging.most_calls is None:
        return PATIENCE.tries
    reserved = sum(call.reserved_calls for call in in_flight)
    return min(PATIENCE.tries, max(0, judging.most_calls - judging.calls - reserved))


def _token_count(number: object) -> int | None:
    """Return a number of tokens that an endpoint states, ``None`` if it cannot be one."""
    # By its exact type: True is an int to isinstance.
    return number if type(number) is int and 0 <= number < 10**9 else None


def _count(judging: MachineSession, call: JudgeCall, outcome: CallOutcome) -> None:
    """Add a call's tokens to its session; an answer without numbers counts the usual ones."""
    judging.calls += outcome.tries
    if not outcome.answered:
        return
    rates, prompt, completion = Rates(), outcome.prompt_tokens, outcome.completion_tokens
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


MAX_FAILED_SHOWN = 10


class SessionProgress(NamedTuple):
    """A session with its present state, and how many cards it judged."""

    line: MachineSession
    state: SessionState
    judged: int


class JudgeProgress(Struct, frozen=True):
    """The numbers of cards judged and open, the running session if any, and the earlier ones.

    ``n_failed`` cards had an answer that could not be used, ``failed`` are the latest: (call,
    position, title); the next session asks about them again. ``n_fenced`` of the judged cards had
    an answer in a code fence.
    """

    judged: int
    n_open: int
    n_failed: int
    n_fenced: int
    current: SessionProgress | None
    earlier: tuple[SessionProgress, ...]
    failed: tuple[tuple[MachineCall, int, str], ...]


def progress(session: Session, judge: MachineJudge, now: datetime) -> JudgeProgress:
    """Return the progress of a judge, its sessions, and the latest failed cards."""
    is_judged = MachineCall.state == str(CallState.JUDGED)
    of_session = MachineCall.session_id == MachineSession.id
    n_judged = select(func.count()).where(of_session, is_judged).scalar_subquery()
    of_rater = MachineSession.rater_id == judge.rater_id
    rows = session.execute(
        select(MachineSession, n_judged).where(of_rater).order_by(MachineSession.id.desc())
    )
    sessions = [SessionProgress(line, state_of(session, line, now), n) for line, n in rows]
    of_judge = MachineCall.rater_id == judge.rater_id
    is_failed = MachineCall.state == str(CallState.FAILED)

    def count(*conditions: ColumnElement[bool]) -> int:
        return session.scalar(select(func.count()).where(of_judge, *conditions)) or 0

    failed = session.execute(
        select(MachineCall, JudgedItem, Question.position)
        .join(JudgedItem, JudgedItem.id == MachineCall.judged_item_id)
        .join(Question, Question.id == JudgedItem.question_id)
        .where(of_judge, is_failed)
        .order_by(MachineCall.at.desc(), MachineCall.judged_item_id)
        .limit(MAX_FAILED_SHOWN)
    )
    return JudgeProgress(
        judged=count(is_judged),
        n_open=len(prompts.open_items(session, judge)),
        n_failed=count(is_failed),
        n_fenced=count(is_judged, MachineCall.error_code == FENCED),
        current=next((line for line in sessions if line.line.ended_at is None), None),
        earlier=tuple(line for line in sessions if line.line.ended_at is not None),
        failed=tuple(
            (call, position, from_row(item.card or {"title": ""}).title)
            for call, item, position in failed
        ),
    )
