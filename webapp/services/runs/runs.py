"""Runs as their owner sees them: their progress, their labels, the cost of deleting one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct
from sqlalchemy import ColumnElement, delete, func, select
from sqlalchemy.orm import Session

from webapp import failures
from webapp.db.tables.base import belonging_to
from webapp.db.tables.gold import CardDecision
from webapp.db.tables.judging import JudgedThing, Judgment, QueryRating, StoredSummary
from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Query, Result, Run, RunFile
from webapp.db.tables.study import Question, Study
from webapp.failures import Conflict, Missing
from webapp.i18n import gettext, mark, ngettext
from webapp.metrics.runs.provenance import Latency, latency
from webapp.records import Card, Counts, QueryState, ReadQuery
from webapp.services.judging import live_metrics
from webapp.services.judging.events import UnknownQuery
from webapp.services.judging.judged_things import Pool
from webapp.services.judging.live_metrics import Standing
from webapp.services.rating import pages
from webapp.services.runs import order
from webapp.services.study import studies
from webapp.services.study.unasked import is_put_to_raters


class UnknownRun(Missing):
    """The study has no such run."""

    message = mark("This study has no run %(name)s")
    remedy = failures.SEE_RUNS
    command_remedy = mark("`relevansi runs` lists them.")


class NotUnreadable(Conflict):
    """Cards can be added by hand to an unreadable answer only."""

    message = mark("This answer has its cards already")
    remedy = failures.RELOAD


class RunOverview(Struct, frozen=True):
    """One run in a list: its labels, its counts and the rater's progress in it."""

    id: str
    search_method: str | None
    llm: str | None
    timestamp: str | None
    imported_at: datetime
    counts: Counts
    standing: Standing
    first_open: int | None


class QueryLine(Struct, frozen=True):
    """One query of a run: its question's position in the set, and whether it misses anything.

    A question that the study does not ask misses nothing.
    """

    query_id: int
    position: int
    is_open: bool
    is_asked: bool = True


class SourceFile(Struct, frozen=True):
    """A file the run came from, with the problems its import reported (as stored)."""

    name: str
    sha256: str
    file_format: str
    imported_at: datetime
    problems: Sequence[Mapping[str, Any]]


class RunPage(Struct, frozen=True):
    """One run in full, with one rater's progress; categories in question order.

    ``latency`` is over the answers whose duration the file states, ``None`` without any.
    """

    overview: RunOverview
    stated_search_method: str | None
    stated_llm: str | None
    total_questions: int | None
    missing_questions: tuple[tuple[int, str], ...]
    categories: Mapping[str, Standing]
    queries: tuple[QueryLine, ...]
    files: tuple[SourceFile, ...]
    latency: Latency | None


class DeletionCost(Struct, frozen=True):
    """The numbers of questions and of all raters' judgments that go with a run, and that stay.

    ``others_lost`` are the losses of the wings, in words.
    """

    questions_lost: int
    judgments_lost: int
    ratings_lost: int
    judgments_kept: int
    others_lost: tuple[str, ...]

    def losses(self) -> list[str]:
        """The parts that are deleted with the run, in words."""
        return [
            ngettext(
                "the run with its %(n)s question",
                "the run with its %(n)s questions",
                self.questions_lost,
            ),
            ngettext(
                "%(n)s grade or note on an answer",
                "%(n)s grades and notes on answers",
                self.ratings_lost,
            ),
            ngettext(
                "%(n)s judgment on a question that depends on its conversation",
                "%(n)s judgments on questions that depend on their conversation",
                self.judgments_lost,
            ),
            *self.others_lost,
        ]

    def remains(self) -> list[str]:
        """The parts that stay, in words."""
        kept = ngettext(
            "%(n)s judgment on a property: it counts for every run that shows it",
            "%(n)s judgments on properties: they count for every run that shows them",
            self.judgments_kept,
        )
        return [kept, gettext("the log of every click")]


def find(session: Session, study: Study, run_id: str) -> Run:
    """Return a run of the study; raises ``UnknownRun``."""
    run = session.scalar(select(Run).where(Run.id == run_id, Run.study_id == study.id))
    if run is None:
        raise UnknownRun(run_id)
    return run


