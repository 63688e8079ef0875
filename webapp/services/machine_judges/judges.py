"""Machine judges: models with a prompt that judge as raters of their own, marked as machines.

A judge is never altered: another model or another prompt is another judge. Its verdicts
are in no figure of people, and no figure of its own may be chosen before its owner has seen how
far it agrees with people and released it (see ``beside_people``).
"""

from __future__ import annotations

from datetime import datetime
from hashlib import sha256

from msgspec import Struct
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from webapp.chatbot.client import UnusableAddress, full_address, public_address
from webapp.config import JudgeEndpoint
from webapp.db.tables.judging import Judgment
from webapp.db.tables.machine_judges import MachineJudge, MachineSession
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study
from webapp.failures import Conflict, Refused
from webapp.i18n import mark
from webapp.services.judging import live_metrics
from webapp.services.machine_judges import prompts
from webapp.services.people import raters
from webapp.services.runs.provenance import in_study
from webapp.services.runs.reports import UnknownRater
from webapp.services.study import studies

PATH = "/chat/completions"


class NotConfigured(Conflict):
    """No endpoint is configured that a machine could judge through."""

    message = mark("No endpoint for a machine judge is configured")
    remedy = mark("The page under Study, Machine judges, says how to configure one.")
    command_remedy = mark(
        "Set RELEVANSI_JUDGE_URL and RELEVANSI_JUDGE_MODEL (docs/machine-judge.md)."
    )


class UnusableEndpoint(Refused):
    """The configured endpoint is not an address; it may hold a password and is not repeated."""

    message = mark("RELEVANSI_JUDGE_URL is not an http or https address")
    remedy = mark("Correct it, then start Relevansi again.")
    command_remedy = mark("Correct it (docs/machine-judge.md).")


class OtherConfiguration(Conflict):
    """The configured endpoint or model is not the judge's; its own is the argument."""

    message = mark("This judge is %(name)s; another endpoint or model is configured")
    remedy = mark("Configure its own again, or make a new machine judge with the other model.")


class JudgeLine(Struct, frozen=True):
    """One machine judge in a list, with its current verdicts and whether it is at work."""

    id: int
    name: str
    model: str
    prompt_sha256: str
    created_at: datetime
    released_at: datetime | None
    removed_at: datetime | None
    judged: int
    is_running: bool


def address(endpoint: JudgeEndpoint) -> str:
    """Return where the endpoint is asked; raises ``UnusableEndpoint``."""
    try:
        return full_address(endpoint.url, PATH)
    except UnusableAddress:
        raise UnusableEndpoint from None


def make(
    session: Session,
    study: Study,
    name: str,
    endpoint: JudgeEndpoint,
    language: str,
    prompt: str,
    now: datetime,
) -> Rater:
    """Return a new machine judge with the configured model and this prompt, logged.

    Raises ``NameTaken``, ``UnfitPrompt`` and ``UnusableEndpoint``.
    """
    assert language in prompts.LANGUAGES
    prompt = prompt.replace("\r\n", "\n").strip()
    prompts.check(prompt)
    if raters.named(session, study, name) is not None:
        raise raters.NameTaken(name)
    digest = _digest(prompt)
    judge = MachineJudge(
        rater=Rater(study=study, name=name, is_machine=True, created_at=now),
        endpoint=public_address(address(endpoint)),
        model=endpoint.model,
        language=language,
        prompt=prompt,
        prompt_sha256=digest,
        temperature=0.0,
        created_at=now,
    )
    session.add(judge)
    session.flush()
    live_metrics.refresh(session, [judge.rater_id], in_study(study))
    subject = studies.rater_subject(judge.rater)
    version = f"{name}: {judge.model}, prompt {digest}"
    studies.log(session, study, "make machine judge", subject, None, version, now)
    return judge.rater


def find(session: Session, study: Study, rater_id: int) -> MachineJudge:
    """Return a machine judge of the study; raises ``UnknownRater``."""
    judge = session.get(MachineJudge, rater_id)
    if judge is None or judge.rater.study_id != study.id:
        raise UnknownRater(rater_id)
    return judge


def named(session: Session, study: Study, name: str) -> MachineJudge:
    """Return the machine judge of that name; raises ``UnknownRater``."""
    rater = raters.named(session, study, name)
    if rater is None or not rater.is_machine:
        raise UnknownRater(name)
    return find(session, study, rater.id)


def changed_prompts(session: Session) -> list[str]:
    """Return the machine judges whose prompt is not the one with the recorded SHA-256."""
    judges = session.execute(
        select(Rater.name, MachineJudge.prompt, MachineJudge.prompt_sha256)
        .join(Rater, Rater.id == MachineJudge.rater_id)
        .order_by(MachineJudge.rater_id)
    )
    return [name for name, prompt, stated in judges if _digest(prompt) != stated]


def lines(session: Session, study: Study) -> tuple[JudgeLine, ...]:
    """Return the study's machine judges, the newest first."""
    judged = (
        select(func.count())
        .where(Judgment.rater_id == MachineJudge.rater_id, Judgment.verdict.is_not(None))
        .scalar_subquery()
    )
    running = (
        select(func.count())
        .where(MachineSession.rater_id == MachineJudge.rater_id, MachineSession.ended_at.is_(None))
        .scalar_subquery()
    )
    rows = session.execute(
        select(MachineJudge, Rater, judged, running)
        .join(Rater, Rater.id == MachineJudge.rater_id)
        .where(Rater.study_id == study.id)
        .order_by(MachineJudge.rater_id.desc())
    )
    return tuple(
        JudgeLine(
            id=rater.id,
            name=rater.name,
            model=judge.model,
            prompt_sha256=judge.prompt_sha256,
            created_at=judge.created_at,
            released_at=judge.released_at,
            removed_at=rater.removed_at,
            judged=count,
            is_running=bool(open_sessions),
        )
        for judge, rater, count, open_sessions in rows
    )


def fits(judge: MachineJudge, endpoint: JudgeEndpoint) -> bool:
    """Whether the configured endpoint and model are those that the judge was made with."""
    return (public_address(address(endpoint)), endpoint.model) == (judge.endpoint, judge.model)


def need_fit(judge: MachineJudge, endpoint: JudgeEndpoint | None) -> JudgeEndpoint:
    """Return the endpoint; raises ``NotConfigured`` and ``OtherConfiguration``."""
    if endpoint is None:
        raise NotConfigured
    if not fits(judge, endpoint):
        raise OtherConfiguration(f"{judge.model} ({judge.endpoint})")
    return endpoint


def _digest(prompt: str) -> str:
    return sha256(prompt.encode()).hexdigest()
