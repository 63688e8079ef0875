"""Stored runs with gold questions, and what their pages say."""

from __future__ import annotations

import re
from html import unescape

from sqlalchemy import func, select

from tests.conftest import NOW
from tests.services.gold.gold_files import stored_file, v2_file
from tests.services.runs.runs import click
from tests.web.conftest import made_once
from webapp.db.engine import Database
from webapp.db.tables.runs import Run
from webapp.records import EmptyOutcome, QueryState, Relevance
from webapp.services.judging import events
from webapp.services.judging.events import AnswerRating
from webapp.services.study import studies


@made_once
def stored(
    database: Database,
    listed: dict[int, list[dict[str, object]]] | None = None,
    *,
    with_gold: bool = True,
) -> str:
    """Store the made-up run, or one that lists these properties; return its id."""
    with database.writing() as session:
        study = studies.open_or_make(session, NOW)
        owner = studies.raters(session, study)[0]
        run_id = stored_file(session, study, owner, v2_file(listed), with_gold=with_gold)
        session.commit()
    return run_id


def judge_all(database: Database, run_id: str) -> None:
    """Have the owner judge every card of a run, and call its empty lists right."""
    with database.writing() as session:
        owner = studies.raters(session, studies.open_or_make(session, NOW))[0]
        for query in session.get_one(Run, run_id).queries:
            place = session, owner, run_id, query.query_id
            for result in query.results:
                made = click(f"{query.id}-{result.rank}")
                events.judge(*place, result.rank, Relevance.RELEVANT, made)
            if query.state == QueryState.EMPTY:
                right = AnswerRating(empty_outcome=EmptyOutcome.CORRECT_EMPTY)
                events.rate(*place, right, click(str(query.id)))
        session.commit()


def n_rows(database: Database, table: type) -> int:
    with database.reading() as session:
        return session.scalar(select(func.count()).select_from(table)) or 0


def text_of(html: str) -> str:
    """Return the words of the main part of a page."""
    return words(re.sub(r"(?s).*<main[^>]*>|</main>.*", "", html))


def words(html: str) -> str:
    return " ".join(unescape(re.sub("<[^>]+>", " ", html)).split())
