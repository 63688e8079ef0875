"""Disputed judged items and the verdict that settles each, by whom and why.

The most disputed come first: the closest vote (the smallest margin, as a share of the
decided votes), then the one with more votes, then the order of the questions.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime
from fractions import Fraction

from msgspec import Struct
from sqlalchemy import Row, func, select
from sqlalchemy.orm import Session

from relevansi import failures
from relevansi.db.tables.judging import Adjudication, JudgedItem, Judgment, QueryRating
from relevansi.db.tables.people import LogEntry, Rater
from relevansi.db.tables.runs import Query
from relevansi.db.tables.study import Question, Study
from relevansi.failures import Conflict, Missing, Refused
from relevansi.i18n import mark
from relevansi.kinds import from_row
from relevansi.records import EmptyOutcome, Item, Relevance, Scale
from relevansi.services.judging import verdicts
from relevansi.services.judging.events import NotToJudge
from relevansi.services.rating import pages, pool
from relevansi.services.rating.pages import EarlierTurn
from relevansi.services.rating.pool import Purpose
from relevansi.services.runs import reports
from relevansi.services.runs.reports import LabelCounts, Votes, in_study
from relevansi.services.study import studies

MOST_REASON = 2_000
NAMES_SHOWN = "show rater names"


class UnknownThing(Missing):
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
    be followed; ``name`` is ``None`` while names are hidden.
    """

    number: int
    name: str | None
    verdict: str
    notes: tuple[str, ...]


class Dispute(Struct, frozen=True):
    """One judged item to settle; ``card`` is its fullest version, ``None`` for emptiness.

    ``tally`` counts each verdict, the most frequent first. ``disputed`` is false where raters have
    come to agree since it was settled. ``settlement`` has its verdict, reason, by (a name) and at.
    """

    thing_id: int
    position: int
    question: str
    category: str
    earlier: tuple[EarlierTurn, ...]
    card: Item | None
    votes: tuple[Vote, ...]
    tally: Mapping[str, int]
    disputed: bool
    settlement: Row[int, str, str, datetime, str] | None


class Docket(Struct, frozen=True):
    """The disputes, open and settled, in order, and the sources of the final labels."""

    disputes: tuple[Dispute, ...]
    counts: LabelCounts
    names_shown: bool

    @property
    def open(self) -> tuple[Dispute, ...]:
        return self.listed(settled=False)

    @property
    def settled(self) -> tuple[Dispute, ...]:
        return self.listed(settled=True)

    def listed(self, *, settled: bool, after: int | None = None) -> tuple[Dispute, ...]:
        """Return the open or the settled disputes behind the judged item `after`, else all.

        A settled dispute keeps its place, so no reader who settles one after the other skips any.
        """
        item_ids = [dispute.thing_id for dispute in self.disputes]
        begin = item_ids.index(after) + 1 if after in item_ids else 0
        matching, behind = (
            tuple(dispute for dispute in part if (dispute.settlement is not None) is settled)
            for part in (self.disputes, self.disputes[begin:])
        )
        return behind or matching


def docket(session: Session, study: Study) -> Docket:
    """Return every dispute of the study, the most disputed first, and the settled ones."""
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
    cast_on_listed = {
        item_id: by_rater
        for item_id, by_rater in cast.items()
        if item_id in settled or reports.is_disputed(by_rater.values())
    }
    is_shown = names_shown(session, study)
    names = {rater.id: rater.name for rater in studies.raters(session, study)}
    notes = _notes(session, study)

    def votes(item: JudgedItem, by_rater: Votes) -> Iterator[Vote]:
        drawn = {
            rater: pool.draw(study.order_secret, Purpose.VOTES, item.id, rater)
            for rater in by_rater
        }
        ordered = sorted(by_rater, key=None if is_shown else drawn.__getitem__)
        for number, rater in enumerate(ordered, start=1):
            notes_on_question = notes.get((item.question_id, rater), ())
            texts = (text for run_id, text in notes_on_question if item.run_id in {None, run_id})
            name = names[rater] if is_shown else None
            yield Vote(number, name, by_rater[rater], tuple(dict.fromkeys(texts)))

    every = select(JudgedItem, Question).join(Question, Question.id == JudgedItem.question_id)
    rows = session.execute(every.where(JudgedItem.id.in_(list(cast_on_listed))))
    disputes = [
        Dispute(
            thing_id=item.id,
            position=question.position,
            question=question.text,
            category=question.category,
            earlier=pages.of_question(session, item.run_id, item.question_id),
            card=None if item.card is None else from_row(item.card),
            votes=tuple(votes(item, cast_on_listed[item.id])),
            tally=dict(Counter(sorted(cast_on_listed[item.id].values())).most_common()),
            disputed=reports.is_disputed(cast_on_listed[item.id].values()),
            settlement=settled.get(item.id),
        )
        for item, question in rows
    ]
    counts = reports.label_counts(cast, settled, verdicts.merging_of(study))
    return Docket(tuple(sorted(disputes, key=_urgency)), counts, is_shown)


