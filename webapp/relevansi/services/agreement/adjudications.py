"""Disputed judged items and the verdict that settles each, by whom and why.

Ties come first, since they leave a label open: in the order of the questions. Behind them come
those with a majority, the closest vote (the smallest margin, as a share of the decided votes)
first, then the one with more votes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime
from fractions import Fraction

from msgspec import Struct
from sqlalchemy import Row, select
from sqlalchemy.orm import Session

from relevansi import failures
from relevansi.db.tables.judging import Adjudication, JudgedItem, Judgment, QueryRating
from relevansi.db.tables.people import LogEntry, Rater
from relevansi.db.tables.runs import Query
from relevansi.db.tables.study import Question, Study
from relevansi.failures import Conflict, Missing, Refused
from relevansi.i18n import mark
from relevansi.kinds import from_row
from relevansi.metrics.judging.empty_answers import EmptyAnswer
from relevansi.records import EmptyOutcome, Item, Scale
from relevansi.services.judging import reasons, verdicts
from relevansi.services.judging.events import NotToJudge
from relevansi.services.rating import pages, pool
from relevansi.services.rating.pages import EarlierTurn
from relevansi.services.rating.pool import Purpose
from relevansi.services.runs import reports
from relevansi.services.runs.reports import Votes, in_study
from relevansi.services.study import studies

MAX_REASON = 2_000
NAMES_SHOWN = "show rater names"


class UnknownItem(Missing):
    message = mark("This study shows no such card or empty list")
    remedy = failures.SEE_RUNS


class NotDisputed(Conflict):
    message = mark("The raters do not disagree here")
    remedy = mark("Somebody changed their verdict meanwhile. Reload the page.")


class ReasonMissing(Refused):
    message = mark("A reason is missing")
    remedy = mark("Write one, then send the form again.")


class Vote(Struct, frozen=True):
    """One rater's verdict, and their notes on the question's answers.

    ``number`` (from 1) is drawn anew for every judged item, so that no rater's habits can
    be followed; ``name`` is ``None`` while names are hidden. ``reason`` is why the rater called a
    card not relevant. Of an empty list, ``looked_up`` is what the rater's searches before the
    verdict gave; ``None`` on a card.
    """

    number: int
    name: str | None
    verdict: str
    notes: tuple[str, ...]
    reason: str | None = None
    looked_up: EmptyAnswer | None = None


class Dispute(Struct, frozen=True):
    """One judged item to settle; ``card`` is its fullest version, ``None`` for emptiness.

    ``cast`` are the raters' verdicts. A tie has no label until it is settled; otherwise ``label``
    is that of the raters. ``disputed`` is false where they have come to agree since it was settled.
    ``settlement`` has its verdict, reason, by (a name) and at.
    """

    item_id: int
    question_id: int
    run_id: str | None
    position: int
    question: str
    category: str
    card: Item | None
    cast: Votes
    label: str | None
    disputed: bool
    settlement: Row[int, str, str, datetime, str] | None

    @property
    def is_tie(self) -> bool:
        return self.label is None


class Docket(Struct, frozen=True):
    """The disputes, settled ones too, each in its place: who settles one loses no other.

    ``n_items`` are all judged items of the study.
    """

    ties: tuple[Dispute, ...]
    majorities: tuple[Dispute, ...]
    n_items: int


def docket(session: Session, study: Study) -> Docket:
    """Return every dispute of the study, ties apart from those with a majority."""
    shown_items = select(JudgedItem.id).where(pool.is_shown(study.id, study.pool_depth))
    pooled = set(session.scalars(shown_items))
    cast = {
        item_id: by_rater
        for item_id, by_rater in reports.votes(session, study, in_study(study)).items()
        if by_rater or item_id in pooled
    }
    columns = (Adjudication.verdict, Adjudication.reason, Adjudication.at, Rater.name.label("by"))
    settlements = session.execute(select(Adjudication.judged_item_id, *columns).join(Rater))
    settled = {row.judged_item_id: row for row in settlements}
    listed = [
        item_id
        for item_id, by_rater in cast.items()
        if item_id in settled or reports.is_disputed(by_rater.values())
    ]
    merging = verdicts.merging_of(study)
    rows = session.execute(
        select(JudgedItem, Question)
        .join(Question, Question.id == JudgedItem.question_id)
        .where(JudgedItem.id.in_(listed))
    )
    disputes = [
        Dispute(
            item_id=item.id,
            question_id=item.question_id,
            run_id=item.run_id,
            position=question.position,
            question=question.text,
            category=question.category,
            card=None if item.card is None else from_row(item.card),
            cast=cast[item.id],
            label=merging(tuple(cast[item.id].values())),
            disputed=reports.is_disputed(cast[item.id].values()),
            settlement=settled.get(item.id),
        )
        for item, question in rows
    ]
    disputes.sort(key=_urgency)
    ties = tuple(dispute for dispute in disputes if dispute.is_tie)
    majorities = tuple(dispute for dispute in disputes if not dispute.is_tie)
    return Docket(ties, majorities, n_items=len(cast))


def _urgency(dispute: Dispute) -> tuple[Fraction, int, int, int]:
    place = (dispute.position, dispute.item_id)
    if dispute.is_tie:
        return Fraction(0), 0, *place
    cast = dispute.cast.values()
    return reports.margin(cast), -reports.decided(cast).total(), *place


def votes(session: Session, study: Study, dispute: Dispute) -> tuple[Vote, ...]:
    """Return the votes on a judged item: in the raters' order with names, else in a drawn one."""
    is_shown = names_shown(session, study)
    raters = {rater.id: rater for rater in studies.raters(session, study)}
    notes = _notes(session, dispute)
    of_item = Judgment.judged_item_id == dispute.item_id
    stored = dict(session.execute(select(Judgment.rater_id, Judgment.reason).where(of_item)).all())
    scale = Scale.stored(study.scale)

    def drawn(rater_id: int) -> bytes:
        return pool.draw(study.order_secret, Purpose.VOTES, dispute.item_id, rater_id)

    in_order = sorted(dispute.cast, key=None if is_shown else drawn)
    return tuple(
        Vote(
            number=number,
            name=raters[rater_id].name if is_shown else None,
            verdict=dispute.cast[rater_id],
            notes=tuple(dict.fromkeys(notes.get(rater_id, ()))),
            reason=reasons.in_force(stored.get(rater_id), dispute.cast[rater_id], scale),
            looked_up=_looked_up(session, study, dispute, raters[rater_id]),
        )
        for number, rater_id in enumerate(in_order, start=1)
    )


