"""Agreement of a study's raters with one another, and of each with themselves in repeats.

It is over the judged items of the study's runs, the empty lists among them. A removed rater's
judgments count as long as they are stored.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec.structs import replace
from sqlalchemy import case, func, or_, select
from sqlalchemy.orm import Session

from relevansi.db.tables.judging import (
    Event,
    JudgedItem,
    Judgment,
    QueryRating,
    Repeat,
    RepeatRating,
    Task,
)
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query, Run
from relevansi.db.tables.study import Question, Study
from relevansi.failures import Refused
from relevansi.i18n import mark
from relevansi.importers.agreement import manual_input
from relevansi.importers.runs import json_runs
from relevansi.kinds import KINDS
from relevansi.metrics.agreement.conflicts import ConflictReport, JudgedRun, conflicts
from relevansi.metrics.agreement.report import (
    AgreementReport,
    Consistency,
    ItemKind,
    LabelledItem,
    consistency,
    of_kind,
)
from relevansi.records import OnProgress, Scale, no_progress
from relevansi.services.judging import verdicts
from relevansi.services.judging.verdicts import Scope
from relevansi.services.rating.pool import REPEAT
from relevansi.services.runs import reports
from relevansi.services.study import studies
from relevansi.services.study.question_sets import is_put_to_raters


def report(
    session: Session,
    study: Study,
    *,
    kinds: Iterable[ItemKind] = ItemKind,
    on_progress: OnProgress = no_progress,
) -> AgreementReport:
    """Return how far the study's raters agree on each of `kinds`, and with themselves."""
    raters, item_kinds = studies.raters(session, study), tuple(kinds)
    top, of_documents = Scale.stored(study.scale).top, KINDS[study.kind].of_collection
    names = [rater.name for rater in raters]
    agreements = []
    for number, kind in enumerate(item_kinds):
        on_progress(number, len(item_kinds))
        labelled = items(session, study, kind, raters)
        agreements.append(of_kind(kind, names, labelled, top=top))
    on_progress(len(item_kinds), len(item_kinds))
    return AgreementReport(
        raters=tuple(names),
        kinds=tuple(agreements),
        repeats=_repeat_consistency(session, raters, item_kinds, top),
        seconds=reports.paces(session, study, reports.in_study(study)) if of_documents else {},
    )


def items(
    session: Session, study: Study, kind: ItemKind, raters: Sequence[Rater]
) -> list[LabelledItem]:
    """Return the items of a kind in question order, with each rater's verdict or grade by name."""
    scope: Scope = Query.run_id.in_(select(Run.id).where(Run.study_id == study.id))
    by_rater = verdicts.by_rater(session, scope, [rater.id for rater in raters], pooled=True)
    values_by_item: dict[int, dict[str, str | float]] = defaultdict(dict)
    for rater in raters:
        values: Mapping[int, str | float] = by_rater[rater.id].by_item
        if kind is ItemKind.QUALITY:
            values = by_rater[rater.id].quality
        for key, value in values.items():
            values_by_item[key][rater.name] = value
    key_column, field = Event.judged_item_id, "verdict"
    if kind is ItemKind.QUALITY:
        key_column, field = Event.query_key, "quality"
    # A device's clock may run ahead: no verdict is dated later than it arrived.
    is_before_arrival = Event.client_time < Event.received_at
    judged_at = case((is_before_arrival, Event.client_time), else_=Event.received_at)
    first_judged = (
        select(key_column, func.min(judged_at))
        .join(Rater, Rater.id == Event.rater_id)
        .where(
            Rater.is_machine.is_(False),
            Event.field == field,
            Event.new.is_not(None),
            key_column.is_not(None),
        )
        .group_by(key_column)
    )
    since: dict[int | None, datetime] = dict(session.execute(first_judged).all())
    return [
        LabelledItem(category, values_by_item.get(key, {}), since.get(key))
        for key, category in _item_categories(session, scope, kind)
    ]


def _item_categories(session: Session, scope: Scope, kind: ItemKind) -> list[tuple[int, str]]:
    """Return the key and category of every item of a kind in `scope` that is put to raters.

    Items that people judged although no run lists them are among them.
    """
    if kind is ItemKind.QUALITY:
        key = Query.id
        rows = select(Query.id, Question.category).join(Question).where(scope)
    else:
        key, is_card = JudgedItem.id, JudgedItem.item_id.is_not(None)
        rows = (
            select(JudgedItem.id, Question.category)
            .join(Question, Question.id == JudgedItem.question_id)
            .where(JudgedItem.id.in_(verdicts.pool_of(scope)))
            .where(is_card if kind is ItemKind.CARDS else ~is_card)
        )
    rows = rows.where(is_put_to_raters(Question.id))
    in_order = rows.order_by(Question.question_set_id, Question.position, key)
    return [(key, category) for key, category in session.execute(in_order)]


