"""The provenance of a judged thing's final label, once several raters have voted.

A vote decides unless it is "cannot tell". A judged thing is disputed when decided votes
differ; it stays open while they tie, or while it has no verdict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from enum import StrEnum
from fractions import Fraction

from msgspec import Struct
from sqlalchemy import and_, select
from sqlalchemy.orm import Session

from webapp.db.tables.agreement import Adjudication
from webapp.db.tables.judging import JudgedThing, Judgment
from webapp.db.tables.runs import Query, Run
from webapp.db.tables.study import Study
from webapp.records import Relevance
from webapp.services.judging import verdicts
from webapp.services.judging.verdicts import Scope
from webapp.services.study import studies

Votes = Mapping[int, str]
"""Each rater's verdict on one judged thing, by the rater's id."""


class Provenance(StrEnum):
    """Where a final label comes from, under the rule "adjudicated"."""

    UNANIMOUS = "unanimous"
    MAJORITY = "majority"
    ADJUDICATED = "adjudicated"
    OPEN = "open"


class LabelCounts(Struct, frozen=True):
    """How many judged things have a final label of each provenance.

    Of the unanimous ones, ``alone`` rest on one vote, and ``cannot_tell`` have no decided vote.
    Of the open ones, ``tied`` have as many votes for as against and ``unjudged`` have none.
    """

    unanimous: int = 0
    majority: int = 0
    adjudicated: int = 0
    open: int = 0
    alone: int = 0
    cannot_tell: int = 0
    tied: int = 0
    unjudged: int = 0

    @property
    def total(self) -> int:
        """How many judged things there are."""
        return self.unanimous + self.majority + self.adjudicated + self.open


def in_study(study: Study) -> Scope:
    """Return the condition on ``Query`` that it belongs to a run of the study."""
    return Query.run_id.in_(select(Run.id).where(Run.study_id == study.id))


def votes(session: Session, study: Study, scope: Scope) -> dict[int, dict[int, str]]:
    """Return the votes on every judged thing in `scope`, by ascending id; some have none."""
    things = session.scalars(verdicts.judged_things(scope))
    found: dict[int, dict[int, str]] = {
        thing: {} for thing in sorted(thing for thing in things if thing is not None)
    }
    raters = [rater.id for rater in studies.raters(session, study)]
    for rater_id, own in verdicts.by_rater(session, scope, raters).items():
        for thing, verdict in own.by_thing.items():
            found[thing][rater_id] = verdict
    return found


def votes_on(session: Session, study: Study, thing: JudgedThing) -> Votes | None:
    """Return the votes on one judged thing, ``None`` if no run of the study shows it."""
    of_question = and_(in_study(study), Query.question_id == thing.question_id)
    if thing.id not in session.scalars(verdicts.judged_things(of_question)).all():
        return None
    people = [rater.id for rater in studies.raters(session, study)]
    cast = select(Judgment.rater_id, Judgment.verdict).where(
        Judgment.judged_thing_id == thing.id,
        Judgment.rater_id.in_(people),
        Judgment.verdict.is_not(None),
    )
    return {rater_id: verdict for rater_id, verdict in session.execute(cast) if verdict}


def provenances(
    session: Session, study: Study, scope: Scope, *, adjudicated: bool = True
) -> dict[int, Provenance]:
    """Return the provenance of the final label of every judged thing in `scope`.

    Without `adjudicated` the rule is "majority", which ignores adjudication.
    """
    known = select(Adjudication.judged_thing_id)
    settled = set(session.scalars(known)) if adjudicated else set[int]()
    return {
        thing: provenance(cast.values(), adjudicated=thing in settled)
        for thing, cast in votes(session, study, scope).items()
    }


def provenance(cast: Collection[str], *, adjudicated: bool = False) -> Provenance:
    """Return where the label that merges the votes `cast` comes from.

    >>> [str(provenance(cast)) for cast in (["1", "1"], ["1", "1", "0"], ["1", "0"], [])]
    ['unanimous', 'majority', 'open', 'open']
    """
    if adjudicated:
        return Provenance.ADJUDICATED
    if verdicts.merge(list(cast)) is None:
        return Provenance.OPEN
    return Provenance.MAJORITY if is_disputed(cast) else Provenance.UNANIMOUS


def label_counts(cast: Mapping[int, Votes], settled: Collection[int]) -> LabelCounts:
    """Return how many labels come from where; `settled` are the adjudicated things."""
    counted: Counter[str] = Counter()
    for thing, by_rater in cast.items():
        given = list(by_rater.values())
        found = provenance(given, adjudicated=thing in settled)
        counted[found] += 1
        counted["alone"] += found is Provenance.UNANIMOUS and len(given) == 1
        counted["cannot_tell"] += found is Provenance.UNANIMOUS and not decided(given)
        counted["tied"] += found is Provenance.OPEN and bool(given)
        counted["unjudged"] += found is Provenance.OPEN and not given
    return LabelCounts(**{str(name): count for name, count in counted.items()})


def decided(cast: Collection[str]) -> Counter[str]:
    """Return how often each verdict but "cannot tell" was given."""
    return Counter(vote for vote in cast if vote != Relevance.UNSURE)


def is_disputed(cast: Collection[str]) -> bool:
    """Whether the decided votes differ.

    >>> is_disputed(["1", "0"]), is_disputed(["1", "unsure"])
    (True, False)
    """
    return len(decided(cast)) > 1


def margin(cast: Collection[str]) -> Fraction:
    """Return by how much the leading verdict leads, as a share of the decided votes.

    >>> margin(["1", "0"]), margin(["1", "1", "0", "unsure"])
    (Fraction(0, 1), Fraction(1, 3))
    """
    counts = decided(cast)
    if not counts:
        return Fraction(0)
    (_, first), *rest = counts.most_common(2)
    return Fraction(first - (rest[0][1] if rest else 0), counts.total())
