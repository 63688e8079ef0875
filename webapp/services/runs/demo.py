"""The demo's further runs and raters: five runs rated to the end by three people, one begun."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Query, Result, Run
from webapp.db.tables.study import Study
from webapp.importers.runs import json_runs
from webapp.records import Click, EmptyOutcome, Relevance
from webapp.services.judging import events, live_metrics
from webapp.services.judging.events import Target
from webapp.services.runs import imports
from webapp.services.runs.imports import Labels
from webapp.services.runs.provenance import in_study
from webapp.services.study import studies

PACE = timedelta(seconds=7)
"""Between two clicks."""
VERDICTS = {"1": Relevance.RELEVANT, "0": Relevance.NOT_RELEVANT, "?": Relevance.UNSURE}
"""Any other character is a card that has its verdict from another run."""


def add(session: Session, study: Study, folder: Path, now: datetime) -> None:
    """Import the runs in `folder` beside those of the study, and rate them all."""
    guidelines = (folder / "guidelines.md").read_text("utf-8").strip()
    switched = replace(studies.switches(study), guidelines=guidelines)
    studies.set_switches(session, study, switched, now)
    runs = {
        run.search_method or "": run.id
        for run in session.scalars(select(Run).where(Run.study_id == study.id))
    }
    for path in sorted((folder / "runs").glob("*.json")):
        read = json_runs.read(path.name, path.read_bytes())
        runs[path.stem] = imports.store(session, study, read, Labels(), now).id
    owner = studies.raters(session, study)[0]
    for place, rated in enumerate(json.loads((folder / "ratings.json").read_text("utf-8"))):
        rater = owner if place == 0 else studies.add_rater(session, study, rated["name"], now)
        if place == 0:
            studies.rename_rater(session, owner, rated["name"], now)
        _rate(session, rater, {runs[name]: said for name, said in rated["runs"].items()}, now)


def _rate(
    session: Session, rater: Rater, rated: dict[str, dict[str, list[Any]]], now: datetime
) -> None:
    """Give a rater's ratings, as `seeds/finished.py` writes them, in one sitting.

    The figures are summed up once at the end, not after each click, for which a start would wait.
    """
    in_runs = Query.run_id.in_(rated)
    queries = {
        (one.run_id, one.query_id): one for one in session.scalars(select(Query).where(in_runs))
    }
    shown = select(Result.query_key, Result.rank, Result.judged_thing_id).join(Query)
    things = {(key, rank): thing for key, rank, thing in session.execute(shown.where(in_runs))}
    clicks = count(1)

    def say(target: Target, said: str | int) -> None:
        number = next(clicks)
        click = Click(f"demo-{rater.id}-{number}", now + number * PACE)
        events.record(session, rater, target, str(said), click)

    for run_id, questions in rated.items():
        for number, (verdicts, quality, notes, outcome) in questions.items():
            query = queries[run_id, int(number)]
            for rank, verdict in enumerate(verdicts, start=1):
                if said := VERDICTS.get(verdict):
                    say(Target.verdict(things[query.id, rank], query.id), said)
            say(Target.rating(query, "quality"), quality)
            if notes:
                say(Target.rating(query, "notes"), notes)
            if outcome:
                say(Target.verdict(query.emptiness_id, query.id), EmptyOutcome(outcome))
    live_metrics.refresh(session, [rater.id], in_study(rater.study))
