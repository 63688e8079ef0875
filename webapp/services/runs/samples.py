"""The sample study, rated in part, and the finished study of the demo around it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from webapp import rooms
from webapp.db.tables.people import Rater
from webapp.db.tables.study import Study
from webapp.i18n import gettext, mark
from webapp.importers.runs import json_runs
from webapp.records import Click, EmptyOutcome, Relevance
from webapp.services.judging import judgments
from webapp.services.judging.judgments import KEEP, AnswerRating
from webapp.services.runs import imports
from webapp.services.runs.imports import Labels
from webapp.services.study import studies

SAMPLE_NAME = mark("Sample study")


def load(session: Session, folder: Path, now: datetime) -> Study:
    """Add the sample of `folder` (the product's ``seeds``) to the open study; return it.

    Its three runs would be rated blind; unless the owner chose otherwise they are rated run by
    run, which is logged, so that a newcomer can watch the figures of a run move. Loading it
    twice changes nothing.
    """
    is_new = studies.current(session) is None
    study = studies.open_or_make(session, now)
    if is_new:
        study.name = gettext(SAMPLE_NAME)
    if study.blind is None:
        studies.set_switches(session, study, replace(studies.switches(study), blind=False), now)
    rater = studies.raters(session, study)[0]
    by_folder = {}
    for path in sorted((folder / "runs").glob("*/*.json"), reverse=True):
        read = json_runs.read(f"{path.parent.name}/{path.name}", path.read_bytes())
        by_folder[path.parent.name] = imports.store(session, study, read, Labels(), now).id
    ratings = json.loads((folder / "ratings.json").read_text("utf-8"))["ratings"]
    for number, rating in enumerate(ratings):
        _rate(session, rater, by_folder[rating["run"]], rating, f"sample-{number}", now)
    return study


def load_demo(session: Session, folder: Path, now: datetime) -> Study:
    """Add the finished study of the demo: the sample, and what every room has beside it.

    A room brings its part in ``services/<room>/demo.py``, made by its own services from the files
    in ``demo`` of `folder`.
    """
    study = load(session, folder, now)
    for room in rooms.contributions("services", "demo"):
        room.add(session, study, folder / "demo", now)
    return study


def _rate(
    session: Session,
    rater: Rater,
    run_id: str,
    rating: dict[str, Any],
    event_id: str,
    now: datetime,
) -> None:
    query_id = rating["query_id"]
    for rank, verdict in rating.get("results", {}).items():
        click = Click(f"{event_id}-{rank}", now)
        judgments.judge(session, rater, run_id, query_id, int(rank), Relevance(verdict), click)
    outcome = rating.get("empty_outcome")
    quality = rating.get("quality")
    notes = rating.get("notes")
    said = AnswerRating(
        quality=KEEP if quality is None else quality,
        notes=notes or KEEP,
        empty_outcome=EmptyOutcome(outcome) if outcome else KEEP,
    )
    judgments.rate(session, rater, run_id, query_id, said, Click(event_id, now))
