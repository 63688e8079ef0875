"""The whole study as the folders that the original evaluation scripts read and write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date

from msgspec.structs import replace
from sqlalchemy import select
from sqlalchemy.orm import Session, selectinload

from webapp.db.tables.runs import Query, Run
from webapp.db.tables.study import Study
from webapp.exporters.exports import csv_ratings, metrics_tables, run_folders
from webapp.exporters.exports.metrics_tables import said_unasked
from webapp.exporters.exports.run_folders import StoredRun
from webapp.i18n import gettext
from webapp.importers.runs import json_runs
from webapp.metrics.judging.figures import RunReport
from webapp.metrics.judging.queries import QueryJudgments, summarise
from webapp.records import QueryState, ReadQuery
from webapp.services.comparisons import chosen_runs
from webapp.services.judging.judged_things import from_row
from webapp.services.runs import reports
from webapp.services.runs.reports import Rule

Printer = Callable[[Session, Study, str, Rule], bytes]
"""Makes the page on which a run is rated without a server."""


def tree(
    session: Session, study: Study, rule: Rule, to_rate: Printer | None
) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """Return the study's runs with their judgments under `rule`, as files by path.

    Beside them come the warnings on data that no file holds.
    """
    # Whole runs, with their questions and cards, in a few statements.
    whole = (
        selectinload(Run.queries).joinedload(Query.question),
        selectinload(Run.queries, Query.results),
    )
    rows = session.scalars(select(Run).where(Run.study_id == study.id).options(*whole)).all()
    stored = {run.id: run for run in rows}
    runs = run_folders.in_order(_stored(run) for run in rows)
    names = run_folders.names(runs)
    told = {run.id: reports.report(session, study, run.id, rule) for run in runs}
    files: dict[str, bytes] = {}
    notes: list[str] = []
    for run in runs:
        at, report = names[run.id], told[run.id]
        raw, data = at.path("test_results_{moment}.json"), run_folders.run_file(run)
        files[raw] = files[f"{at.folder}/test_results_latest.json"] = data
        notes += _unsaid(stored[run.id], raw, data)
        files[at.path("evaluation_template_{day}.csv")] = csv_ratings.rated_csv(_unrated(report))
        if to_rate is not None:
            files[at.path("evaluation_{day}.html")] = to_rate(session, study, run.id, rule)
        if is_rated(report):
            files[at.path("evaluation_rated_{day}.csv")] = csv_ratings.rated_csv(report)
        files[at.path("full_responses_{day}.txt")] = run_folders.responses(run)
    notes += dict.fromkeys(said for run in runs for said in said_unasked(told[run.id].unasked))
    rated = [run for run in runs if is_rated(told[run.id])]
    if rated:
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
        report_path = f"evaluation_report_{_day(rated)}.md"  # dated with the newest run
        files[report_path] = metrics_tables.runs_markdown(listed)
        files |= _comparisons(session, study, rule, {run.id: run for run in rated})
    return dict(sorted(files.items())), tuple(notes)


def _stored(run: Run) -> StoredRun:
    return StoredRun(
        id=run.id,
        session_key=run.session_key,
        queries=tuple(
            ReadQuery(
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
            for query in run.queries
        ),
        search_method=run.search_method,
        llm=run.llm,
        timestamp=run.timestamp,
        total_questions=run.total_questions,
        extra=run.extra,
    )


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
    rows = []
    for row in report.rows:
        verdicts = (None,) * row.summary.results_count
        nothing = QueryJudgments(row.summary.state, verdicts)
        summary = summarise(nothing, cannot_tell="not_relevant")  # nothing is, in a template
        rows.append(replace(row, notes="", summary=summary, verdicts=verdicts))
    return replace(report, rows=tuple(rows))


def _comparisons(
    session: Session, study: Study, rule: Rule, rated: dict[str, StoredRun]
) -> Iterator[tuple[str, bytes]]:
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
        yield f"phase{phase}_comparison_{day}.md", FORMATS["markdown"].render(compared, on)


def _day(runs: list[StoredRun]) -> str:
    days = [run_folders.moment(run.timestamp).partition("_")[0] for run in runs]
    return max((day for day in days if day.isdecimal()), default=run_folders.UNDATED)


def _unsaid(run: Run, path: str, data: bytes) -> Iterator[str]:
    """Yield the questions that reading the file again would not give as they are here."""
    read = {query.query_id: query for query in json_runs.read(path, data).queries}
    for query in run.queries:
        again = read.get(query.query_id)
        cards = tuple(from_row(result.card) for result in query.results)
        if again is None or again.state != query.state or again.cards != cards:
            yield gettext(
                "%(file)s, question %(query)s: its cards were added by hand or read by another "
                "version; the file holds the answer as it came.",
                file=path,
                query=query.query_id,
            )
