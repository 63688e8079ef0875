"""The raters of a study: their progress, their names, their removal and its cost."""

from __future__ import annotations

import secrets
from collections import defaultdict
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from msgspec import Struct
from sqlalchemy import ColumnElement, delete, func, or_, select, update
from sqlalchemy.orm import Session

from relevansi import failures
from relevansi.db.tables.base import belonging_to
from relevansi.db.tables.evaluations import CardDecision
from relevansi.db.tables.judging import Event, Judgment, QueryRating, Task
from relevansi.db.tables.people import Invitation, LogEntry, Rater, Token
from relevansi.db.tables.study import Study
from relevansi.failures import Conflict, Missing
from relevansi.i18n import mark
from relevansi.printable import look_alike
from relevansi.services.rating import tasks
from relevansi.services.runs.reports import UnknownRater
from relevansi.services.study import studies
from relevansi.services.workers import jobs

LONGEST_NAME = 200


class NameTaken(Conflict):
    message = mark("There is a rater of this name already")
    remedy = mark("Choose another name; a removed rater keeps theirs.")


class OwnerStays(Conflict):
    message = mark("The owner cannot be removed")
    remedy = failures.RELOAD


class RaterLine(Struct, frozen=True):
    """One rater or machine in a list, with the numbers of verdicts on items and rated answers."""

    id: int
    name: str
    is_owner: bool
    is_machine: bool
    judgments: int
    ratings: int
    last_seen: datetime | None
    removed_at: datetime | None


def lines(session: Session, study: Study) -> list[RaterLine]:
    """Return every rater and machine with their progress, the owner first, removed ones last."""
    count = select(func.count())
    judged = count.where(Judgment.rater_id == Rater.id, Judgment.verdict.is_not(None))
    rated = count.where(QueryRating.rater_id == Rater.id, QueryRating.quality.is_not(None))
    last_seen = select(func.max(Event.received_at)).where(Event.rater_id == Rater.id)
    progress = (rows.scalar_subquery() for rows in (judged, rated, last_seen))
    rows = session.execute(
        select(Rater.id, Rater.name, Rater.is_owner, Rater.is_machine, *progress, Rater.removed_at)
        .where(Rater.study_id == study.id)
        .order_by(Rater.removed_at.is_not(None), Rater.is_owner.desc(), Rater.id)
    )
    return [RaterLine(*row) for row in rows]


def find(session: Session, study: Study, rater_id: int) -> Rater:
    """Return a rater or machine of the study; raises ``UnknownRater``."""
    rater = session.get(Rater, rater_id)
    if rater is None or rater.study_id != study.id:
        raise UnknownRater(rater_id)
    return rater


def owner(session: Session, study: Study) -> Rater:
    """Return the owner of a study, who is always there."""
    owners = select(Rater).where(Rater.study_id == study.id, Rater.is_owner)
    return session.scalars(owners.order_by(Rater.id).limit(1)).one()


def find_named(session: Session, study: Study, name: str) -> Rater | None:
    """Return the rater or machine of that name, or of one that looks like it; else ``None``."""
    everybody = studies.people_and_machines(session, study)
    alike = [rater for rater in everybody if look_alike(rater.name, name)]
    return min(alike, key=lambda rater: rater.name.casefold() != name.casefold(), default=None)


def add(session: Session, study: Study, name: str, now: datetime) -> Rater:
    """Return a new rater, logged; raises ``NameTaken``."""
    if find_named(session, study, name) is not None:
        raise NameTaken(name)
    rater = studies.add_rater(session, study, name, now)
    studies.log(session, study, "add rater", studies.rater_subject(rater), None, name, now)
    return rater


def rename(session: Session, rater: Rater, name: str, now: datetime) -> None:
    """Give a rater another name, logged; raises ``NameTaken``."""
    holder = find_named(session, rater.study, name)
    if holder is not None and holder.id != rater.id:
        raise NameTaken(name)
    studies.rename_rater(session, rater, name, now)


