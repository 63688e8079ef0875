"""Quality, notes and empty outcomes of a rated CSV, stored as its rater's own.

Verdicts on cards are not in such a file, so none are stored. What the rater has said here
already is never changed silently: it is reported, and replaced only where that is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from uuid import uuid4

from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp.db.models import Query, Rater, Run, Study
from webapp.importers import csv_ratings
from webapp.importers.blanks import said
from webapp.metrics.summaries import QueryRow
from webapp.records import Click, Problem
from webapp.services import events, rated_files, raters, reports
from webapp.services.events import Target


@dataclass(frozen=True, slots=True)
class RatedValue:
    """A value of the file that is not the rater's here; ``here`` is ``None`` where none is."""

    query_id: int
    field: str
    here: str | None
    in_file: str


@dataclass(frozen=True, slots=True)
class RatedImport:
    """What importing a rated CSV stored: ``new`` values, and ``others`` that differ here.

    ``replaced`` says whether the others were replaced. ``run_id`` is ``None`` where no run, or
    more than one, has the file's questions and numbers of results; ``refused`` where the
    rater is a machine or removed. Nothing is stored then.
    """

    name: str
    rater: str
    run_id: str | None = None
    refused: bool = False
    new: tuple[RatedValue, ...] = ()
    others: tuple[RatedValue, ...] = ()
    replaced: bool = False
    problems: tuple[Problem, ...] = ()


def store(
    session: Session,
    study: Study,
    name: str,
    data: bytes,
    rater: str,
    now: datetime,
    *,
    overwrite: bool = False,
) -> RatedImport:
    """Store what the file says and `rater` has not; replace other values with `overwrite`.

    The rater is made if nobody is called so.
    """
    read = csv_ratings.read(name, data)
    listed = select(Run.id).where(Run.study_id == study.id).order_by(Run.id)
    runs = rated_files.runs_of(session, study, read.report, session.scalars(listed).all())
    known = raters.named(session, study, rater)
    if known is not None and (known.is_machine or known.removed_at is not None):
        return RatedImport(name, known.name, refused=True, problems=read.problems)
    if len(runs) != 1:
        return RatedImport(name, rater, problems=read.problems)
    who = known or raters.add(session, study, rater, now)
    events.lock(session, who)
    here = reports.report(session, study, runs[0], reports.of_rater(who))
    own = {row.query_id: dict(_values(row)) for row in here.rows}
    values = [
        RatedValue(row.query_id, field, own[row.query_id].get(field), value)
        for row in read.report.rows
        for field, value in _values(row)
        if own[row.query_id].get(field) != value
    ]
    new = tuple(value for value in values if value.here is None)
    others = tuple(value for value in values if value.here is not None)
    _record(session, who, runs[0], (*new, *others) if overwrite else new, now)
    return RatedImport(
        name=name,
        rater=who.name,
        run_id=runs[0],
        new=new,
        others=others,
        replaced=overwrite,
        problems=read.problems,
    )


def _values(row: QueryRow) -> Iterator[tuple[str, str]]:
    """The values of a question that a rater can give, as events hold them.

    A quality between two grades is the median of several raters and nobody's own.
    """
    quality, outcome = row.summary.quality, row.summary.empty_outcome
    if quality is not None and quality == int(quality):
        yield "quality", str(int(quality))
    if said(row.notes):
        yield "notes", row.notes.strip()
    if outcome is not None:
        yield "empty_outcome", outcome.value


def _record(
    session: Session, who: Rater, run_id: str, values: tuple[RatedValue, ...], now: datetime
) -> None:
    found = session.scalars(select(Query).where(Query.run_id == run_id))
    queries = {query.query_id: query for query in found}
    targets = []
    for value in values:
        query = queries[value.query_id]
        if value.field == "empty_outcome":
            target = Target.verdict(query.emptiness_id, query.id)
        else:
            target = Target.rating(query, value.field)
        events.record(session, who, target, value.in_file, Click(uuid4().hex, now))
        targets.append(target)
    events.refresh(session, who, targets)
