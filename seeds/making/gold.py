"""The demo's gold questions, and the decisions by hand on the cards of three runs."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.db.tables.runs import Run
from relevansi.db.tables.study import Study
from relevansi.services.gold import constraints, gold
from relevansi.services.study import studies


def add(session: Session, study: Study, folder: Path, now: datetime) -> None:
    """Import the gold questions, and the decisions on the runs whose files list properties."""
    owner = studies.raters(session, study)[0]
    decisions = json.loads((folder / "decisions.json").read_text("utf-8"))
    first = select(Run).where(Run.study_id == study.id).order_by(Run.timestamp)
    runs: dict[str | None, Run] = {}
    for run in session.scalars(first):
        runs.setdefault(run.search_method, run)
    (set_id,) = {run.question_set_id for run in runs.values()}
    data = (folder / "gold.json").read_bytes()
    gold.import_file(session, owner, set_id, "gold.json", data, now)
    for method, decided in decisions.items():
        by_hand = json.dumps(decided).encode()
        constraints.import_manual(
            session, owner, runs[method].id, "manual_input.json", by_hand, now
        )