def _looked_up(
    session: Session, study: Study, dispute: Dispute, rater: Rater
) -> EmptyAnswer | None:
    """Return what a rater looked up before their verdict on an empty list."""
    if dispute.card is not None:
        return None
    emptiness = select(JudgedItem.id).where(JudgedItem.id == dispute.item_id)
    rule = reports.of_rater(rater)
    return reports.looked_up(session, study, emptiness, rule).get(dispute.item_id)


def conversation(session: Session, dispute: Dispute) -> tuple[EarlierTurn, ...]:
    """Return the turns before the question of a dispute, where it depends on them."""
    return pages.of_question(session, dispute.run_id, dispute.question_id)


def _notes(session: Session, dispute: Dispute) -> Mapping[int, list[str]]:
    rows = session.execute(
        select(QueryRating.rater_id, QueryRating.notes)
        .join(Query, Query.id == QueryRating.query_key)
        .where(
            Query.question_id == dispute.question_id,
            Query.run_id == (dispute.run_id or Query.run_id),
            QueryRating.notes != "",
        )
        .order_by(Query.id)
    )
    notes: dict[int, list[str]] = defaultdict(list)
    for rater_id, text in rows:
        notes[rater_id].append(text)
    return notes


def adjudicate(
    session: Session, rater: Rater, item_id: int, verdict: str, reason: str | None, now: datetime
) -> str | None:
    """Settle a dispute, or settle it anew, and return the verdict by which it was settled before.

    The log keeps who, when and the earlier verdict. ``None`` keeps the reason that is stored; a
    study can ask for one.
    """
    item, before = _lock_dispute(session, rater.study, item_id)
    graded = Scale.stored(rater.study.scale).verdicts
    fit = list(EmptyOutcome) if item.item_id is None else graded
    if verdict not in fit:
        raise NotToJudge(verdict)
    old = verdict_before = None
    if before is not None:
        old, verdict_before = _settlement_text(session, before), before.verdict
        reason = before.reason if reason is None else reason
    reason = reason or ""
    if rater.study.reason_required and not reason.strip():
        raise ReasonMissing
    settled = before or Adjudication(judged_item_id=item_id)
    settled.verdict, settled.reason = verdict, reason.strip()[:MAX_REASON]
    settled.rater_id, settled.at = rater.id, now
    session.add(settled)
    subject, new = _log_subject(session, item), _settlement_text(session, settled)
    studies.log(session, rater.study, "adjudicate", subject, old, new, now)
    return verdict_before


def withdraw(session: Session, rater: Rater, item_id: int, now: datetime) -> None:
    """Take a settlement back, logged with the person; without a settlement nothing changes."""
    item, before = _lock_dispute(session, rater.study, item_id)
    if before is not None:
        old, subject = _settlement_text(session, before), _log_subject(session, item)
        by = f"({rater.name})"
        studies.log(session, rater.study, "withdraw adjudication", subject, old, by, now)
        session.delete(before)


def names_shown(session: Session, study: Study) -> bool:
    """Whether the adjudicator sees the raters' names: the log's last word on it."""
    last = session.scalar(
        select(LogEntry.new)
        .where(LogEntry.study_id == study.id, LogEntry.action == NAMES_SHOWN)
        .order_by(LogEntry.id.desc())
        .limit(1)
    )
    return last == str(True)


def show_names(session: Session, rater: Rater, *, is_shown: bool, now: datetime) -> None:
    """Show or hide the raters' names; logged, since it could sway who settles."""
    before = names_shown(session, rater.study)
    if is_shown != before:
        old, new = str(before), str(is_shown)
        studies.log(session, rater.study, NAMES_SHOWN, rater.name, old, new, now)


def _lock_dispute(
    session: Session, study: Study, item_id: int
) -> tuple[JudgedItem, Adjudication | None]:
    # Two adjudicators of one item queue: the second sees what the first settled.
    item = session.scalar(select(JudgedItem).where(JudgedItem.id == item_id).with_for_update())
    of_question = Query.question_id == (item.question_id if item else None)
    cast = reports.votes(session, study, in_study(study) & of_question).get(item_id)
    if item is None or cast is None:
        raise UnknownItem(item_id)
    before = session.get(Adjudication, item_id)
    if before is None and not reports.is_disputed(cast.values()):
        raise NotDisputed(item_id)
    return item, before


def _log_subject(session: Session, item: JudgedItem) -> str:
    position = session.get_one(Question, item.question_id).position
    if item.item is None:
        return f"{position} emptiness"
    return f"{position} {item.item.identity}/{item.content}"


def _settlement_text(session: Session, settled: Adjudication) -> str:
    by = session.get_one(Rater, settled.rater_id).name
    return f"{settled.verdict} ({by}): {settled.reason}"
