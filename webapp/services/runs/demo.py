"""The demo's further runs and raters: five runs rated to the end by three people, one begun."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path

from msgspec.structs import replace
from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp.db.tables.runs import Run
from webapp.db.tables.study import Study
from webapp.importers.runs import json_runs
from webapp.records import Relevance
from webapp.services.rating import question_notes
from webapp.services.runs import imports, samples
from webapp.services.runs.imports import Labels
from webapp.services.runs.samples import SampleRating
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
    notes = json.loads((folder / "notes.json").read_text("utf-8"))
    typed = {
        question.id: notes.get(str(question.position), "")
        for one in question_notes.notes(session, study)
        for question in one[1]
    }
    question_notes.put(session, study, typed, now)
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
        given = [
            SampleRating(
                name=f"demo-{rater.id}-{runs[name]}-{number}",
                run_id=runs[name],
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
        samples.rate(session, rater, given, now, PACE, blind=place > 0)
