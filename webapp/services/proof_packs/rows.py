"""The rows of a study's tables on which the figures of some runs rest, as JSON and back.

They keep the ids of their database, by which one row names another. Nothing that opens a study or
traces a blind answer is among them: no password, no secret of the orders.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, TypeAlias

from msgspec import ValidationError
from sqlalchemy import (
    ColumnElement,
    Select,
    Table,
    and_,
    create_engine,
    func,
    insert,
    or_,
    select,
    true,
)
from sqlalchemy.orm import Session
from sqlalchemy.pool import StaticPool

from webapp.db.tables.base import Base, Moment
from webapp.db.tables.evaluations import GoldVersion
from webapp.db.tables.judging import (
    Adjudication,
    Event,
    JudgedThing,
    Judgment,
    Property,
    QueryRating,
    WordingOpened,
)
from webapp.db.tables.people import LogEntry, Rater
from webapp.db.tables.planning import PlanningRule
from webapp.db.tables.runs import Query, Result, Run, RunFile
from webapp.db.tables.study import Question, QuestionSet, Study
from webapp.importers.runs.json_documents import storable_text
from webapp.kinds import KINDS
from webapp.records import EmptyOutcome, Scale
from webapp.services.backups import backups, moving
from webapp.services.judging import verdicts
from webapp.services.study import assignments as blinding
from webapp.services.study import studies

Rows: TypeAlias = Mapping[str, Sequence[Mapping[str, Any]]]
"""Rows by the name of their table, each by the names of its columns."""

LEFT_OUT = {"studies": {"password", "order_secret", "order_seed", "revision"}}
"""The columns that no pack holds."""
CARDS = {"judged_things": {"card"}}
"""Those that a pack holds only where results do not have whole cards: else it is their fullest."""

_PACKED: tuple[type[Base], ...] = (
    *(Study, Rater, QuestionSet, Question, Run, RunFile, Property, JudgedThing, Query, Result),
    *(Judgment, QueryRating, Adjudication, Event, WordingOpened, LogEntry, GoldVersion),
    PlanningRule,
)
NAMES = frozenset(table.__tablename__ for table in _PACKED)


class UnfitRows(ValueError):
    """Rows that no study has: their table, and what is wrong with them."""


def of_runs(
    session: Session, study: Study, runs: Sequence[Run], machines: Sequence[int], *, whole: bool
) -> dict[str, list[dict[str, Any]]]:
    """Return the rows behind the figures of `runs`, with the verdicts of people and `machines`.

    With `whole` every event of the study's people is there, also on what was deleted since.
    """
    conditions = _wanted(study, runs, machines, whole=whole)
    left_out = LEFT_OUT | (CARDS if KINDS[study.kind].of_one_run is None else {})
    found: dict[str, list[dict[str, Any]]] = {}
    for model in _PACKED:
        table = Base.metadata.tables[model.__tablename__]
        columns = [one for one in table.columns if one.name not in left_out.get(table.name, ())]
        wanted = select(*columns).where(conditions[model]).order_by(*table.primary_key)
        found[table.name] = [dict(row._mapping) for row in session.execute(wanted)]
    return found


def judged_things(study: Study, scope: verdicts.Scope) -> Select[Any]:
    """Return the statement over the judged things on which the figures of queries rest.

    Ranking figures rest on all that was judged for their questions.
    """
    return (verdicts.pool_of if studies.is_pooled(study) else verdicts.judged_things)(scope)


def _wanted(
    study: Study, runs: Sequence[Run], machines: Sequence[int], *, whole: bool
) -> Mapping[type[Base], ColumnElement[bool]]:
    sets = {run.question_set_id for run in runs}
    scope = Query.run_id.in_([run.id for run in runs])
    queries = select(Query.id).where(scope)
    shown = judged_things(study, scope)
    people = and_(Rater.study_id == study.id, Rater.is_machine.is_(False))
    raters = or_(people, Rater.id.in_(machines))
    rater_ids = select(Rater.id).where(raters)
    of_answers = and_(Event.judged_thing_id.is_(None), Event.query_key.in_(queries))
    about = true() if whole else or_(Event.judged_thing_id.in_(shown), of_answers)
    logged = and_(Event.rater_id.in_(select(Rater.id).where(people)), about)
    clicked = select(Event.judged_thing_id).where(logged)
    things = or_(JudgedThing.id.in_(shown), JudgedThing.id.in_(clicked))
    newest = select(func.max(GoldVersion.id)).group_by(GoldVersion.question_set_id)
    return {
        Study: Study.id == study.id,
        Rater: raters,
        QuestionSet: QuestionSet.id.in_(sets),
        Question: Question.question_set_id.in_(sets),
        Run: Run.id.in_([run.id for run in runs]),
        RunFile: RunFile.run_id.in_([run.id for run in runs]),
        Property: Property.id.in_(select(JudgedThing.property_id).where(things)),
        JudgedThing: things,
        Query: scope,
        Result: Result.query_key.in_(queries),
        Judgment: and_(
            Judgment.verdict.is_not(None),
            Judgment.judged_thing_id.in_(shown),
            Judgment.rater_id.in_(rater_ids),
        ),
        QueryRating: and_(
            QueryRating.query_key.in_(queries),
            QueryRating.rater_id.in_(rater_ids),
            or_(QueryRating.quality.is_not(None), QueryRating.notes != ""),
        ),
        Adjudication: Adjudication.judged_thing_id.in_(shown),
        Event: logged,
        WordingOpened: WordingOpened.query_key.in_(queries),
        LogEntry: and_(LogEntry.study_id == study.id, LogEntry.action.in_(blinding.SWITCHES)),
        GoldVersion: and_(GoldVersion.question_set_id.in_(sets), GoldVersion.id.in_(newest)),
        PlanningRule: PlanningRule.question_set_id.in_(sets),
    }


@contextmanager
def loaded(rows: Rows) -> Iterator[tuple[Session, Study]]:
    """Yield the study of these rows in a database of its own, in memory.

    Raises ``UnfitRows``. Nothing in it is good for more than to be exported.
    """
    engine = create_engine("sqlite://", poolclass=StaticPool)
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        for model in _PACKED:
            name = model.__tablename__
            _load(session, Base.metadata.tables[name], rows.get(name, ()))
        found = session.scalars(select(Study)).all()
        if len(found) != 1:
            raise UnfitRows("studies", f"{len(found)} rows")
        try:
            graded = {*Scale.stored(found[0].scale).verdicts, *EmptyOutcome, None}
        except (ValueError, ValidationError) as wrong:
            raise UnfitRows("studies", f"scale: {wrong}"[:200]) from wrong
        for column, allowed in backups.VALUES.items():
            of_scale = graded if column.key == "verdict" else allowed
            for value in session.scalars(select(column).distinct()):
                if value not in allowed & of_scale:
                    table = column.class_.__tablename__
                    raise UnfitRows(table, f"{column.key} {value!r:.80}")
        yield session, found[0]
    engine.dispose()


def _load(session: Session, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows as a file has them; columns that they lack have their default."""
    if not isinstance(rows, list):
        raise UnfitRows(table.name, "no list")
    alike: dict[frozenset[str], list[dict[str, Any]]] = {}
    for number, stated in enumerate(rows, start=1):
        try:
            row = {name: _value(table, name, stated[name]) for name in dict(stated)}
            filled = {column.name: row.get(column.name) for column in table.columns}
            moving.check_fit(table, filled, filled.keys() - row.keys())
        except (KeyError, ValueError, TypeError, moving.UnfitRow) as wrong:
            raise UnfitRows(table.name, f"{number}: {wrong}"[:200]) from wrong
        alike.setdefault(frozenset(row), []).append(row)
    for values in alike.values():
        session.execute(insert(table), values)


def _value(table: Table, name: str, stated: Any) -> Any:
    """Return a value as its column holds it; raises ``KeyError`` for a column that is not there."""
    if isinstance(table.columns[name].type, Moment) and stated is not None:
        return datetime.fromisoformat(stated)
    if isinstance(stated, str) and stated != storable_text(stated):
        raise ValueError("characters that no file can hold")
    if isinstance(stated, int) and abs(stated) >= 2**63:
        raise ValueError("too large")
    return stated
