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
from relevansi.failures import Conflict, Missing
from relevansi.i18n import mark
from relevansi.kinds import from_row
from relevansi.metrics.judging.empty_answers import EmptyAnswer
from relevansi.records import EmptyOutcome, Item, Scale
from relevansi.services.judging import reasons, verdicts
from relevansi.services.judging.answer_ratings import NotToJudge
from relevansi.services.judging.reasons import ReasonMissing
from relevansi.services.rating import conversations, pool
from relevansi.services.rating.conversations import EarlierTurn
from relevansi.services.rating.pool import Purpose
from relevansi.services.runs import reports
from relevansi.services.runs.reports import in_study
from relevansi.services.runs.votes import Votes, decided_counts, is_disputed, margin, votes_by_item
from relevansi.services.study import studies

MAX_REASON = 2_000  # characters
NAMES_SHOWN = "show rater names"


class UnknownItem(Missing):
    message = mark("This study shows no such card or empty list")
    remedy = failures.SEE_RUNS


class NotDisputed(Conflict):
    message = mark("The raters do not disagree here")
    remedy = mark("Somebody changed their verdict meanwhile. Reload the page.")


class Vote(Struct, frozen=True):
    """One rater's verdict, and their notes on the question's answers.

    ``number`` (from 1) is drawn anew for every judged item, so that no rater can be recognised
    from one item to the next; ``name`` is ``None`` while names are hidden. ``reason`` is why the
    rater called a card not relevant. Of an empty list, ``looked_up`` is what the rater's searches
    before the verdict found; ``None`` on a card.
    """

    number: int
    name: str | None
    verdict: str
    notes: tuple[str, ...]
    reason: str | None = None
    looked_up: EmptyAnswer | None = None


class Dispute(Struct, frozen=True):
    """One judged item to settle.

    ``cast`` are the raters' verdicts, ``label`` is their merged one, ``None`` for a tie.
    ``settlement`` has its verdict, reason, by (a name) and at.
    """

    item: JudgedItem
    question: Question
    cast: Votes
    label: str | None
    settlement: Row[int, str, str, datetime, str] | None

    @property
    def item_id(self) -> int:
        return self.item.id

    @property
    def card(self) -> Item | None:
        """The card in its fullest version, ``None`` for an empty list."""
        return None if self.item.card is None else from_row(self.item.card)

    @property
    def is_disputed(self) -> bool:
        """Whether the raters have not come to agree since it was settled."""
        return is_disputed(self.cast.values())

    @property
    def is_tie(self) -> bool:
        return self.label is None


class Docket(Struct, frozen=True):
    """The disputes of a study, in the order of the module's docstring; settled ones keep theirs.

    ``n_items`` counts all judged items of the study, ``n_compared`` those that two raters judged.
    """

    ties: tuple[Dispute, ...]
    majorities: tuple[Dispute, ...]
    n_items: int
    n_compared: int


def docket(session: Session, study: Study) -> Docket:
    """Return every dispute of the study, ties apart from those with a majority."""
    shown_items = select(JudgedItem.id).where(pool.is_shown(study.id, study.pool_depth))
    pooled = set(session.scalars(shown_items))
    all_votes = votes_by_item(session, study, in_study(study))
    cast = {key: by_rater for key, by_rater in all_votes.items() if by_rater or key in pooled}
    columns = (Adjudication.verdict, Adjudication.reason, Adjudication.at, Rater.name.label("by"))
    settlements = session.execute(select(Adjudication.judged_item_id, *columns).join(Rater))
    settled = {row.judged_item_id: row for row in settlements}
    listed = [
        item_id
        for item_id, by_rater in cast.items()
        if item_id in settled or is_disputed(by_rater.values())
    ]
    merging = verdicts.merging_of(study)
    rows = session.execute(
        select(JudgedItem, Question)
        .join(Question, Question.id == JudgedItem.question_id)
        .where(JudgedItem.id.in_(listed))
    )
    disputes = [
        Dispute(
            item=item,
            question=question,
            cast=cast[item.id],
            label=merging(tuple(cast[item.id].values())),
            settlement=settled.get(item.id),
        )
        for item, question in rows
    ]
    disputes.sort(key=_sort_key)
    ties = tuple(dispute for dispute in disputes if dispute.is_tie)
    majorities = tuple(dispute for dispute in disputes if not dispute.is_tie)
    n_compared = sum(len(by_rater) > 1 for by_rater in cast.values())
    return Docket(ties, majorities, n_items=len(cast), n_compared=n_compared)


def _sort_key(dispute: Dispute) -> tuple[Fraction, int, int, int]:
    place, cast = (dispute.question.position, dispute.item_id), dispute.cast.values()
    if dispute.is_tie:
        return Fraction(0), 0, *place
    return margin(cast), -decided_counts(cast).total(), *place


