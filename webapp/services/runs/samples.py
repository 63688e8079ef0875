"""The demo's study: three sample runs, rated in part, and the finished study around them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from itertools import count
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import ColumnElement, delete, func, or_, select
from sqlalchemy.orm import Session

from webapp.db.tables.base import belonging_to
from webapp.db.tables.judging import Event, JudgedThing, Judgment, QueryRating
from webapp.db.tables.people import LogEntry, Rater
from webapp.db.tables.runs import Query, Result, Run, RunFile
from webapp.db.tables.study import Study
from webapp.i18n import gettext, language, mark
from webapp.importers.runs import json_runs
from webapp.records import Click, Relevance
from webapp.services.judging import events
from webapp.services.judging.events import Target, TargetChange
from webapp.services.rating import particulars, pool
from webapp.services.rating.pool import POOL, Unit
from webapp.services.runs import imports, results, runs
from webapp.services.runs.imports import Labels
from webapp.services.study import studies

SAMPLE_NAME = mark("Sample study")
DOCUMENTS_NAME = mark("Sample study of documents")
JUDGED_DEPTH = 5  # of each list in ``documents``


class SampleRating(Struct, frozen=True):
    """A rating of one answer as a file in ``seeds`` gives it; ``name`` is the id of its events."""

    name: str
    run_id: str
    query_id: int
    verdicts: Mapping[int, str]
    quality: int | None
    notes: str
    empty_outcome: str | None


def load(session: Session, folder: Path, now: datetime) -> Study:
    """Make the demo's study with the sample runs of `folder` (``seeds``), rated run by run."""
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
    """Add the finished study of the demo: the sample, and what every feature has beside it."""
    from webapp.services.agreement import adjudications as agreement
    from webapp.services.evaluations import demo as evaluations
    from webapp.services.gold import demo as gold
    from webapp.services.machine_judges import demo as machine_judges
    from webapp.services.phase_3 import demo as phase_3
    from webapp.services.planning import demo as planning

    study = load(session, folder, now)
    add(session, study, folder / "demo", now)
    for part in (agreement, gold, evaluations, machine_judges, phase_3, planning):
        part.add(session, study, folder / "demo", now)
    return study


def load_documents(session: Session, folder: Path, now: datetime) -> Study:
    """Make the demo's study of documents by the import, from ``documents`` in `folder`."""
    from webapp.services.machine_judges import demo as machine_judges

    study = studies.open_or_make(session, now)
    stated = json.loads((folder / "documents" / "scale.json").read_text("utf-8"))
    said = stated | stated.get(language(), {})
    scale = studies.scale_of(stated["top"], stated["from"], said["words"], said["guidance"])
    wanted = replace(
        studies.switches(study),
        name=gettext(DOCUMENTS_NAME),
        scale=scale,
        blind=True,
        pool_depth=JUDGED_DEPTH,
    )
    studies.set_switches(session, study, wanted, now)
    names = ("queries.jsonl", "corpus.jsonl", "runs/*.run", "ratings-*.csv")
    files = [path for name in names for path in sorted((folder / "documents").glob(name))]
    report = results.read_files("documents", files)
    results.store(session, study, report, now)
    machine_judges.add(session, study, folder / "documents", now, language())
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
    """Give a rater's ratings in one sitting, `blind` on the pages of the rater's tasks."""
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
        say(Target("quality", None, query.id, task_id), rating.quality, rating.name)
        say(Target("notes", None, query.id, task_id), rating.notes, rating.name)
        emptiness = Target("verdict", query.emptiness_id, page, task_id)
        say(emptiness, rating.empty_outcome, rating.name)
    events.lock(session, rater)
    events.record_all(session, rater, changes)
    events.refresh(session, rater, [change.target for change in changes])


PACE = timedelta(seconds=7)
VERDICTS = {"1": Relevance.RELEVANT, "0": Relevance.NOT_RELEVANT, "?": Relevance.UNSURE}
"""Any other character is a card that has its verdict from another run."""


def add(session: Session, study: Study, folder: Path, now: datetime) -> None:
    """Import the runs in `folder` beside those of the study, and rate them all."""
    guidelines = (folder / "guidelines.md").read_text("utf-8").strip()
    switched = replace(studies.switches(study), guidelines=guidelines)
    studies.set_switches(session, study, switched, now)
    notes = json.loads((folder / "notes.json").read_text("utf-8"))
    typed = {
        question.id: notes.get(str(question.position), "")
        for lines in particulars.question_notes(session, study)
        for question, _ in lines
    }
    particulars.put_notes(session, study, typed, now)
    run_ids = {
        run.search_method or "": run.id
        for run in session.scalars(select(Run).where(Run.study_id == study.id))
    }
    for path in sorted((folder / "runs").glob("*.json")):
        read = json_runs.read(path.name, path.read_bytes())
        run_ids[path.stem] = imports.store(session, study, read, Labels(), now).id
    owner = studies.raters(session, study)[0]
    for place, rated in enumerate(json.loads((folder / "ratings.json").read_text("utf-8"))):
        rater = owner if place == 0 else studies.add_rater(session, study, rated["name"], now)
        if place == 0:
            studies.rename_rater(session, owner, rated["name"], now)
        given = [
            SampleRating(
                name=f"demo-{rater.id}-{run_ids[name]}-{number}",
                run_id=run_ids[name],
                query_id=int(number),
                verdicts={
                    rank: VERDICTS[said] for rank, said in enumerate(row[0], 1) if said in VERDICTS
                },
                quality=row[1],
                notes=row[2],
                empty_outcome=row[3],
            )
            for name, questions in rated["runs"].items()
            for number, row in questions.items()
        ]
        rate(session, rater, given, now, PACE, blind=place > 0)


