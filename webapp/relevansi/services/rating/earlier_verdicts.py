"""A rater's earlier verdict on the same item with other content, and what differs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cache
from operator import attrgetter, itemgetter
from typing import Any

from msgspec import Struct
from sqlalchemy import Row, Select, and_, bindparam, select
from sqlalchemy.orm import Session

from relevansi.db.rows import core
from relevansi.db.tables.judging import JudgedItem, Judgment
from relevansi.db.tables.people import Rater
from relevansi.kinds import from_row
from relevansi.records import Item

ItemRow = JudgedItem | Row[Any]
_apart_from_content = attrgetter("question_id", "run_id", "item_id")  # the run where it matters


class EarlierVerdict(Struct, frozen=True):
    """The rater's verdict on the same item with other content, and what differs."""

    relevance: str
    card: Item
    now: Item
    differing: tuple[str, ...]


def earlier_verdicts(
    session: Session, rater: Rater, items: Sequence[ItemRow]
) -> dict[int, EarlierVerdict]:
    """Map each of `items` to the rater's latest verdict on another version of it, if any."""
    questions, item_ids = {item.question_id for item in items}, {item.item_id for item in items}
    values = {"rater_id": rater.id, "questions": [*questions], "items": [*item_ids]}
    rows = core(session).execute(_other_versions(), values)
    judgments = [(row, row.verdict, row.changed_at) for row in rows if row.verdict]
    return earlier_verdicts_by_item(items, judgments)


@cache
def _other_versions() -> Select[*tuple[Any, ...]]:
    # The join is an outer one so that SQLite does not begin with all the rater's judgments.
    item = JudgedItem
    is_own = and_(Judgment.judged_item_id == item.id, Judgment.rater_id == bindparam("rater_id"))
    return (
        select(item.id, item.question_id, item.run_id, item.item_id, item.card)
        .add_columns(Judgment.verdict, Judgment.changed_at)
        .outerjoin(Judgment, is_own)
        .where(
            item.question_id.in_(bindparam("questions", expanding=True)),
            item.item_id.in_(bindparam("items", expanding=True)),
        )
    )


def earlier_verdicts_by_item(
    items: Sequence[ItemRow], judgments: Iterable[tuple[ItemRow, str, datetime]]
) -> dict[int, EarlierVerdict]:
    """Map each item to the latest of `judgments` on another version of it, before its own."""
    by_item: dict[tuple[Any, ...], list[tuple[ItemRow, str, datetime]]] = defaultdict(list)
    for judgment in sorted(judgments, key=itemgetter(2)):
        by_item[_apart_from_content(judgment[0])].append(judgment)
    earlier: dict[int, EarlierVerdict] = {}
    for item in items:
        judged = by_item[_apart_from_content(item)]
        own_moment = next((at for version, _, at in judged if version.id == item.id), None)
        for version, verdict, at in judged:
            if version.id != item.id and (own_moment is None or at < own_moment):
                before, now = from_row(version.card or {}), from_row(item.card or {})
                earlier[item.id] = EarlierVerdict(verdict, before, now, before.differences(now))
    return earlier
