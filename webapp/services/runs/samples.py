"""The demo's study: three sample runs, rated in part, and the finished study around them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from functools import cache
from itertools import count
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Query, Result
from webapp.db.tables.study import Study
from webapp.i18n import gettext, mark
from webapp.importers.runs import json_runs
from webapp.records import Click
from webapp.services.judging import events
from webapp.services.judging.events import Target, TargetChange
from webapp.services.rating import pool
from webapp.services.rating.pool import POOL, Unit
from webapp.services.runs import imports
from webapp.services.runs.imports import Labels
from webapp.services.study import studies

SAMPLE_NAME = mark("Sample study")


class SampleRating(Struct, frozen=True):
    """A rating of one answer and its cards as a file in ``seeds`` gives it.

    ``name`` is the id of its events; ``verdicts`` are by rank.
    """

    name: str
    run_id: str
    query_id: int
    verdicts: Mapping[int, str]
    quality: int | None
    notes: str
    empty_outcome: str | None


def load(session: Session, folder: Path, now: datetime) -> Study:
    """Make the demo's study with the sample runs of `folder` (the product's ``seeds``); return it.

    It is rated run by run, so that a newcomer can watch the figures of a run move.
    """
    study = studies.open_or_make(session, now)
    study.name = gettext(SAMPLE_NAME)
    studies.set_switches(session, study, replace(studies.switches(study), blind=False), now)
    rater = studies.raters(session, study)[0]
    by_folder = {}
    for path in sorted((folder / "runs").glob("*/*.json"), reverse=True):
        read = json_runs.read(f"{path.parent.name}/{path.name}", path.read_bytes())
        by_folder[path.parent.name] = imports.store(session, study, read, Labels(), now).id
    ratings = json.loads((folder / "ratings.json").read_text("utf-8"))["ratings"]
    given = [
        SampleRating(
            name=f"sample-{number}",
            run_id=by_folder[rating["run"]],
            query_id=rating["query_id"],
            verdicts={int(rank): said for rank, said in rating.get("results", {}).items()},
            quality=rating.get("quality"),
            notes=rating.get("notes") or "",
            empty_outcome=rating.get("empty_outcome"),
        )
        for number, rating in enumerate(ratings)
    ]
    rate(session, rater, given, now)
    return study


def load_demo(session: Session, folder: Path, now: datetime) -> Study:
    """Add the finished study of the demo: the sample, and what every feature has beside it.

    A feature makes its part by its own services from the files in ``demo`` of `folder`.
    """
    from webapp.services.agreement import demo as agreement
    from webapp.services.evaluations import demo as evaluations
    from webapp.services.gold import demo as gold
    from webapp.services.machine_judges import demo as machine_judges
    from webapp.services.phase_3 import demo as phase_3
    from webapp.services.planning import demo as planning
    from webapp.services.runs import demo as runs

    study = load(session, folder, now)
    for part in (runs, agreement, gold, evaluations, machine_judges, phase_3, planning):
        part.add(session, study, folder / "demo", now)
    return study


def rate(
    session: Session,
    rater: Rater,
    given: Iterable[SampleRating],
    now: datetime,
    pace: timedelta = timedelta(0),
    *,
    blind: bool = False,
) -> None:
    """Give a rater's ratings in one sitting, with `pace` between two clicks.

    Where `blind`, on the pages of the rater's tasks, else on those of the runs.
    """
    ratings = list(given)
    in_runs = Query.run_id.in_({rating.run_id for rating in ratings})
    queries = {
        (one.run_id, one.query_id): one for one in session.scalars(select(Query).where(in_runs))
    }
    shown = select(Result.query_key, Result.rank, Result.judged_thing_id).join(Query)
    things = {(key, rank): thing for key, rank, thing in session.execute(shown.where(in_runs))}
    clicks = count(1)
    changes = []

    def say(target: Target, said: str | int | None, name: str) -> None:
        if said not in {None, ""}:
            changes.append(TargetChange(target, str(said), Click(name, now + next(clicks) * pace)))

    @cache
    def task(unit: Unit) -> str:
        return pool.give(session, rater, unit, POOL, now).id

    for rating in ratings:
        query = queries[rating.run_id, rating.query_id]
        run_id = query.run_id if query.question.context_dependent else None
        task_id = task(Unit(query.question_id, run_id)) if blind else None
        page = None if blind else query.id
        for rank, verdict in rating.verdicts.items():
            target = Target("verdict", things[query.id, rank], page, task_id)
            say(target, verdict, f"{rating.name}-{rank}")
        say(Target.rating(query, "quality", task_id), rating.quality, rating.name)
        say(Target.rating(query, "notes", task_id), rating.notes, rating.name)
        emptiness = Target("verdict", query.emptiness_id, page, task_id)
        say(emptiness, rating.empty_outcome, rating.name)
    events.lock(session, rater)
    events.record_all(session, rater, changes)
    events.refresh(session, rater, [change.target for change in changes])
