"""Machine judges work beside the requests; a server that starts goes on with their sessions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from webapp.services.machine_judges import sessions
from webapp.services.machine_judges.calls import JudgeWork

if TYPE_CHECKING:
    from flask import Flask
    from sqlalchemy.orm import Session


def left(session: Session, app: Flask) -> Iterator[tuple[JudgeWork, int]]:
    """Yield the work of every judge whose session runs, and its calls at the same time."""
    for rater_id, at_once in sessions.at_work(session):
        yield JudgeWork(rater_id, app.config["JUDGE"]), at_once
