"""Raters' votes on judged items: which they dispute, and where the merged verdict is from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from enum import StrEnum
from fractions import Fraction

from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.db.tables.judging import Adjudication
from relevansi.db.tables.study import Study
from relevansi.records import Relevance
from relevansi.services.catalogue import evidence
from relevansi.services.judging import verdicts
from relevansi.services.judging.verdicts import Scope
from relevansi.services.study import studies

Votes = Mapping[int, str]
"""Each rater's verdict on one judged item, by the rater's id."""


class Provenance(StrEnum):
    """Where a final label comes from, under the rule "adjudicated"."""

    UNANIMOUS = "unanimous"
    MAJORITY = "majority"
    MEDIAN = "median"
    ADJUDICATED = "adjudicated"
    OPEN = "open"


def votes_by_item(session: Session, study: Study, scope: Scope) -> dict[int, dict[int, str]]:
    """Return the votes on every judged item in `scope`, by ascending id; some have none.

    What was pinned as evidence on the questions is among the items.
    """
    pinned = {*session.scalars(evidence.pinned(scope))}
    item_ids = {*session.scalars(verdicts.judged_items(scope)), *pinned}
    votes: dict[int, dict[int, str]] = {
        item_id: {} for item_id in sorted(item_id for item_id in item_ids if item_id is not None)
    }
    raters = [rater.id for rater in studies.raters(session, study)]
    by_rater = verdicts.by_rater(session, scope, raters, pooled=bool(pinned))
    for rater_id, verdicts_of_rater in by_rater.items():
        for item_id in verdicts_of_rater.by_item.keys() & votes.keys():
            votes[item_id][rater_id] = verdicts_of_rater.by_item[item_id]
    return votes


def provenances(
    session: Session, study: Study, scope: Scope, *, adjudicated: bool = True
) -> dict[int, Provenance]:
    """Return the provenance of the final label of every judged item in `scope`."""
    decided_items = select(Adjudication.judged_item_id)
    settled = set(session.scalars(decided_items)) if adjudicated else set[int]()
    merging = verdicts.merging_of(study)
    return {
        item_id: provenance(cast.values(), adjudicated=item_id in settled, merging=merging)
        for item_id, cast in votes_by_item(session, study, scope).items()
    }


def provenance(
    cast: Collection[str],
    *,
    adjudicated: bool = False,
    merging: verdicts.Merging = verdicts.majority_verdict,
) -> Provenance:
    """Return where the label that merges the votes `cast` comes from.

    >>> [str(provenance(cast)) for cast in (["1", "1"], ["1", "1", "0"], ["1", "0"], [])]
    ['unanimous', 'majority', 'open', 'open']
    >>> str(provenance(["1", "0"], merging=verdicts.lower_median))
    'median'
    """
    if adjudicated:
        return Provenance.ADJUDICATED
    if merging(tuple(cast)) is None:
        return Provenance.OPEN
    if not is_disputed(cast):
        return Provenance.UNANIMOUS
    by_median = merging is verdicts.lower_median and any(vote.isdecimal() for vote in cast)
    return Provenance.MEDIAN if by_median else Provenance.MAJORITY


def decided_counts(cast: Collection[str]) -> Counter[str]:
    """Return how often each verdict but "cannot tell" was given."""
    return Counter(vote for vote in cast if vote != Relevance.UNSURE)


def is_disputed(cast: Collection[str]) -> bool:
    """Whether the decided votes differ.

    >>> is_disputed(["1", "0"]), is_disputed(["1", "unsure"])
    (True, False)
    """
    return len(decided_counts(cast)) > 1


def margin(cast: Collection[str]) -> Fraction:
    """Return by how much the leading verdict leads, as a share of the decided votes.

    >>> margin(["1", "0"]), margin(["1", "1", "0", "unsure"])
    (Fraction(0, 1), Fraction(1, 3))
    """
    counts = decided_counts(cast)
    if not counts:
        return Fraction(0)
    (_, first), *others = counts.most_common(2)
    return Fraction(first - (others[0][1] if others else 0), counts.total())