def removal_cost(session: Session, rater: Rater) -> dict[str, int]:
    """Return how many judgments, ratings (grades and notes) and events (clicks) a rater has."""

    def count(table: type[Any], *where: ColumnElement[bool]) -> int:
        rows = select(func.count()).select_from(table).where(table.rater_id == rater.id, *where)
        return session.scalar(rows) or 0

    return {
        "judgments": count(Judgment, Judgment.verdict.is_not(None)),
        "ratings": count(QueryRating),
        "events": sum(map(count, (Event, CardDecision))),
    }


def remove(session: Session, rater: Rater, now: datetime) -> None:
    """End a rater's sign-in and judging; judgments stay, unfinished tasks are free. Logged."""
    _stop(session, rater, now)
    study = rater.study
    own_open = select(Task.id).where(Task.rater_id == rater.id, tasks.is_open(study))
    session.execute(delete(Task).where(Task.id.in_(session.scalars(own_open).all())))
    studies.log(session, study, "remove rater", studies.rater_subject(rater), None, None, now)


def restore(session: Session, rater: Rater, now: datetime) -> None:
    """Let a removed rater judge again, logged; their links and tokens stay withdrawn."""
    if rater.removed_at is not None:
        rater.removed_at = None
        subject = studies.rater_subject(rater)
        studies.log(session, rater.study, "restore rater", subject, None, None, now)


def delete_rater(session: Session, rater: Rater, now: datetime) -> None:
    """Delete a rater with all their data and the files made of it; the log names them no more.

    A line with the rater's number and counts stays in the log. Raises ``OwnerStays``.
    """
    study, subject = rater.study, studies.rater_subject(rater)
    about = (LogEntry.study_id == study.id) & (LogEntry.subject == subject)
    naming = about & LogEntry.action.in_(["add rater", "rename rater"])
    logged = session.execute(select(LogEntry.old, LogEntry.new).where(naming))
    names = {rater.name, *(name for row in logged for name in row if name)}
    jobs.forget(session, study, rater.id, names)
    cost = removal_cost(session, rater)
    _stop(session, rater, now)
    session.flush()
    for column in belonging_to(Rater.id):
        session.execute(delete(column.table).where(column == rater.id))
    quoted = [
        column.contains(f"({name})", autoescape=True)  # as settled disputes are logged
        for name in names
        for column in (LogEntry.old, LogEntry.new)
    ]
    holds = (LogEntry.study_id == study.id) & or_(LogEntry.subject == subject, *quoted)
    session.execute(update(LogEntry).where(holds).values(old=None, new=None))
    session.execute(delete(Rater).where(Rater.id == rater.id))
    gone = ", ".join(f"{count} {name}" for name, count in cost.items())
    studies.log(session, study, "delete rater", subject, gone, None, now)
    session.flush()
    # Objects of the session may still refer to the rater.
    session.expire_all()


def _stop(session: Session, rater: Rater, now: datetime) -> None:
    if rater.is_owner:
        raise OwnerStays
    rater.removed_at = rater.removed_at or now
    for way_in in (Invitation, Token):
        open_ways = (way_in.rater_id == rater.id) & way_in.withdrawn_at.is_(None)
        session.execute(update(way_in).where(open_ways).values(withdrawn_at=now))


TOKEN_BYTES = 24
DAYS, MOST_DAYS = 30, 365
OPEN, EXPIRED, WITHDRAWN = "open", "expired", "withdrawn"


class NoWayIn(Missing):
    """A link is not valid, for any reason: a stranger does not learn which."""

    message = mark("This link lets nobody in")
    remedy = mark(
        "It may be incomplete, too old or withdrawn. Ask the person who sent it for a new one."
    )


class OwnerIsNotInvited(Conflict):
    message = mark("The owner signs in with the password")
    remedy = mark("A link would open every page to its holder, so the owner gets none.")


