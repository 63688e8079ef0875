"""A machine judge's sessions: started with an agreed budget, stopped, ended, reported.

A session is stored, so that it outlives a page, a thread and the process. The caller that asks
the model continues from the stored session (see ``calls``).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import asdict
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from webapp.chatbot import mappings
from webapp.config import JudgeEndpoint
from webapp.db.tables.machine_judges import MachineCall, MachineJudge, MachineSession
from webapp.failures import Conflict
from webapp.i18n import mark
from webapp.services.judging import events
from webapp.services.machine_judges import estimates, judges, prompts
from webapp.services.runs.reports import UnknownRater
from webapp.services.study import studies
from webapp.services.workers import leases

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
    """The judge of that name is at work already."""

    message = mark("%(name)s is at work already")
    remedy = mark("Stop it on its page first.")


class NothingToJudge(Conflict):
    """The judge of that name has a verdict on every card of the study."""

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
    """The state of the last call about a judged thing, once it is not on its way any more."""

    JUDGED = "judged"
    FAILED = "failed"


class Terms(Struct, frozen=True):
    """The terms the owner agreed to: prices for a million tokens, caps, calls at once."""

    prompt_price: float | None = None
    completion_price: float | None = None
    currency: str = ""
    most_calls: int | None = None
    most_tokens: int | None = None
    at_once: int = 2


def mapping(endpoint: JudgeEndpoint, model: str, temperature: float) -> mappings.Mapping:
    """Return how the endpoint is spoken to; its key comes from the environment."""
    bearer = f"Bearer {{env:{endpoint.key_variable}}}"
    return mappings.Mapping(
        send={"model": model, "temperature": temperature, "messages": "{messages}"},
        text="choices.0.message.content",
        usage="usage",
        headers={"Authorization": bearer} if endpoint.key_variable else {},
    )


def start(
    session: Session,
    judge: MachineJudge,
    endpoint: JudgeEndpoint | None,
    terms: Terms,
    now: datetime,
) -> MachineSession:
    """Return a new session of a judge, running, logged with its estimate.

    Raises ``NotConfigured``, ``OtherConfiguration``, ``MissingKey``, ``AlreadyRunning`` and
    ``NothingToJudge``.
    """
    fit = judges.need_fit(judge, endpoint)
    mappings.headers(mapping(fit, judge.model, judge.temperature))
    events.lock(session, judge.rater)
    if running(session, judge.rater_id) is not None:
        raise AlreadyRunning(judge.rater.name)
    if judge.rater.removed_at is not None:
        raise UnknownRater(judge.rater.name)
    expected = estimates.estimate(session, judge, terms.most_calls)
    if not expected.things:
        raise NothingToJudge(judge.rater.name)
    begun = MachineSession(
        rater_id=judge.rater_id,
        state=str(SessionState.RUNNING),
        started_at=now,
        things=expected.things,
        estimated_prompt_tokens=expected.prompt_tokens,
        estimated_completion_tokens=expected.completion_tokens,
        **asdict(terms),
    )
    session.add(begun)
    session.flush()
    told = f"{expected.things} cards, about {expected.tokens} tokens"
    _log(session, judge, "start machine judge", told, now)
    return begun


def stop(session: Session, judge: MachineJudge, now: datetime) -> None:
    """End the running session, logged; calls that are on their way are still kept."""
    found = running(session, judge.rater_id)
    if found is not None:
        end(found, SessionState.STOPPED, now)
        _log(session, judge, "stop machine judge", f"{found.calls} calls", now)


def running(session: Session, rater_id: int) -> MachineSession | None:
    """Return the judge's running session, locked against other changes."""
    return session.scalar(
        select(MachineSession)
        .where(MachineSession.rater_id == rater_id, MachineSession.ended_at.is_(None))
        .with_for_update()
        .execution_options(populate_existing=True)
    )


def state(session: Session, found: MachineSession, now: datetime) -> SessionState:
    """Return the state of a session; interrupted when no caller has worked on it for a while."""
    if found.ended_at is not None:
        return SessionState(found.state)
    last = session.scalar(
        select(func.max(MachineCall.at)).where(MachineCall.session_id == found.id)
    )
    quiet = now - (last or found.started_at) > leases.ALIVE
    is_asking = bool(asking(session, found, now))
    return SessionState.INTERRUPTED if quiet and not is_asking else SessionState.RUNNING


def asking(session: Session, found: MachineSession, now: datetime) -> list[MachineCall]:
    """Return the judge's calls that are on their way."""
    theirs = MachineCall.rater_id == found.rater_id
    wanted = select(MachineCall).where(theirs, leases.are_held(MachineCall, now))
    return list(session.scalars(wanted))


def end(found: MachineSession, became: SessionState, now: datetime, why: str | None = None) -> None:
    """End a session."""
    found.state, found.ended_at, found.why = str(became), now, why


def _log(session: Session, judge: MachineJudge, action: str, told: str, now: datetime) -> None:
    subject = studies.rater_subject(judge.rater)
    studies.log(session, judge.rater.study, action, subject, None, told, now)


def at_work(session: Session) -> list[tuple[int, int]]:
    """Return the machine judges with a running session, and how many calls each makes at once."""
    found = session.scalars(select(MachineSession).where(MachineSession.ended_at.is_(None)))
    return [(one.rater_id, one.at_once) for one in found]