def _urgency(dispute: Dispute) -> tuple[Fraction, int, int, int]:
    verdicts_cast = [vote.verdict for vote in dispute.votes]
    decided = reports.decided(verdicts_cast).total()
    return reports.margin(verdicts_cast), -decided, dispute.position, dispute.thing_id


def _notes(session: Session, study: Study) -> Mapping[tuple[int, int], list[tuple[str, str]]]:
    rows = session.execute(
        select(Query.question_id, QueryRating.rater_id, Query.run_id, QueryRating.notes)
        .join(Query, Query.id == QueryRating.query_key)
        .where(in_study(study), QueryRating.notes != "")
        .order_by(Query.id)
    )
    notes: dict[tuple[int, int], list[tuple[str, str]]] = defaultdict(list)
    for question_id, rater_id, run_id, text in rows:
        notes[question_id, rater_id].append((run_id, text))
    return notes


def open_disputes(session: Session, study: Study) -> int:
    disputed = (
        select(Judgment.judged_item_id)
        .where(
            Judgment.rater_id.in_([rater.id for rater in studies.raters(session, study)]),
            Judgment.verdict != str(Relevance.UNSURE),
            Judgment.judged_item_id.in_(verdicts.judged_items(in_study(study))),
            Judgment.judged_item_id.not_in(select(Adjudication.judged_item_id)),
        )
        .group_by(Judgment.judged_item_id)
        .having(func.min(Judgment.verdict) != func.max(Judgment.verdict))
    )
    return session.scalar(select(func.count()).select_from(disputed.subquery())) or 0


def adjudicate(
    session: Session, rater: Rater, thing_id: int, verdict: str, reason: str, now: datetime
) -> None:
    """Settle a dispute, or settle it anew; the log keeps who, when and the earlier verdict."""
    item, before = _lock_dispute(session, rater.study, thing_id)
    graded = Scale.stored(rater.study.scale).verdicts
    fit = list(EmptyOutcome) if item.item_id is None else graded
    if verdict not in fit:
        raise NotToJudge(verdict)
    if not reason.strip():
        raise ReasonMissing
    old = None if before is None else _settlement_text(session, before)
    settled = before or Adjudication(judged_item_id=thing_id)
    settled.verdict, settled.reason = verdict, reason.strip()[:MOST_REASON]
    settled.rater_id, settled.at = rater.id, now
    session.add(settled)
    subject = _log_subject(session, item)
    studies.log(
        session, rater.study, "adjudicate", subject, old, _settlement_text(session, settled), now
    )


def withdraw(session: Session, rater: Rater, thing_id: int, now: datetime) -> None:
    """Take a settlement back, logged with the person; without a settlement nothing changes."""
    item, before = _lock_dispute(session, rater.study, thing_id)
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
    session: Session, study: Study, thing_id: int
) -> tuple[JudgedItem, Adjudication | None]:
    item = session.scalar(select(JudgedItem).where(JudgedItem.id == thing_id).with_for_update())
    of_question = Query.question_id == (item.question_id if item else None)
    cast = reports.votes(session, study, in_study(study) & of_question).get(thing_id)
    if item is None or cast is None:
        raise UnknownThing(thing_id)
    before = session.get(Adjudication, thing_id)
    if before is None and not reports.is_disputed(cast.values()):
        raise NotDisputed(thing_id)
    return item, before


def _log_subject(session: Session, item: JudgedItem) -> str:
    position = session.get_one(Question, item.question_id).position
    if item.item is None:
        return f"{position} emptiness"
    return f"{position} {item.item.identity}/{item.content}"


def _settlement_text(session: Session, settled: Adjudication) -> str:
    by = session.get_one(Rater, settled.rater_id).name
    return f"{settled.verdict} ({by}): {settled.reason}"
