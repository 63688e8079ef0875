"""The whole study as the folders that the original evaluation scripts read and write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import select
from sqlalchemy.orm import Session, selectinload
from sqlalchemy.orm.interfaces import ORMOption

from webapp.db.tables.runs import Query, Run
from webapp.db.tables.study import Study
from webapp.exporters.exports import csv_ratings, metrics_tables, run_folders
from webapp.exporters.exports.metrics_tables import said_unasked
from webapp.exporters.exports.run_folders import RunNames, StoredRun
from webapp.i18n import gettext
from webapp.importers.runs import json_runs
from webapp.metrics.judging.figures import QueryRow, RunReport
from webapp.metrics.judging.queries import QueryJudgments, summarise
from webapp.records import QueryState, ReadQuery
from webapp.services.comparisons import chosen_runs
from webapp.services.judging.judged_things import from_row
from webapp.services.runs import reports
from webapp.services.runs.reports import Rule

Printer = Callable[[Session, Study, str, Rule], bytes]
"""Makes the page on which a run is rated without a server."""


class TreeFile(Struct, frozen=True):
    """One file by its path below the tree's root, with ``/`` between the parts."""

    path: str
    data: bytes


class Tree(Struct, frozen=True):
    """Every file of the tree, and the warnings on data that none of them holds."""

    files: tuple[TreeFile, ...]
    notes: tuple[str, ...] = ()


def tree(session: Session, study: Study, rule: Rule, to_rate: Printer | None) -> Tree:
    """Return the study's runs with their judgments under `rule`, as files."""
    rows = select(Run).where(Run.study_id == study.id)
    stored = {run.id: run for run in session.scalars(rows.options(*_whole()))}
    runs = run_folders.in_order(_stored(run) for run in stored.values())
    names = run_folders.names(runs)
    told = {run.id: reports.report(session, study, run.id, rule) for run in runs}
    latest: dict[str, TreeFile] = {}
    files: list[TreeFile] = []
    notes: list[str] = []
    for run in runs:
        at = names[run.id]
        raw = TreeFile(at.path("test_results_{moment}.json"), run_folders.run_file(run))
        latest[at.folder] = TreeFile(f"{at.folder}/test_results_latest.json", raw.data)
        page = to_rate(session, study, run.id, rule) if to_rate else None
        files += [raw, *_beside(run, at, told[run.id], page)]
        notes += _unsaid(stored[run.id], raw)
    notes += dict.fromkeys(said for run in runs for said in said_unasked(told[run.id].unasked))
    files += latest.values()
    files += _over_all(session, study, rule, runs, told)
    return Tree(tuple(sorted(files, key=lambda file: file.path)), tuple(notes))


def _whole() -> tuple[ORMOption, ...]:
    """Return the options that load a run with its questions and cards in a few statements."""
    queries = selectinload(Run.queries)
    return queries.joinedload(Query.question), selectinload(Run.queries, Query.results)


def _stored(run: Run) -> StoredRun:
    return StoredRun(
        id=run.id,
        session_key=run.session_key,
        queries=tuple(_stored_query(query) for query in run.queries),
        search_method=run.search_method,
        llm=run.llm,
        timestamp=run.timestamp,
        total_questions=run.total_questions,
        extra=run.extra,
    )


def _stored_query(query: Query) -> ReadQuery:
    return ReadQuery(
        query_id=query.query_id,
        question=query.question.text,
        category=query.question.category,
        context_dependent=query.question.context_dependent,
        state=QueryState(query.state),
        response=query.response,
        claimed_count=query.claimed_count,
        error=query.error,
        extra=query.extra,
    )


def _beside(
    run: StoredRun, at: RunNames, report: RunReport, page: bytes | None
) -> Iterator[TreeFile]:
    """Yield the files that lie beside a run's own."""
    unrated = csv_ratings.rated_csv(_unrated(report))
    rated = csv_ratings.rated_csv(report)
    yield TreeFile(at.path("evaluation_template_{day}.csv"), unrated)
    if page is not None:
        yield TreeFile(at.path("evaluation_{day}.html"), page)
    if is_rated(report):
        yield TreeFile(at.path("evaluation_rated_{day}.csv"), rated)
    yield TreeFile(at.path("full_responses_{day}.txt"), run_folders.responses(run))


def is_rated(report: RunReport) -> bool:
    """Whether a run has any judgment at all."""
    return any(
        row.notes
        or row.summary.judged_count
        or row.summary.empty_outcome is not None
        or row.summary.quality is not None
        for row in report.rows
    )


def _unrated(report: RunReport) -> RunReport:
    """Return a run without judgments, from which the template is made."""
    return replace(report, rows=tuple(map(_unrated_row, report.rows)))


def _unrated_row(row: QueryRow) -> QueryRow:
    open_verdicts = (None,) * row.summary.results_count
    nothing = QueryJudgments(row.summary.state, open_verdicts)
    nothing_said = summarise(nothing, cannot_tell="not_relevant")  # nothing is, in a template
    return replace(row, notes="", summary=nothing_said, verdicts=open_verdicts)


def _over_all(
    session: Session,
    study: Study,
    rule: Rule,
    runs: list[StoredRun],
    told: dict[str, RunReport],
) -> Iterator[TreeFile]:
    """Yield the reports over all runs, dated with the newest of them."""
    rated = [run for run in runs if is_rated(told[run.id])]
    if not rated:
        return
    day = _day(rated)
    listed = [
        (
            run_folders.called(run.search_method, run.llm, run.timestamp),
            replace(
                told[run.id],
                blindness=reports.blindness(session, study, Query.run_id == run.id, rule),
            ),
        )
        for run in rated
    ]
    yield TreeFile(f"evaluation_report_{day}.md", metrics_tables.runs_markdown(listed))
    yield from _comparisons(session, study, rule, {run.id: run for run in rated})


def _comparisons(
    session: Session, study: Study, rule: Rule, rated: dict[str, StoredRun]
) -> Iterator[TreeFile]:
    """Yield the comparison of each phase whose runs are rated."""
    from webapp.exporters.comparisons.files import FORMATS
    from webapp.services.comparisons import comparisons  # brings numpy

    for phase in chosen_runs.phases_of(session, study):
        ids = [run for run in chosen_runs.of_phase(session, study, phase) if run in rated]
        if len(ids) < chosen_runs.FEWEST:
            continue
        compared = comparisons.report(session, study, ids, rule)
        day = _day([rated[run] for run in ids])
        # A run without a date leaves no other day that is the same at every export.
        on = date.fromisoformat(day) if day.isdecimal() else date.min
        data = FORMATS["markdown"].render(compared, on)
        yield TreeFile(f"phase{phase}_comparison_{day}.md", data)


def _day(runs: list[StoredRun]) -> str:
    days = [run_folders.moment(run.timestamp).partition("_")[0] for run in runs]
    return max((day for day in days if day.isdecimal()), default=run_folders.UNDATED)


def _unsaid(run: Run, raw: TreeFile) -> Iterator[str]:
    """Yield the questions that reading the file again would not give as they are here."""
    read = {query.query_id: query for query in json_runs.read(raw.path, raw.data).queries}
    for query in run.queries:
        again = read.get(query.query_id)
        cards = tuple(from_row(result.card) for result in query.results)
        if again is None or again.state != query.state or again.cards != cards:
            yield gettext(
                "%(file)s, question %(query)s: its cards were added by hand or read by another "
                "version; the file holds the answer as it came.",
                file=raw.path,
                query=query.query_id,
            )
