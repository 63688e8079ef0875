"""The order of a study's runs: in lists, tables, charts and reports alike.

The owner's order comes first; runs without a place in it follow by their method (API, Vector,
Hybrid, then the rest), then as they were imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp import labels
from webapp.db.tables.runs import Run
from webapp.db.tables.study import Study

UP = "up"
DOWN = "down"
STEPS = {UP: -1, DOWN: 1}


def in_order(session: Session, study: Study) -> list[Run]:
    """Return every run of the study in its order."""
    return ordered(session.scalars(select(Run).where(Run.study_id == study.id)))


def ordered(found: Iterable[Run]) -> list[Run]:
    """Return runs of one study in its order."""
    return sorted(found, key=_place)


def move(listed: Sequence[Run], run: Run, direction: str) -> None:
    """Exchange a run with its neighbour in `listed`, all runs of its study in order.

    The first run cannot go further up, nor the last one further down. Every run then has its
    place, so that a label that is mended later moves none of them.
    """
    wanted = list(listed)
    here = wanted.index(run)
    there = here + STEPS[direction]
    if 0 <= there < len(wanted):
        wanted[here], wanted[there] = wanted[there], wanted[here]
    for position, one in enumerate(wanted, 1):
        one.position = position


def _place(run: Run) -> tuple[bool, int, int, datetime, str]:
    placed = run.position is not None
    method = labels.place(run.search_method)
    return not placed, run.position or 0, method, run.imported_at, run.id
