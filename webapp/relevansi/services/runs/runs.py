"""Runs as their owner sees them: their progress, their labels, the cost of deleting one."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from msgspec import Struct
from sqlalchemy import ColumnElement, CompoundSelect, delete, func, select
from sqlalchemy.orm import Session

from relevansi import failures, labels
from relevansi.db.tables.base import belonging_to
from relevansi.db.tables.evaluations import CardDecision
from relevansi.db.tables.judging import JudgedItem, Judgment, QueryRating, StoredSummary
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query, Result, Run
from relevansi.db.tables.study import Question, Study
from relevansi.failures import Conflict, Missing
from relevansi.i18n import gettext, mark, ngettext
from relevansi.importers.runs import property_cards
from relevansi.kinds.property import Card
from relevansi.metrics.numbers import Latency, latency
from relevansi.records import Counts, QueryState
from relevansi.services.judging import stored_summaries
from relevansi.services.judging.judgments import UnknownQuery
from relevansi.services.judging.stored_summaries import RunProgress
from relevansi.services.rating import open_pages
from relevansi.services.runs import stored_runs
from relevansi.services.study import studies
from relevansi.services.study.question_sets import is_put_to_raters

STEPS = {"up": -1, "down": 1}


def in_order(session: Session, study: Study) -> list[Run]:
    """Return every run of the study in its order."""
    return ordered(study, session.scalars(select(Run).where(Run.study_id == study.id)))


def ordered(study: Study, runs: Iterable[Run]) -> list[Run]:
    """Return runs of a study in its order: as the owner placed them, then as they came in.

    Those of a chatbot are in the order of the original evaluation's methods before that.
    """

    def place(run: Run) -> tuple[Any, ...]:
        method = labels.method_order(run.search_method) if study.kind == Card.kind else 0
        return run.position is None, run.position or 0, method, *sequence(run)

    return sorted(runs, key=place)


def sequence(run: Run) -> tuple[int, datetime, str]:
    """Return what sorts runs as they came in; a proof pack may be of a time without a sequence."""
    return run.sequence, run.imported_at, run.id


class UnknownRun(Missing):
    message = mark("This study has no run %(name)s")
    remedy = failures.SEE_RUNS
    command_remedy = mark("`relevansi runs` lists them.")


class NotUnreadable(Conflict):
    """Cards can be added by hand to an unreadable answer only."""

    message = mark("This answer has its cards already")
    remedy = failures.RELOAD


class RunOverview(Struct, frozen=True):
    run: Run
    counts: Counts
    progress: RunProgress
    first_open: int | None


class RunPage(Struct, frozen=True):
    """One run in full, with one rater's progress.

    ``queries`` are by query id: ``position`` of the question, whether it ``is_asked`` and whether
    it ``is_open``, missing something of the rater's. ``missing_questions`` were not run.
    """

    overview: RunOverview
    missing_questions: list[tuple[int, str]]
    queries: dict[int, Any]


def find(session: Session, study: Study, run_id: str) -> Run:
    """Return a run of the study; raises ``UnknownRun``."""
    run = session.scalar(select(Run).where(Run.id == run_id, Run.study_id == study.id))
    if run is None:
        raise UnknownRun(run_id)
    return run


def overviews(session: Session, rater: Rater) -> list[RunOverview]:
    """Return the study's runs in their order, with `rater`'s progress."""
    return [_overview(session, rater, run) for run in in_order(session, rater.study)]


def run_page(session: Session, rater: Rater, run_id: str) -> RunPage:
    """Return a run with its figures, queries and files; raises ``UnknownRun``."""
    run = find(session, rater.study, run_id)
    session.refresh(run, ["files"])
    here = select(Query.question_id).where(Query.run_id == run.id)
    missing = (
        select(Question.position, Question.text)
        .where(Question.question_set_id == run.question_set_id, Question.id.not_in(here))
        .order_by(Question.position)
    )
    is_asked = is_put_to_raters(Question.id)
    is_open = (stored_summaries.is_open() & is_asked).label("is_open")
    queries = (
        select(Query.query_id, Question.position, is_open, is_asked.label("is_asked"))
        .join_from(StoredSummary, Query, Query.id == StoredSummary.query_key)
        .join(Question)
        .where(StoredSummary.rater_id == rater.id, StoredSummary.run_id == run.id)
        .order_by(Query.id)
    )
    return RunPage(
        overview=_overview(session, rater, run),
        missing_questions=[(position, text) for position, text in session.execute(missing)],
        queries={row.query_id: row for row in session.execute(queries)},
    )


def latency_of(session: Session, run_id: str) -> Latency | None:
    """Return how long the chatbot took for the answers of a run, where the file states it."""
    extras = session.scalars(select(Query.extra).where(Query.run_id == run_id))
    return latency(extra.get("latency_ms") for extra in extras)


def relabel(
    session: Session,
    study: Study,
    run_id: str,
    search_method: str | None,
    llm: str | None,
    now: datetime,
) -> None:
    """Give a run other labels, logged; the file's hash and its own labels are kept."""
    run = find(session, study, run_id)
    if search_method != run.search_method:
        old, run.search_method = run.search_method, search_method
        studies.log(session, study, "relabel method", run.id, old, search_method, now)
    if llm != run.llm:
        old, run.llm = run.llm, llm
        studies.log(session, study, "relabel llm", run.id, old, llm, now)


