"""The invented sample runs of a study: known by their files, and removed with their verdicts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from msgspec.structs import replace
from sqlalchemy import ColumnElement, delete, func, or_, select
from sqlalchemy.orm import Session

from relevansi.db.tables.base import belonging_to
from relevansi.db.tables.judging import Event, JudgedItem, Judgment, QueryRating
from relevansi.db.tables.people import LogEntry
from relevansi.db.tables.runs import Query, Run, RunFile
from relevansi.db.tables.study import Study
from relevansi.services.judging import events
from relevansi.services.runs import runs
from relevansi.services.study import studies

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


def find(session: Session, study: Study) -> list[Run]:
    """Return the sample runs of a study, in its order."""
    files = select(RunFile.run_id).where(RunFile.sha256.in_(FILES))
    of_files = select(Run).where(Run.study_id == study.id, Run.id.in_(files))
    return runs.ordered(study, session.scalars(of_files))


def removal_cost(session: Session, study: Study, sample: Sequence[Run]) -> tuple[int, int, bool]:
    """Return how many verdicts and grades go with the sample, and whether blindness comes back."""
    of_sample = Query.run_id.in_([run.id for run in sample])
    judged = select(func.count()).select_from(Judgment).where(Judgment.verdict.is_not(None))
    judgments = session.scalar(judged.join(JudgedItem).where(_is_own(study, of_sample)))
    rated = select(func.count()).select_from(QueryRating).join(Query)
    ratings = session.scalar(rated.where(of_sample))
    switches = select(LogEntry).where(LogEntry.study_id == study.id, LogEntry.action == "set blind")
    last = session.scalars(switches.order_by(LogEntry.id.desc()).limit(1)).first()
    unblinded_at = last.at if last is not None and last.new == str(False) else None
    return judgments or 0, ratings or 0, unblinded_at in {run.imported_at for run in sample}


def remove(session: Session, study: Study, now: datetime) -> None:
    """Remove the sample runs, every click on what they alone show and every invented verdict."""
    sample = find(session, study)
    if not sample:
        return
    judgments, ratings, restores_blind = removal_cost(session, study, sample)
    for rater in studies.raters(session, study):
        by_rater = select(Event).where(Event.rater_id == rater.id, Event.event_id.like("sample-%"))
        clicks = session.scalars(by_rater)
        invented = [click for click in clicks if INVENTED.fullmatch(click.event_id)]
        if invented:
            events.forget(session, rater, invented)
    of_sample = Query.run_id.in_([run.id for run in sample])
    items = session.scalars(select(JudgedItem.id).where(_is_own(study, of_sample))).all()
    answers = select(Query.id).where(of_sample).scalar_subquery()
    on_answers = Event.judged_item_id.is_(None) & Event.query_key.in_(answers)
    session.execute(delete(Event).where(or_(Event.judged_item_id.in_(items), on_answers)))
    for column in belonging_to(JudgedItem.id):
        session.execute(delete(column.table).where(column.in_(items)))
    for run in sample:
        runs.delete_run(session, study, run.id, now)
    session.execute(delete(JudgedItem).where(JudgedItem.id.in_(items)))
    gone = f"{len(sample)} runs, {judgments} judgments, {ratings} ratings"
    studies.log(session, study, "remove sample", study.name, gone, None, now)
    if restores_blind:
        studies.set_switches(session, study, replace(studies.switches(study), blind=None), now)
    session.flush()
    session.expire_all()


def _is_own(study: Study, of_sample: ColumnElement[bool]) -> ColumnElement[bool]:
    in_study = Query.run_id.in_(select(Run.id).where(Run.study_id == study.id))
    shown_items, elsewhere = runs.items_shown(of_sample), runs.items_shown(in_study & ~of_sample)
    return JudgedItem.id.in_(shown_items) & JudgedItem.id.not_in(elsewhere)
