"""Runs that were imported one after the other, for comparisons."""

from __future__ import annotations

from datetime import timedelta
from itertools import count

from sqlalchemy.orm import Session

from relevansi.db.tables.people import Rater
from relevansi.db.tables.study import Study
from relevansi.records import ReadQuery, Relevance
from relevansi.services.judging import judgments
from relevansi.services.runs import stored_runs
from relevansi.services.runs.stored_runs import Labels
from tests.conftest import NOW
from tests.services.runs.runs import click, run

NUMBERS = count()


def stored(
    session: Session,
    study: Study,
    method: str,
    *queries: ReadQuery,
    llm: str = "one",
    hour: int = 0,
) -> str:
    """Return the id of a run of `method` that was imported `hour` hours after the others."""
    read = run(*queries, method=method, name=f"{method}-{llm}-{hour}.json")
    labels = Labels(llm=llm)
    return stored_runs.store(session, study, read, labels, NOW + timedelta(hours=hour)).id


def judge(session: Session, rater: Rater, run_id: str, *rows: str) -> None:
    """Judge the results of a run: one row of "1" and "0" per question, in order."""
    for query_id, row in enumerate(rows, start=1):
        for rank, verdict in enumerate(row, start=1):
            number = f"c{next(NUMBERS)}"
            judgments.judge(
                session, rater, run_id, query_id, rank, Relevance(verdict), click(number)
            )