FILES = frozenset({
    "e7ed9a1717900e8dc2d92f88b3dc3a8857e5d5c99252658ce402a0a90c75d584",
    "2130b68a0993eb0da12f82f2a7131e0bbff3d11855ef68445d4609c0f8c44801",
    "64b9b4fa4a321e3ed65388568af6d6e4100c9988d555d8389d1d07bc7ce5ed9b",
    "f743309940e9f3b9d8c7190ddb9b94162db73b8f848385e9c507a612c069f90b",
    "9ef404f750811f331a7f20455e4204e17bdef8eb47c72f13b5100a371bf289b7",
    "c0838420f1713fcc500bd2ac5328c9d605d76b13b2a0d0b60ddc94e857b7a6e2",
    "ba8b616a9a0dcd65e0367c30d60f5ea3e7d745a93d910774e93cdd62836eedcd",
    "68d635ab32c4f5435f6b95e06da83b0b458e984f34b8b92b7da3d6bb8c8b7ce5",
    "07353e90d166b81cd805843e096a0caee5006a7b175f2a5f304a9b82b880f245",
})  # fmt: skip
"""The SHA-256 of every run file in ``seeds``, as they are since version 1.0.0."""

INVENTED = re.compile(r"sample-\d+(-\d+)?")
"""The event ids of the verdicts that the button stored; a browser's clicks have other ones."""


def found(session: Session, study: Study) -> list[Run]:
    """Return the sample runs of a study, in its order."""
    files = select(RunFile.run_id).where(RunFile.sha256.in_(FILES))
    return runs.ordered(
        session.scalars(select(Run).where(Run.study_id == study.id, Run.id.in_(files)))
    )


def removal_cost(session: Session, study: Study, sample: Sequence[Run]) -> tuple[int, int, bool]:
    """Return how many verdicts and grades go with the sample, and whether blindness comes back."""
    own = Query.run_id.in_([run.id for run in sample])
    given = select(func.count()).select_from(Judgment).where(Judgment.verdict.is_not(None))
    judgments = session.scalar(given.join(JudgedThing).where(_is_own(study, own)))
    rated = select(func.count()).select_from(QueryRating).join(Query)
    ratings = session.scalar(rated.where(own))
    switches = select(LogEntry).where(LogEntry.study_id == study.id, LogEntry.action == "set blind")
    last = session.scalars(switches.order_by(LogEntry.id.desc()).limit(1)).first()
    unblinded_at = last.at if last is not None and last.new == str(False) else None
    return judgments or 0, ratings or 0, unblinded_at in {run.imported_at for run in sample}


def remove(session: Session, study: Study, now: datetime) -> None:
    """Remove the sample runs, every click on what they alone show and every invented verdict."""
    sample = found(session, study)
    if not sample:
        return
    judgments, ratings, restores_blind = removal_cost(session, study, sample)
    for rater in studies.raters(session, study):
        by_rater = select(Event).where(Event.rater_id == rater.id, Event.event_id.like("sample-%"))
        invented = [one for one in session.scalars(by_rater) if INVENTED.fullmatch(one.event_id)]
        if invented:
            events.forget(session, rater, invented)
    own = Query.run_id.in_([run.id for run in sample])
    items = session.scalars(select(JudgedThing.id).where(_is_own(study, own))).all()
    answers = select(Query.id).where(own).scalar_subquery()
    on_answers = Event.judged_thing_id.is_(None) & Event.query_key.in_(answers)
    session.execute(delete(Event).where(or_(Event.judged_thing_id.in_(items), on_answers)))
    for column in belonging_to(JudgedThing.id):
        session.execute(delete(column.table).where(column.in_(items)))
    for run in sample:
        runs.delete_run(session, study, run.id, now)
    session.execute(delete(JudgedThing).where(JudgedThing.id.in_(items)))
    gone = f"{len(sample)} runs, {judgments} judgments, {ratings} ratings"
    studies.log(session, study, "remove sample", study.name, gone, None, now)
    if restores_blind:
        studies.set_switches(session, study, replace(studies.switches(study), blind=None), now)
    session.flush()
    session.expire_all()


def _is_own(study: Study, own: ColumnElement[bool]) -> ColumnElement[bool]:
    in_study = Query.run_id.in_(select(Run.id).where(Run.study_id == study.id))
    shown, elsewhere = runs.things_shown(own), runs.things_shown(in_study & ~own)
    return JudgedThing.id.in_(shown) & JudgedThing.id.not_in(elsewhere)
