"""Why items are not relevant: each rater's reasons, and those behind a merged label."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from relevansi.db.rows import core
from relevansi.db.tables.judging import Adjudication, JudgedItem, Judgment
from relevansi.db.tables.study import Study
from relevansi.records import Relevance, Scale
from relevansi.services.judging.verdicts import Verdicts
from relevansi.services.runs import reports
from relevansi.services.runs.reports import Rule


class Rejection(NamedTuple):
    """One rater's verdict that an item is not relevant, with its reason where one was given."""

    rater_id: int
    item_id: int
    reason: str | None


def rejections(
    session: Session, study: Study, items: Select[Any], rater_ids: Sequence[int]
) -> list[Rejection]:
    """Return these raters' verdicts that an item among `items` is not relevant, in their order."""
    scale = Scale.stored(study.scale)
    rejected = [
        text for text, verdict in scale.relevances.items() if verdict is Relevance.NOT_RELEVANT
    ]
    of_items = JudgedItem.item_id.is_not(None)
    rows = (
        select(Judgment.rater_id, Judgment.judged_item_id, Judgment.reason)
        .join(JudgedItem, JudgedItem.id == Judgment.judged_item_id)
        .where(Judgment.rater_id.in_(rater_ids), Judgment.judged_item_id.in_(items), of_items)
        .where(Judgment.verdict.in_(rejected))
        .order_by(Judgment.rater_id, Judgment.judged_item_id)
    )
    return [Rejection(*row) for row in core(session).execute(rows)]


def under(
    session: Session, study: Study, items: Select[Any], rule: Rule, merged: Verdicts
) -> Mapping[int, str]:
    """Return why items are not relevant under `rule`, by judged item.

    `merged` are the verdicts under it. Where raters are merged, the reason of whoever settled the
    item, else those of all who say that it is not relevant, the most frequent first, with "; "
    between them.
    """
    people = reports.raters_of(session, study, rule)
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    for _, item, reason in rejections(session, study, items, [rater.id for rater in people]):
        if reason is not None and merged.relevance(item) is Relevance.NOT_RELEVANT:
            counts[item][reason] += 1
    texts = {
        item: "; ".join(text for text, _ in of_item.most_common())
        for item, of_item in counts.items()
    }
    if rule.name != reports.ADJUDICATED:
        return texts
    settled = select(Adjudication.judged_item_id, Adjudication.reason)
    return texts | {
        item: reason
        for item, reason in session.execute(settled.where(Adjudication.judged_item_id.in_(items)))
        if reason and merged.relevance(item) is Relevance.NOT_RELEVANT
    }