class MachineIsNotInvited(Conflict):
    message = mark("Nobody can sign in as a machine")
    remedy = mark("It has no link. Its own page, under Study, is where it is started.")


class NewLink(Struct, frozen=True):
    """A link just made, and whose it is, "" for everybody's; ``token`` is in the link only."""

    token: str
    expires_at: datetime
    name: str = ""


class InvitationLine(Struct, frozen=True):
    """One invitation in a list; ``state`` is "open", "expired" or "withdrawn"."""

    id: int
    created_at: datetime
    expires_at: datetime
    state: str


def invite(
    session: Session, study: Study, name: str, now: datetime, *, days: int = DAYS
) -> NewLink:
    """Return an invitation for the rater of that name, who is added if new; see ``make``."""
    rater = find_named(session, study, name) or add(session, study, name, now)
    return make(session, rater, now, days=days)


def make(session: Session, rater: Rater, now: datetime, *, days: int = DAYS) -> NewLink:
    """Return a new invitation for a rater, who is no owner, machine or removed one; logged."""
    if rater.is_owner:
        raise OwnerIsNotInvited
    if rater.is_machine:
        raise MachineIsNotInvited(rater.name)
    if rater.removed_at is not None:
        raise NameTaken(rater.name)
    token = secrets.token_urlsafe(TOKEN_BYTES)
    expires_at = now + timedelta(days=days)
    times = {"created_at": now, "expires_at": expires_at}
    session.add(Invitation(rater_id=rater.id, token_hash=hashed(token), **times))
    studies.log(session, rater.study, "invite", studies.rater_subject(rater), None, None, now)
    return NewLink(token, expires_at, rater.name)


def accept(session: Session, study: Study, token: str, now: datetime) -> Invitation:
    """Return the invitation of a link, whose rater it lets in; raises ``NoWayIn``."""
    is_present = Rater.study_id == study.id, ~Rater.is_machine, Rater.removed_at.is_(None)
    by_token = select(Invitation).where(Invitation.token_hash == hashed(token))
    invitation = session.scalar(by_token.join(Rater).where(*is_present))
    if invitation is None or state_of(invitation.withdrawn_at, invitation.expires_at, now) != OPEN:
        raise NoWayIn
    return invitation


def withdraw(session: Session, study: Study, invitation_id: int, now: datetime) -> None:
    """Take an invitation back, logged; those who came in by it are out. Raises ``NoWayIn``."""
    invitation = session.get(Invitation, invitation_id)
    if invitation is None or invitation.rater.study_id != study.id:
        raise NoWayIn(invitation_id)
    if invitation.withdrawn_at is None:
        invitation.withdrawn_at = now
        subject = studies.rater_subject(invitation.rater)
        studies.log(session, study, "withdraw invitation", subject, None, None, now)


def invitation_lines(
    session: Session, study: Study, now: datetime
) -> dict[int, list[InvitationLine]]:
    """Return the invitations of each rater, by the rater's id, the newest first."""
    by_rater: dict[int, list[InvitationLine]] = defaultdict(list)
    rows = select(Invitation).join(Rater).where(Rater.study_id == study.id)
    newest_first = rows.order_by(Invitation.created_at.desc(), Invitation.id.desc())
    for row in session.scalars(newest_first):
        state = state_of(row.withdrawn_at, row.expires_at, now)
        by_rater[row.rater_id].append(InvitationLine(row.id, row.created_at, row.expires_at, state))
    return by_rater


def state_of(withdrawn_at: datetime | None, expires_at: datetime, now: datetime) -> str:
    """Return whether a link or token is ``OPEN``, ``EXPIRED`` or ``WITHDRAWN``."""
    if withdrawn_at is not None:
        return WITHDRAWN
    return EXPIRED if expires_at <= now else OPEN


def hashed(token: str) -> str:
    """Return a token as it is stored: it is random, so that SHA-256 suffices."""
    return sha256(token.encode(errors="replace")).hexdigest()
