"""The folder of a study: its runs with their judgments, as the first version wrote them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date

from msgspec.structs import replace
from sqlalchemy import select
from sqlalchemy.orm import Session, selectinload

from relevansi.db.tables.runs import Query, Run
from relevansi.db.tables.study import Study
from relevansi.exporters.comparisons import files as comparison_files
from relevansi.exporters.exports import csv_ratings, metrics_tables, run_folders
from relevansi.exporters.exports.judging_sentences import unsampled_sentence
from relevansi.exporters.frame.json_files import fields
from relevansi.i18n import gettext
from relevansi.importers.runs.json_runs import read as read_run
from relevansi.kinds import from_row
from relevansi.metrics.judging.figures import RunReport
from relevansi.metrics.judging.queries import QueryJudgments, Span, summarise
from relevansi.records import QueryState, ReadQuery, ReadRun
from relevansi.services.comparisons import chosen_runs, comparisons
from relevansi.services.exports.rated_runs import is_rated
from relevansi.services.runs import reports
from relevansi.services.runs.reports import Rule
from relevansi.services.runs.runs import sequence

OfflinePageRenderer = Callable[[Session, Study, str], bytes]
"""Makes the page on which a run is rated without a server."""


def tree(
    session: Session, study: Study, rule: Rule, to_rate: OfflinePageRenderer
) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """Return the study's runs with their judgments under `rule`, as files by path.

    Second come the warnings on data that no file holds.
    """
    # Whole runs, with their questions and cards, in a few statements.
    rows = session.scalars(
        select(Run)
        .where(Run.study_id == study.id)
        .options(selectinload(Run.queries).joinedload(Query.question))
        .options(selectinload(Run.queries, Query.results))
    )
    runs = run_folders.in_order(map(_read_run_of, sorted(rows, key=sequence)))
    names = run_folders.names(runs)
    report_of = {run.name: reports.report(session, study, run.name, rule) for run in runs}
    files: dict[str, bytes] = {}
    notes: list[str] = []
    for run in runs:
        at, report = names[run.name], report_of[run.name]
        raw, data = at.path("test_results_{moment}.json"), run_folders.run_file(run)
        files[raw] = files[f"{at.folder}/test_results_latest.json"] = data
        notes += _differing_answers(run, raw, data)
        files[at.path("evaluation_template_{day}.csv")] = csv_ratings.rated_csv(_unrated(report))
        files[at.path("evaluation_{day}.html")] = to_rate(session, study, run.name)
        if is_rated(report):
            files[at.path("evaluation_rated_{day}.csv")] = csv_ratings.rated_csv(report)
        files[at.path("full_responses_{day}.txt")] = run_folders.responses(run)
    notes += dict.fromkeys(
        note for run in runs for note in unsampled_sentence(report_of[run.name].unasked)
    )
    rated = {run.name: run for run in runs if is_rated(report_of[run.name])}
    if rated:
        described = []
        for name, run in rated.items():
            title = run_folders.run_title(run.search_method, run.llm, run.timestamp)
            described.append((title, reports.report_in_words(session, study, name, rule)))
        # Dated with the newest run.
        report_file = f"evaluation_report_{_day(rated.values())}.md"
        files[report_file] = metrics_tables.runs_markdown(described)
        files |= _comparisons(session, study, rule, rated)
    return dict(sorted(files.items())), tuple(notes)


def _read_run_of(run: Run) -> ReadRun:
    """Return a stored run as one is read; it is called by its id."""
    return ReadRun(
        file_format="v1",
        name=run.id,
        sha256="",
        queries=tuple(
            ReadQuery(
                **fields(query, "query_id", "response", "claimed_count", "error", "extra"),
                **fields(query.question, "category", "context_dependent"),
                question=query.question.text,
                state=QueryState(query.state),
                cards=tuple(from_row(result.card) for result in query.results),
            )
            for query in run.queries
        ),
        **fields(run, "search_method", "llm", "timestamp", "total_questions", "extra"),
        key=run.session_key,
    )


def _unrated(report: RunReport) -> RunReport:
    """Return the report as it was before any rating: the template to be filled in."""
    rows = []
    for row in report.rows:
        verdicts = (None,) * row.summary.results_count
        unjudged = QueryJudgments(row.summary.state, verdicts)
        summary = summarise(unjudged, cannot_tell="not_relevant")  # no verdict, so either way
        summary = summary.with_figures(dict.fromkeys(row.summary.ranking, Span.settled(None)))
        rows.append(replace(row, notes="", summary=summary, verdicts=verdicts))
    return replace(report, rows=tuple(rows))


def _comparisons(
    session: Session, study: Study, rule: Rule, rated: Mapping[str, ReadRun]
) -> Iterator[tuple[str, bytes]]:
    for phase in chosen_runs.phases_of(session, study):
        ids = [run for run in chosen_runs.of_phase(session, study, phase) if run in rated]
        if len(ids) < chosen_runs.MIN_RUNS:
            continue
        compared = comparisons.report(session, study, ids, rule, with_agreement=True)
        day, markdown = _day(rated[run] for run in ids), comparison_files.FORMATS["markdown"]
        # Runs without a date get a fixed one, since equal data give equal files.
        on = date.fromisoformat(day) if day.isdecimal() else date.min
        yield f"phase{phase}_comparison_{day}.md", markdown.render(compared, on)


def _day(runs: Iterable[ReadRun]) -> str:
    """Return the latest day among those that the runs state, as files are named by it."""
    days = [run_folders.moment(run.timestamp).partition("_")[0] for run in runs]
    return max((day for day in days if day.isdecimal()), default=run_folders.UNDATED)


def _differing_answers(run: ReadRun, path: str, data: bytes) -> Iterator[str]:
    """Yield a warning on each question that the file, read again, would not give as it is here."""
    read = {query.query_id: query for query in read_run(path, data).queries}
    for query in run.queries:
        again = read.get(query.query_id)
        if again is None or (again.state, again.cards) != (query.state, query.cards):
            yield gettext(
                "%(file)s, question %(query)s: its cards were added by hand or read by another "
                "version; the file holds the answer as it came.",
                file=path,
                query=query.query_id,
            )
