"""How far a machine judge agrees with people, and the owner's release of its figures.

People's verdict on a card is the adjudicated one, else the majority of all raters. The
machine never is one of them. "Cannot tell" is a verdict in the table and missing in every
coefficient, as between people.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime

from msgspec import Struct
from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp.db.tables.judging import JudgedThing
from webapp.db.tables.machine_judges import MachineCall, MachineJudge
from webapp.db.tables.study import Question, Study
from webapp.failures import Conflict
from webapp.i18n import mark
from webapp.metrics.agreement.agreement import Agreement, Bootstrap, agreement
from webapp.records import Card, Relevance
from webapp.services.judging import verdicts
from webapp.services.judging.judged_things import from_row
from webapp.services.runs.provenance import in_study
from webapp.services.study import studies

FEWEST_SHARED = 20
"""The fewest cards both must have decided before the machine's figures may be used."""
INTERVALS = Bootstrap(resamples=1000)
NO_INTERVALS = Bootstrap(resamples=0)
_LABELS: Mapping[Relevance, int | None] = {
    Relevance.RELEVANT: 1,
    Relevance.NOT_RELEVANT: 0,
    Relevance.UNSURE: None,
}


class TooLittleShared(Conflict):
    """Machine and people decided too few of the same cards; how many is the argument."""

    message = mark("Machine and people have decided too few of the same cards")
    remedy = mark("Nothing was changed. Its page of agreement says how many are needed.")


class Beside(Struct, frozen=True):
    """One card that both judged, with the machine's reason."""

    thing_id: int
    position: int
    question: str
    card: Card
    machine: Relevance
    people: Relevance
    reason: str

    @property
    def is_apart(self) -> bool:
        """Whether both decided, and differ."""
        return self.machine != self.people and Relevance.UNSURE not in (self.machine, self.people)


class OnePerson(Struct, frozen=True):
    """The machine beside one person."""

    name: str
    agreement: Agreement


class BesidePeople(Struct, frozen=True):
    """Everything that a machine judge and people both judged.

    ``table`` counts the cards by (machine, people). The coefficients are over the ``n`` cards
    that both decided. ``cards`` begin with those on which they differ, then those of which
    one cannot tell. ``machine_judged`` are all cards with a verdict of the machine.
    """

    table: Mapping[tuple[Relevance, Relevance], int]
    agreement: Agreement
    people: tuple[OnePerson, ...]
    cards: tuple[Beside, ...]
    machine_judged: int
    bootstrap: Bootstrap

    @property
    def n(self) -> int:
        """How many cards both decided."""
        return self.agreement.raw.n

    @property
    def may_release(self) -> bool:
        """Whether there are enough of them for the owner to decide."""
        return self.n >= FEWEST_SHARED


def report(
    session: Session, study: Study, judge: MachineJudge, *, bootstrap: Bootstrap = INTERVALS
) -> BesidePeople:
    """Return how far a machine judge agrees with the study's people."""
    scope = in_study(study)
    people = studies.raters(session, study)
    own = verdicts.of_rater(session, scope, judge.rater_id).by_thing
    merged = verdicts.adjudicated(session, scope, people).by_thing
    each = verdicts.by_rater(session, scope, [rater.id for rater in people])
    alone = ((rater.name, each[rater.id].by_thing) for rater in people)
    return BesidePeople(
        table=Counter(
            (Relevance(verdict), Relevance(merged[thing]))
            for thing, verdict in own.items()
            if thing in merged
        ),
        agreement=_agreement(own, merged, bootstrap),
        people=tuple(
            OnePerson(name, _agreement(own, said, bootstrap))
            for name, said in alone
            if own.keys() & said.keys()
        ),
        cards=_cards(session, judge, own, merged),
        machine_judged=len(own),
        bootstrap=bootstrap,
    )


def release(session: Session, study: Study, judge: MachineJudge, now: datetime) -> None:
    """Let the judge's figures be chosen, logged with n and kappa as they are now.

    Raises ``TooLittleShared``.
    """
    found = report(session, study, judge, bootstrap=NO_INTERVALS)
    if not found.may_release:
        raise TooLittleShared(found.n)
    if judge.released_at is None:
        judge.released_at = now
        _log(session, study, judge, "release machine judge", _told(found), now)


def withdraw(session: Session, study: Study, judge: MachineJudge, now: datetime) -> None:
    """Let the judge's figures be chosen no more, logged."""
    if judge.released_at is not None:
        judge.released_at = None
        told = _told(report(session, study, judge, bootstrap=NO_INTERVALS))
        _log(session, study, judge, "withdraw machine judge", told, now)


def _agreement(own: Mapping[int, str], said: Mapping[int, str], bootstrap: Bootstrap) -> Agreement:
    table = [
        [_LABELS[Relevance(own[thing])], _LABELS[Relevance(said[thing])]]
        for thing in sorted(own.keys() & said.keys())
    ]
    return agreement(table, labels=(0, 1), bootstrap=bootstrap)


def _cards(
    session: Session, judge: MachineJudge, own: Mapping[int, str], merged: Mapping[int, str]
) -> tuple[Beside, ...]:
    same = (MachineCall.judged_thing_id == JudgedThing.id) & (
        MachineCall.rater_id == judge.rater_id
    )
    rows = session.execute(
        select(JudgedThing, Question, MachineCall.reason)
        .join(Question, Question.id == JudgedThing.question_id)
        .join(MachineCall, same)
        .order_by(Question.question_set_id, Question.position, JudgedThing.id)
    )
    found = [
        Beside(
            thing_id=thing.id,
            position=question.position,
            question=question.text,
            card=from_row(thing.card or {"title": ""}),
            machine=Relevance(own[thing.id]),
            people=Relevance(merged[thing.id]),
            reason=reason,
        )
        for thing, question, reason in rows
        if thing.id in own and thing.id in merged
    ]
    return tuple(sorted(found, key=lambda one: (not one.is_apart, one.machine == one.people)))


def _told(found: BesidePeople) -> str:
    kappa = found.agreement.cohen.value
    return f"n = {found.n}, kappa = {'-' if kappa is None else format(kappa, '.4f')}"


def _log(
    session: Session, study: Study, judge: MachineJudge, action: str, told: str, now: datetime
) -> None:
    studies.log(session, study, action, studies.rater_subject(judge.rater), None, told, now)