def votes(session: Session, study: Study, dispute: Dispute) -> tuple[Vote, ...]:
    """Return the votes on a judged item: in the raters' order with names, else in a random one."""
    is_shown = names_shown(session, study)
    raters = {rater.id: rater for rater in studies.raters(session, study)}
    notes = _notes(session, dispute)
    of_item = Judgment.judged_item_id == dispute.item_id
    stored = dict(session.execute(select(Judgment.rater_id, Judgment.reason).where(of_item)).all())
    scale = Scale.stored(study.scale)

    def random_place(rater_id: int) -> bytes:
        # From the study's secret: the same on every visit, and nobody can work it out.
        return pool.draw(study.order_secret, Purpose.VOTES, dispute.item_id, rater_id)

    in_order = sorted(dispute.cast, key=None if is_shown else random_place)
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
    return reports.empty_answers_of_items(session, study, emptiness, rule).get(dispute.item_id)


def conversation(session: Session, dispute: Dispute) -> tuple[EarlierTurn, ...]:
    """Return the turns before the question of a dispute, if it depends on its conversation."""
    return conversations.of_question(session, dispute.item.run_id, dispute.question.id)


def _notes(session: Session, dispute: Dispute) -> Mapping[int, list[str]]:
    rows = session.execute(
        select(QueryRating.rater_id, QueryRating.notes)
        .join(Query, Query.id == QueryRating.query_key)
        .where(
            Query.question_id == dispute.question.id,
            Query.run_id == (dispute.item.run_id or Query.run_id),
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
    """Store the verdict that settles a dispute, and return the one that settled it before.

    The log has who, when and the earlier verdict. A `reason` of ``None`` leaves the stored one.
    Raises ``UnknownItem``, ``NotDisputed``, ``NotToJudge`` for a verdict that does not fit the
    item, and ``ReasonMissing`` where the study requires one.
    """
    item, earlier = _lock_dispute(session, rater.study, item_id)
    on_scale = Scale.stored(rater.study.scale).verdicts
    if verdict not in (list(EmptyOutcome) if item.item_id is None else on_scale):
        raise NotToJudge(verdict)
    earlier_text = earlier_verdict = None
    if earlier is not None:
        earlier_text, earlier_verdict = _settlement_text(session, earlier), earlier.verdict
        reason = earlier.reason if reason is None else reason
    reason = reason or ""
    if rater.study.reason_required and not reason.strip():
        raise ReasonMissing
    settlement = earlier or Adjudication(judged_item_id=item_id)
    settlement.verdict, settlement.reason = verdict, reason.strip()[:MAX_REASON]
    settlement.rater_id, settlement.at = rater.id, now
    session.add(settlement)
    subject, text = _log_subject(session, item), _settlement_text(session, settlement)
    studies.log(session, rater.study, "adjudicate", subject, earlier_text, text, now)
    return earlier_verdict


def withdraw(session: Session, rater: Rater, item_id: int, now: datetime) -> None:
    """Delete a settlement, logged with the person; without a settlement nothing changes."""
    item, settlement = _lock_dispute(session, rater.study, item_id)
    if settlement is not None:
        text, subject = _settlement_text(session, settlement), _log_subject(session, item)
        by = f"({rater.name})"
        studies.log(session, rater.study, "withdraw adjudication", subject, text, by, now)
        session.delete(settlement)


def names_shown(session: Session, study: Study) -> bool:
    """Whether the adjudicator sees the raters' names, as the log last says."""
    newest = session.scalar(
        select(LogEntry.new)
        .where(LogEntry.study_id == study.id, LogEntry.action == NAMES_SHOWN)
        .order_by(LogEntry.id.desc())
        .limit(1)
    )
    return newest == str(True)


def show_names(session: Session, rater: Rater, *, is_shown: bool, now: datetime) -> None:
    """Show or hide the raters' names; logged, since names could sway the adjudicator."""
    before = names_shown(session, rater.study)
    if is_shown != before:
        old, new = str(before), str(is_shown)
        studies.log(session, rater.study, NAMES_SHOWN, rater.name, old, new, now)


def _lock_dispute(
    session: Session, study: Study, item_id: int
) -> tuple[JudgedItem, Adjudication | None]:
    """Return the judged item, locked, and its settlement if it has one.

    Raises ``UnknownItem`` and ``NotDisputed``.
    """
    # Locked, so that of two adjudicators of one item the second sees what the first settled.
    item = session.scalar(select(JudgedItem).where(JudgedItem.id == item_id).with_for_update())
    of_question = Query.question_id == (item.question_id if item else None)
    cast = votes_by_item(session, study, in_study(study) & of_question).get(item_id)
    if item is None or cast is None:
        raise UnknownItem(item_id)
    settlement = session.get(Adjudication, item_id)
    if settlement is None and not is_disputed(cast.values()):
        raise NotDisputed(item_id)
    return item, settlement


def _log_subject(session: Session, item: JudgedItem) -> str:
    position = session.get_one(Question, item.question_id).position
    if item.item is None:
        return f"{position} emptiness"
    return f"{position} {item.item.identity}/{item.content}"


def _settlement_text(session: Session, settlement: Adjudication) -> str:
    by = session.get_one(Rater, settlement.rater_id).name
    return f"{settlement.verdict} ({by}): {settlement.reason}"