def move(session: Session, study: Study, run_id: str, direction: str) -> None:
    """Put a run one place up or down in the study's order; raises ``UnknownRun``.

    The first run cannot go further up, nor the last one further down. Every run then has its
    place, so that a label that is mended later moves none of them.
    """
    listed = in_order(session, study)
    here = listed.index(find(session, study, run_id))
    target = here + STEPS[direction]
    if 0 <= target < len(listed):
        listed[here], listed[target] = listed[target], listed[here]
    for position, run in enumerate(listed, 1):
        run.position = position


def deletion_cost(session: Session, study: Study, run_id: str) -> tuple[list[str], list[str]]:
    """Return what goes with a run, and what stays, in words with the numbers of all raters."""
    run = find(session, study, run_id)
    of_run = Query.run_id == run.id
    of_answers = select(func.count()).select_from(Query).where(of_run)
    of_items = select(func.count()).select_from(JudgedItem).join(Judgment)
    of_items = of_items.where(Judgment.verdict.is_not(None))
    pooled = JudgedItem.id.in_(items_shown(of_run)) & JudgedItem.run_id.is_(None)
    questions = session.scalar(of_answers) or 0
    ratings = session.scalar(of_answers.join(QueryRating)) or 0
    own_judgments = session.scalar(of_items.where(JudgedItem.run_id == run.id)) or 0
    decisions = session.scalar(of_answers.join(CardDecision)) or 0
    pooled_judgments = session.scalar(of_items.where(pooled)) or 0
    goes = [
        ngettext("the run with its %(n)s question", "the run with its %(n)s questions", questions),
        ngettext("%(n)s grade or note on an answer", "%(n)s grades and notes on answers", ratings),
        ngettext(
            "%(n)s judgment on a question that depends on its conversation",
            "%(n)s judgments on questions that depend on their conversation",
            own_judgments,
        ),
    ]
    if decisions:
        goes.append(
            ngettext(
                "%(n)s decision by hand on a card checked against gold questions",
                "%(n)s decisions by hand on cards checked against gold questions",
                decisions,
            )
        )
    stays = ngettext(
        "%(n)s judgment on a property: it counts for every run that shows it",
        "%(n)s judgments on properties: they count for every run that shows them",
        pooled_judgments,
    )
    return goes, [stays, gettext("the log of every click")]


def delete_run(session: Session, study: Study, run_id: str, now: datetime) -> None:
    """Delete a run with the judgments that belong to it alone; pooled ones and events stay."""
    run = find(session, study, run_id)
    labels = f"{run.search_method or '-'} / {run.llm or '-'}"
    studies.log(session, study, "delete run", run.id, labels, None, now)
    own_items = select(JudgedItem.id).where(JudgedItem.run_id == run.id).scalar_subquery()
    for column in belonging_to(JudgedItem.id):
        session.execute(delete(column.table).where(column.in_(own_items)))
    # What belongs to a query or a run goes with it; the results of queries refer to judged items.
    session.execute(delete(Query).where(Query.run_id == run.id))
    session.execute(delete(JudgedItem).where(JudgedItem.run_id == run.id))
    session.execute(delete(Run).where(Run.id == run.id))
    session.expire_all()


def add_cards(
    session: Session, study: Study, run_id: str, query_id: int, text: str, now: datetime
) -> int:
    """Give an unreadable answer its cards, in the chatbot's own form; return how many were read."""
    run = find(session, study, run_id)
    query = session.scalar(select(Query).where(Query.run_id == run.id, Query.query_id == query_id))
    if query is None:
        raise UnknownQuery(run_id, query_id)
    if query.state != QueryState.UNREADABLE:
        raise NotUnreadable
    cards = property_cards.parse(text)
    if cards:
        stored_runs.add_cards(session, query, cards)
        query.state = str(QueryState.RESULTS)
        studies.log(session, study, "add cards", f"{run.id}/{query_id}", "0", str(len(cards)), now)
        raters = [rater.id for rater in studies.people_and_machines(session, study)]
        stored_summaries.refresh(session, raters, Query.id == query.id)
    return len(cards)


def _overview(session: Session, rater: Rater, run: Run) -> RunOverview:
    categories = stored_summaries.by_category(session, rater.id, run.id)
    row = StoredSummary
    rows = session.execute(
        select(row.state, func.count(), func.sum(row.results_count))
        .where(row.rater_id == rater.id, row.run_id == run.id)
        .group_by(row.state)
    ).all()
    states = {state: n_queries for state, n_queries, _ in rows}
    return RunOverview(
        run=run,
        counts=stored_runs.counts_of(states, sum(n_cards for _, _, n_cards in rows)),
        progress=RunProgress.together(categories.values()),
        first_open=open_pages.first_open(session, rater, run.id),
    )


def items_shown(scope: ColumnElement[bool]) -> CompoundSelect[int | None]:
    """Return the statement over the judged items that answers show or left empty."""
    items = select(Result.judged_item_id).join(Query).where(scope)
    items = items.where(Result.judged_item_id.is_not(None))
    return items.union(select(Query.emptiness_id).where(scope, Query.emptiness_id.is_not(None)))