def _repeat_consistency(
    session: Session, raters: Sequence[Rater], kinds: Sequence[ItemKind], top: int
) -> tuple[Consistency, ...]:
    same_item = Judgment.judged_item_id == Repeat.judged_item_id
    verdicts_again = (
        select(Task.rater_id, JudgedItem.item_id, Judgment.verdict, Repeat.verdict)
        .join_from(Repeat, Task, Task.id == Repeat.task_id)
        .join(JudgedItem, JudgedItem.id == Repeat.judged_item_id)
        .outerjoin(Judgment, (Judgment.rater_id == Task.rater_id) & same_item)
        .where(Task.kind == REPEAT)
        .order_by(Task.rater_id, Task.claimed_at, Repeat.judged_item_id)
    )
    same_answer = QueryRating.query_key == RepeatRating.query_key
    grades_again = (
        select(Task.rater_id, QueryRating.quality, RepeatRating.quality)
        .join_from(RepeatRating, Task, Task.id == RepeatRating.task_id)
        .outerjoin(QueryRating, (QueryRating.rater_id == Task.rater_id) & same_answer)
        .join(Query, Query.id == RepeatRating.query_key)
        .where(Task.kind == REPEAT, or_(RepeatRating.quality.is_not(None), Query.asks_quality))
        .order_by(Task.rater_id, Task.claimed_at, RepeatRating.query_key)
    )
    # The first and the second verdict or grade on each item that was judged again.
    pairs: dict[tuple[int, ItemKind], list[Any]] = defaultdict(list)
    for rater_id, item_id, verdict, verdict_again in session.execute(verdicts_again):
        kind = ItemKind.EMPTY_LISTS if item_id is None else ItemKind.CARDS
        pairs[rater_id, kind].append((verdict, verdict_again))
    for rater_id, grade, grade_again in session.execute(grades_again):
        pairs[rater_id, ItemKind.QUALITY].append((grade, grade_again))
    return tuple(
        consistency(rater.name, kind, pairs[rater.id, kind], top=top)
        for kind in kinds
        for rater in raters
        if (rater.id, kind) in pairs
    )


RUN_FILE = "results.json"
MANUAL_FILE = "manual_input.json"


class SameFolderTwice(Refused):
    message = mark("The same folder is named twice")
    remedy = mark("Name the folder of each run once.")


def compare(judged: Iterable[JudgedRun]) -> ConflictReport:
    """Return where runs judged by hand contradict themselves and each other.

    Repeated names get a number.
    """
    runs = list(judged)
    names = distinct([run.name for run in runs])
    return conflicts([replace(run, name=name) for run, name in zip(runs, names, strict=True)])


def run_names(folders: Sequence[tuple[str, ...]]) -> list[str]:
    """Return each folder's name, with the names of as many parents as make it unique.

    A folder is the parts of its path. Raises ``SameFolderTwice``.

    >>> run_names([("a", "hybrid"), ("b", "hybrid"), ("b", "api_only")])
    ['a/hybrid', 'b/hybrid', 'api_only']
    """
    if len(set(folders)) < len(folders):
        raise SameFolderTwice
    names = []
    for folder in folders:
        depth = 1
        while sum(another[-depth:] == folder[-depth:] for another in folders) > 1:
            depth += 1
        names.append("/".join(folder[-depth:]))
    return names


def judged_run(name: str, run_file: bytes, manual_file: bytes) -> JudgedRun:
    """Return the run in a pair of files."""
    read = json_runs.read(f"{name}/{RUN_FILE}", run_file)
    manual = manual_input.read(f"{name}/{MANUAL_FILE}", manual_file)
    cards = (card for query in read.queries for card in query.cards)
    n_cards = {query.query_id: len(query.cards) for query in read.queries}
    return JudgedRun(
        name=name,
        verdicts=manual_input.verdicts(manual, read),
        questions={q.query_id: (q.query_id, q.question) for q in read.queries},
        titles={card.identity: card.title for card in cards},
        problems=(*manual.problems, *manual_input.check_cards(manual, n_cards)),
    )


def distinct(names: Sequence[str]) -> list[str]:
    """Return `names`, each repetition with a number that no other name has."""
    distinct_names: list[str] = []
    for name in names:
        candidate, number = name, 2
        while candidate in distinct_names:
            candidate, number = f"{name} ({number})", number + 1
        distinct_names.append(candidate)
    return distinct_names
