"""How far the raters of a study agree: with one another, and each with themselves.

The judged things that a run of the study shows or left empty are compared; a removed rater's
judgments count as long as they are kept.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TypeAlias

from sqlalchemy import Select, and_, case, func, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from webapp.db.tables.judging import Event, JudgedThing, Judgment, QueryRating
from webapp.db.tables.people import Rater
from webapp.db.tables.rating import Repeat, RepeatRating, Task
from webapp.db.tables.runs import Query, Run
from webapp.db.tables.study import Question, Study
from webapp.metrics.agreement.agreement import Bootstrap
from webapp.metrics.agreement.report import (
    AgreementReport,
    Consistency,
    ItemKind,
    LabelledItem,
    consistency,
    of_kind,
)
from webapp.services.judging import verdicts
from webapp.services.judging.verdicts import Scope
from webapp.services.rating.pool import REPEAT
from webapp.services.study import studies
from webapp.services.study.unasked import is_put_to_raters
from webapp.steps import Tell, nobody

INTERVALS = Bootstrap(resamples=1000)

_Said: TypeAlias = "tuple[str | float | None, str | float | None]"


def report(
    session: Session,
    study: Study,
    *,
    kinds: Iterable[ItemKind] = ItemKind,
    bootstrap: Bootstrap = INTERVALS,
    tell: Tell = nobody,
) -> AgreementReport:
    """Return how far the study's raters agree on each of `kinds`, and with themselves.

    `tell` is called with the number of kinds that are done.
    """
    raters, wanted = studies.raters(session, study), tuple(kinds)
    names = [rater.name for rater in raters]
    found = []
    for done, kind in enumerate(wanted):
        tell(done, len(wanted))
        found.append(of_kind(kind, names, items(session, study, kind, raters), bootstrap))
    tell(len(wanted), len(wanted))
    return AgreementReport(
        raters=tuple(names),
        kinds=tuple(found),
        repeats=_repeats(session, raters, wanted, bootstrap),
        bootstrap=bootstrap,
    )


def items(
    session: Session, study: Study, kind: ItemKind, raters: Sequence[Rater]
) -> list[LabelledItem]:
    """Return the items to agree on, in question order, with each of `raters`' verdicts."""
    scope: Scope = Query.run_id.in_(select(Run.id).where(Run.study_id == study.id))
    by_rater = verdicts.by_rater(session, scope, [rater.id for rater in raters])
    said: dict[int, dict[str, str | float]] = defaultdict(dict)
    for rater in raters:
        own = by_rater[rater.id]
        given: Mapping[int, str | float] = own.quality if kind is ItemKind.QUALITY else own.by_thing
        for key, value in given.items():
            said[key][rater.name] = value
    subject = Event.query_key if kind is ItemKind.QUALITY else Event.judged_thing_id
    since = _first_judged(session, subject, "quality" if kind is ItemKind.QUALITY else "verdict")
    return [
        LabelledItem(category, said.get(key, {}), since.get(key))
        for key, category in _asked(session, scope, kind)
    ]


def _asked(session: Session, scope: Scope, kind: ItemKind) -> list[tuple[int, str]]:
    """Return the key and category of every judged thing or answer in `scope` that is asked."""
    if kind is ItemKind.QUALITY:
        wanted = select(Query.id, Question.category).join(Question).where(scope)
        key = Query.id
    else:
        is_card = JudgedThing.property_id.is_not(None)
        wanted = (
            select(JudgedThing.id, Question.category)
            .join(Question, Question.id == JudgedThing.question_id)
            .where(
                JudgedThing.id.in_(verdicts.judged_things(scope)),
                is_card if kind is ItemKind.CARDS else ~is_card,
            )
        )
        key = JudgedThing.id
    asked = wanted.where(is_put_to_raters(Question.id))
    in_order = asked.order_by(Question.question_set_id, Question.position, key)
    return [(key, category) for key, category in session.execute(in_order)]


def _first_judged(
    session: Session, subject: InstrumentedAttribute[int | None], changed: str
) -> dict[int | None, datetime]:
    """Return when a person first judged each thing, or first graded each answer."""
    made_at = case(
        (Event.client_time < Event.received_at, Event.client_time), else_=Event.received_at
    )
    rows = session.execute(
        select(subject, func.min(made_at))
        .join(Rater, Rater.id == Event.rater_id)
        .where(
            Rater.is_machine.is_(False),
            Event.field == changed,
            Event.new.is_not(None),
            subject.is_not(None),
        )
        .group_by(subject)
    )
    return {key: first for key, first in rows}  # noqa: C416 - a result with keys is not a pair


def _repeats(
    session: Session, raters: Sequence[Rater], kinds: Sequence[ItemKind], bootstrap: Bootstrap
) -> tuple[Consistency, ...]:
    found: dict[tuple[int, ItemKind], list[_Said]] = defaultdict(list)
    for rater_id, is_card, *said in session.execute(_verdicts_again()):
        found[rater_id, ItemKind.CARDS if is_card else ItemKind.EMPTY_LISTS].append(
            (said[0], said[1])
        )
    for rater_id, standing, second in session.execute(_grades_again()):
        found[rater_id, ItemKind.QUALITY].append((standing, second))
    return tuple(
        consistency(rater.name, kind, found[rater.id, kind], bootstrap)
        for kind in kinds
        for rater in raters
        if (rater.id, kind) in found
    )


def _verdicts_again() -> Select[int, bool, str | None, str | None]:
    """Return the statement over the repeats: rater, whether of a card, current and second."""
    is_card = JudgedThing.property_id.is_not(None)
    same = and_(
        Judgment.rater_id == Task.rater_id, Judgment.judged_thing_id == Repeat.judged_thing_id
    )
    return (
        select(Task.rater_id, is_card, Judgment.verdict, Repeat.verdict)
        .join_from(Repeat, Task, Task.id == Repeat.task_id)
        .join(JudgedThing, JudgedThing.id == Repeat.judged_thing_id)
        .outerjoin(Judgment, same)
        .where(Task.kind == REPEAT)
        .order_by(Repeat.task_id, Repeat.judged_thing_id)
    )


def _grades_again() -> Select[int, int | None, int | None]:
    """Return the statement over the grades given again: rater, current and second."""
    same = and_(
        QueryRating.rater_id == Task.rater_id, QueryRating.query_key == RepeatRating.query_key
    )
    return (
        select(Task.rater_id, QueryRating.quality, RepeatRating.quality)
        .join_from(RepeatRating, Task, Task.id == RepeatRating.task_id)
        .outerjoin(QueryRating, same)
        .where(Task.kind == REPEAT)
        .order_by(RepeatRating.task_id, RepeatRating.query_key)
    )
