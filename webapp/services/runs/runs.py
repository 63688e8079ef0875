"""Runs as their owner sees them: their progress, their labels, the cost of deleting one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import file_digest
from pathlib import Path, PureWindowsPath
from typing import Any

from msgspec import Struct
from sqlalchemy import ColumnElement, delete, func, select
from sqlalchemy.orm import Session

from webapp import failures, labels
from webapp.db.tables.base import belonging_to
from webapp.db.tables.evaluations import CardDecision, Evaluation
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
from webapp.services.study import studies
from webapp.services.study.question_sets import is_put_to_raters

UP = "up"
DOWN = "down"
STEPS = {UP: -1, DOWN: 1}


def in_order(session: Session, study: Study) -> list[Run]:
    """Return every run of the study in its order."""
    return ordered(session.scalars(select(Run).where(Run.study_id == study.id)))


def ordered(found: Iterable[Run]) -> list[Run]:
    """Return runs of one study in its order."""
    return sorted(found, key=_place)


def exchange(listed: Sequence[Run], run: Run, direction: str) -> None:
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

    ``others_lost`` are decisions by hand, in words.
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
    for run in in_order(session, rater.study):
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
    exchange(in_order(session, study), run, direction)


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


class RecordedFile(Struct, frozen=True):
    """A source file as it was recorded, with the id of what was made from it.

    ``made`` is the message that names it: "run %(id)s".
    """

    made: str
    id: str
    name: str
    sha256: str

    @property
    def base(self) -> str:
        """The name without the folders that were stated with it."""
        return PureWindowsPath(self.name).name  # which has either slash between folders


class FoundFile(Struct, frozen=True):
    """A file on the disk; ``named`` where the user named the file itself, not its folder."""

    path: Path
    sha256: str
    named: bool


class SourceComparison(Struct, frozen=True):
    """The files on the disk beside the recorded ones.

    ``differing`` are files with the name of a recorded file and other contents. ``absent`` are
    recorded files of which no file was found, ``unknown`` files that the user named and from
    which nothing was made.
    """

    equal: tuple[RecordedFile, ...]
    differing: tuple[tuple[RecordedFile, FoundFile], ...]
    absent: tuple[RecordedFile, ...]
    unknown: tuple[FoundFile, ...]


def recorded(session: Session) -> list[RecordedFile]:
    """Return every source file of the database: those of runs, then of evaluations."""
    runs = session.execute(
        select(RunFile.run_id, RunFile.name, RunFile.sha256).order_by(RunFile.id)
    )
    found = [RecordedFile(mark("run %(id)s"), *row) for row in runs]
    evaluations = session.execute(
        select(Evaluation.id, Evaluation.files).order_by(Evaluation.created_at, Evaluation.id)
    )
    for evaluation_id, files in evaluations:
        made = mark("evaluation %(id)s")
        found += [RecordedFile(made, evaluation_id, file["name"], file["sha256"]) for file in files]
    return found


def found(paths: Iterable[Path]) -> Iterator[FoundFile]:
    """Yield the files among `paths` and those in the folders among them."""
    for path in paths:
        if path.is_dir():
            inside = (one for one in sorted(path.rglob("*")) if one.is_file())
            yield from (FoundFile(one, _sha256(one), named=False) for one in inside)
        else:
            yield FoundFile(path, _sha256(path), named=True)


def compare(recorded: Sequence[RecordedFile], found: Sequence[FoundFile]) -> SourceComparison:
    """Return which of the files on the disk are the recorded ones, by their SHA-256.

    A file under another name is still the same file. A file with the name of a recorded one
    differs only where the recorded one is nowhere else and the file is not another recorded one:
    every run of the original scripts has a ``test_results_latest.json``.
    """
    on_disk = {file.sha256 for file in found}
    known = {file.sha256 for file in recorded}
    equal = tuple(file for file in recorded if file.sha256 in on_disk)
    missed = [file for file in recorded if file.sha256 not in on_disk]
    strange = [file for file in found if file.sha256 not in known]
    differing = [
        (file, other) for file in missed for other in strange if other.path.name == file.base
    ]
    told = {file for file, _ in differing}, {other for _, other in differing}
    return SourceComparison(
        equal=equal,
        differing=tuple(differing),
        absent=tuple(file for file in missed if file not in told[0]),
        unknown=tuple(other for other in strange if other.named and other not in told[1]),
    )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