def overviews(session: Session, rater: Rater) -> list[RunOverview]:
    """Return the study's runs in their order, with `rater`'s progress."""
    found = []
    for run in order.in_order(session, rater.study):
        categories = live_metrics.by_category(session, rater.id, run.id)
        found.append(_overview(session, rater, run, Standing.together(categories.values())))
    return found


def run_page(session: Session, rater: Rater, run_id: str) -> RunPage:
    """Return a run with its figures, queries and files; raises ``UnknownRun``."""
    run = find(session, rater.study, run_id)
    categories = live_metrics.by_category(session, rater.id, run.id)
    whole = Standing.together(categories.values())
    return RunPage(
        overview=_overview(session, rater, run, whole),
        stated_search_method=run.stated_search_method,
        stated_llm=run.stated_llm,
        total_questions=run.total_questions,
        missing_questions=_missing_questions(session, run),
        categories=categories,
        queries=_lines(session, rater, run),
        files=tuple(_source_file(file) for file in run.files),
        latency=latency_of(session, run.id),
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
    for action, name, new in (
        ("relabel method", "search_method", search_method),
        ("relabel llm", "llm", llm),
    ):
        old = getattr(run, name)
        if new != old:
            studies.log(session, study, action, run.id, old, new, now)
            setattr(run, name, new)


def move(session: Session, study: Study, run_id: str, direction: str) -> None:
    """Put a run one place up or down in the study's order; raises ``UnknownRun``."""
    run = find(session, study, run_id)
    order.move(order.in_order(session, study), run, direction)


def deletion_cost(session: Session, study: Study, run_id: str) -> DeletionCost:
    """Return the cost of deleting a run: the verdicts that no other run needs."""
    run = find(session, study, run_id)
    given = select(func.count()).select_from(Judgment).where(Judgment.verdict.is_not(None))
    own = JudgedThing.run_id == run.id
    pooled = JudgedThing.id.in_(things_shown(Query.run_id == run.id)) & JudgedThing.run_id.is_(None)
    ratings = select(func.count()).select_from(QueryRating).join(Query)
    questions = select(func.count()).select_from(Query)
    return DeletionCost(
        questions_lost=session.scalar(questions.where(Query.run_id == run.id)) or 0,
        judgments_lost=session.scalar(given.join(JudgedThing).where(own)) or 0,
        ratings_lost=session.scalar(ratings.where(Query.run_id == run.id)) or 0,
        judgments_kept=session.scalar(given.join(JudgedThing).where(pooled)) or 0,
        others_lost=tuple(_decisions_lost(session, run.id)),
    )


def _decisions_lost(session: Session, run_id: str) -> list[str]:
    """Return the number of all steps that people took on the cards of a run, in words."""
    steps = select(func.count()).select_from(CardDecision).join(Query)
    lost = session.scalar(steps.where(Query.run_id == run_id))
    if not lost:
        return []
    return [
        ngettext(
            "%(n)s decision by hand on a card checked against gold questions",
            "%(n)s decisions by hand on cards checked against gold questions",
            lost,
        )
    ]


def delete_run(session: Session, study: Study, run_id: str, now: datetime) -> None:
    """Delete a run with the judgments that belong to it alone; pooled ones stay.

    The events stay in the log. The file can be imported again.
    """
    run = find(session, study, run_id)
    labels = f"{run.search_method or '-'} / {run.llm or '-'}"
    studies.log(session, study, "delete run", run.id, labels, None, now)
    own = select(JudgedThing.id).where(JudgedThing.run_id == run.id).scalar_subquery()
    keys = select(Query.id).where(Query.run_id == run.id).scalar_subquery()
    for column in belonging_to(JudgedThing.id):
        session.execute(delete(column.table).where(column.in_(own)))
    session.execute(delete(QueryRating).where(QueryRating.query_key.in_(keys)))
    session.execute(delete(StoredSummary).where(StoredSummary.run_id == run.id))
    session.execute(delete(Result).where(Result.query_key.in_(keys)))
    session.execute(delete(Query).where(Query.run_id == run.id))
    session.execute(delete(JudgedThing).where(JudgedThing.run_id == run.id))
    session.execute(delete(RunFile).where(RunFile.run_id == run.id))
    session.execute(delete(Run).where(Run.id == run.id))
    session.expire_all()


def add_cards(
    session: Session, study: Study, run_id: str, query_id: int, text: str, now: datetime
) -> int:
    """Give an unreadable answer its cards, written in the chatbot's own form.

    Returns how many cards were read; none leaves the answer as it was. Raises
    ``UnknownRun``, ``UnknownQuery`` and ``NotUnreadable``.
    """
    from webapp.importers.runs import (
        property_cards,  # not for a list of runs, which every start shows
    )

    run = find(session, study, run_id)
    query = session.scalar(select(Query).where(Query.run_id == run.id, Query.query_id == query_id))
    if query is None:
        raise UnknownQuery(run_id, query_id)
    if query.state != QueryState.UNREADABLE:
        raise NotUnreadable
    cards = property_cards.parse(text)
    if cards:
        _fill(session, query, cards)
        studies.log(session, study, "add cards", f"{run.id}/{query_id}", "0", str(len(cards)), now)
        raters = [rater.id for rater in studies.people_and_machines(session, study)]
        live_metrics.refresh(session, raters, Query.id == query.id)
    return len(cards)


def _fill(session: Session, query: Query, cards: tuple[Card, ...]) -> None:
    from webapp.services.runs import imports  # and all readers of run files

    entry = ReadQuery(
        query_id=query.query_id,
        question=query.question.text,
        category=query.question.category,
        response=query.response,
        state=QueryState.RESULTS,
        cards=cards,
    )
    imports.fill(session, Pool(session, query.run.question_set, cards), [(query, entry)])
    query.state = str(QueryState.RESULTS)


def _overview(session: Session, rater: Rater, run: Run, standing: Standing) -> RunOverview:
    return RunOverview(
        id=run.id,
        search_method=run.search_method,
        llm=run.llm,
        timestamp=run.timestamp,
        imported_at=run.imported_at,
        counts=_counts(session, rater, run),
        standing=standing,
        first_open=pages.first_open(session, rater, run.id),
    )


def _counts(session: Session, rater: Rater, run: Run) -> Counts:
    """Return what a run holds, also of questions that nobody is asked."""
    row = StoredSummary
    rows = session.execute(
        select(row.state, func.count(), func.sum(row.results_count))
        .where(row.rater_id == rater.id, row.run_id == run.id)
        .group_by(row.state)
    ).all()
    of = {QueryState(state): queries for state, queries, _ in rows}
    return Counts(
        queries=sum(of.values()),
        cards=sum(cards for _, _, cards in rows),
        with_results=of.get(QueryState.RESULTS, 0),
        empty=of.get(QueryState.EMPTY, 0),
        failed=of.get(QueryState.FAILED, 0),
        unreadable=of.get(QueryState.UNREADABLE, 0),
    )


def _missing_questions(session: Session, run: Run) -> tuple[tuple[int, str], ...]:
    """Return position and text of the set's questions that were not run."""
    asked = select(Query.question_id).where(Query.run_id == run.id)
    rows = session.execute(
        select(Question.position, Question.text)
        .where(Question.question_set_id == run.question_set_id, Question.id.not_in(asked))
        .order_by(Question.position)
    )
    return tuple((position, text) for position, text in rows)


def _lines(session: Session, rater: Rater, run: Run) -> tuple[QueryLine, ...]:
    is_asked = is_put_to_raters(Question.id)
    rows = session.execute(
        select(Query.query_id, Question.position, live_metrics.is_open() & is_asked, is_asked)
        .join_from(StoredSummary, Query, Query.id == StoredSummary.query_key)
        .join(Question)
        .where(StoredSummary.rater_id == rater.id, StoredSummary.run_id == run.id)
        .order_by(Query.id)
    )
    return tuple(
        QueryLine(query_id, position, bool(is_open), bool(asked))
        for query_id, position, is_open, asked in rows
    )


def _source_file(file: RunFile) -> SourceFile:
    return SourceFile(file.name, file.sha256, file.file_format, file.imported_at, file.problems)


def things_shown(scope: ColumnElement[bool]):  # type: ignore[no-untyped-def]
    """Return the statement over the judged things that answers show or left empty."""
    shown = select(Result.judged_thing_id).join(Query).where(scope)
    return shown.union(select(Query.emptiness_id).where(scope, Query.emptiness_id.is_not(None)))
