"""A rated run as the files people and programs take away, and the study as a tree of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Row, select
from sqlalchemy.orm import Session, selectinload

from webapp.db.tables.judging import JudgedThing, Property
from webapp.db.tables.runs import Query, Result, Run
from webapp.db.tables.study import Study
from webapp.exporters.exports import csv_ratings, metrics_tables, run_folders, trec
from webapp.exporters.exports.metrics_tables import JsonValue, said_unasked
from webapp.exporters.exports.run_folders import StoredRun
from webapp.exporters.exports.trec import TrecResult
from webapp.exporters.frame import spreadsheets
from webapp.exporters.frame.csv_cells import CsvStyle
from webapp.i18n import gettext
from webapp.importers.runs.json_runs import read as read_run
from webapp.kinds import from_row
from webapp.metrics.judging.figures import RunReport
from webapp.metrics.judging.queries import QueryJudgments, summarise
from webapp.notation import file_day
from webapp.records import QueryState, ReadQuery, Relevance
from webapp.services.comparisons import chosen_runs
from webapp.services.rating import particulars
from webapp.services.runs import reports, runs
from webapp.services.runs.reports import Rule
from webapp.services.study import studies

MEDIA_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "md": "text/markdown; charset=utf-8",
    "txt": "text/plain; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}


def is_rated(report: RunReport) -> bool:
    """Whether a run has any judgment at all."""
    return any(
        row.notes
        or row.summary.judged_count
        or row.summary.empty_outcome is not None
        or row.summary.quality is not None
        for row in report.rows
    )


class ExportedFile(Struct, frozen=True):
    """A file to download: its name, its media type, its bytes, and the warnings on its gaps."""

    name: str
    media_type: str
    data: bytes
    notes: tuple[str, ...] = ()


def export(
    session: Session, study: Study, run_id: str, rule: Rule, file_format: str
) -> ExportedFile:
    """Return a run under `rule` as a file in one of ``FORMATS``.

    Raises ``UnknownRun``; ``KeyError`` for an unknown format.
    """
    return FORMATS[file_format](session, study, run_id, rule)


def rated_csv(
    session: Session, study: Study, run_id: str, rule: Rule, *, style: CsvStyle = CsvStyle.PLAIN
) -> ExportedFile:
    """Return the rated CSV, one line per query."""
    report = reports.report(session, study, run_id, rule)
    data = csv_ratings.rated_csv(report, style=style)
    return _file(session, study, run_id, "evaluation_rated.csv", data, *csv_ratings.said(report))


def wide_csv(
    session: Session, study: Study, run_id: str, rule: Rule, *, style: CsvStyle = CsvStyle.PLAIN
) -> ExportedFile:
    """Return the rated CSV with further columns for each rater of the study."""
    own = {
        rater.name: reports.report(session, study, run_id, reports.of_rater(rater))
        for rater in studies.raters(session, study)
    }
    merged = reports.report(session, study, run_id, rule)
    data = csv_ratings.wide_csv(merged, own, style=style)
    return _file(session, study, run_id, "evaluation_raters.csv", data, *csv_ratings.said(merged))


def long_csv(
    session: Session, study: Study, run_id: str, rule: Rule, *, style: CsvStyle = CsvStyle.PLAIN
) -> ExportedFile:
    """Return one line per result, by ids that stay the same."""
    origins: Mapping[int, str] = {}
    if rule.rater is None:
        is_adjudicated = rule.name == reports.ADJUDICATED
        of_run = Query.run_id == run_id
        origins = reports.provenances(session, study, of_run, adjudicated=is_adjudicated)
    rater = studies.called(rule.rater) if rule.rater else rule.name
    rows = [
        (
            *(run_id, rater, row.query_id, row.rank, row.identity, row.content),
            *(from_row(row.card).title, said and said.value, origins.get(row.thing_id)),
        )
        for row, said in _results(session, study, run_id, rule)
    ]
    data = csv_ratings.long_csv(rows, style=style)
    return _file(session, study, run_id, "judgments.csv", data, *_unasked(session, run_id))


def spreadsheet(session: Session, study: Study, run_id: str, rule: Rule) -> ExportedFile:
    """Return the rated CSV's cells as an XLSX workbook."""
    report = reports.report(session, study, run_id, rule)
    data = spreadsheets.rated_xlsx(report)
    return _file(session, study, run_id, "evaluation_rated.xlsx", data, *csv_ratings.said(report))


def report(session: Session, study: Study, run_id: str, rule: Rule) -> ExportedFile:
    """Return the report of the run: its figures, what they mean, and the references."""
    run = runs.find(session, study, run_id)
    called = run_folders.called(run.search_method, run.llm, run.timestamp)
    data = metrics_tables.runs_markdown([(called, reports.in_words(session, study, run_id, rule))])
    return _file(session, study, run_id, "evaluation_report.md", data)


def qrels(session: Session, study: Study, run_id: str, rule: Rule) -> ExportedFile:
    """Return the judgments in TREC form."""
    text, notes = trec.qrels(trec_results(session, study, run_id, rule))
    notes = (*notes, *_unasked(session, run_id))
    return _file(session, study, run_id, "qrels.txt", text.encode(), *notes)


def run_file(session: Session, study: Study, run_id: str, rule: Rule) -> ExportedFile:
    """Return the ranked lists in TREC form, tagged with the run's id."""
    text = trec.run_file(trec_results(session, study, run_id, rule), tag=run_id)
    return _file(session, study, run_id, "run.txt", text.encode(), *_unasked(session, run_id))


def trec_results(session: Session, study: Study, run_id: str, rule: Rule) -> Iterator[TrecResult]:
    """Yield a run's results in the form of the TREC files."""
    seen: Counter[tuple[int, int]] = Counter()
    for row, said in _results(session, study, run_id, rule):
        seen[row.id, row.thing_id] += 1
        document = f"{row.identity}/{row.content}"
        yield TrecResult(row.query_id, row.rank, document, said, seen[row.id, row.thing_id])


def run_json(session: Session, study: Study, run_id: str, rule: Rule) -> ExportedFile:
    """Return the run with every card, all its details and verdict as one JSON document.

    Details that only a listing's record has are in it, even if raters may not see them. A result's
    ``relevance`` is 1, 0, "unsure" or, unjudged, null. Whole areas and grades are whole numbers.
    ``not_asked`` is there only where a sample left questions out.
    """
    run = runs.find(session, study, run_id)
    said = reports.verdicts_under(session, study, Query.run_id == run_id, rule)
    blindness = reports.blindness(session, study, Query.run_id == run_id, rule)
    unasked = reports.unasked(session, run_id)
    head: dict[str, JsonValue] = {
        "run": run.id,
        "search_method": run.search_method,
        "llm": run.llm,
        "question_set": str(run.question_set_id),
        "timestamp": run.timestamp,
        "source_file": run.files[0].name,
        "sha256": run.files[0].sha256,
        "rule": rule.name,
        "cannot_tell": study.cannot_tell,
        "blindness": metrics_tables.blindness_json(blindness),
    }
    if unasked:
        head["not_asked"] = [*unasked]
    asked = reports.asked_of(run_id)
    queries = (
        {
            "query_id": query.query_id,
            "question": query.text,
            "category": query.category,
            "response": query.response,
            "state": query.state,
            "empty_outcome": said.outcome(query.emptiness_id),
            "quality": metrics_tables.whole(said.quality.get(query.id)),
            "notes": said.notes.get(query.id, ""),
            "question_note": query.note or "",
            "results": [
                metrics_tables.result_json(
                    result.rank,
                    from_row(result.card),
                    said.relevance(result.judged_thing_id),
                    known.get(result.rank),
                )
                for result in results
            ],
        }
        for query, results, known in particulars.of_run(session, run, asked, with_record=True)
    )
    data = metrics_tables.json_of_list(head, "queries", queries)
    return _file(session, study, run_id, "run.json", data, *said_unasked(unasked))


FORMATS: Mapping[str, Callable[[Session, Study, str, Rule], ExportedFile]] = {
    "csv": rated_csv,
    "wide-csv": wide_csv,
    "long-csv": long_csv,
    "xlsx": spreadsheet,
    "report": report,
    "qrels": qrels,
    "run": run_file,
    "json": run_json,
}


def _file(
    session: Session, study: Study, run_id: str, name: str, data: bytes, *notes: str
) -> ExportedFile:
    """Return a file of a run, named with the day of the run, else of its import.

    The id keeps runs of one day apart.
    """
    run = runs.find(session, study, run_id)
    stated = run_folders.moment(run.timestamp).partition("_")[0]
    day = stated if stated.isdecimal() else file_day(run.imported_at)
    stem, _, ending = name.partition(".")
    return ExportedFile(f"{stem}_{day}_{run_id}.{ending}", MEDIA_TYPES[ending], data, notes)


def _unasked(session: Session, run_id: str) -> tuple[str, ...]:
    return said_unasked(reports.unasked(session, run_id))


def _results(
    session: Session, study: Study, run_id: str, rule: Rule
) -> Iterator[tuple[Row[Any], Relevance | None]]:
    run = runs.find(session, study, run_id)
    said = reports.verdicts_under(session, study, Query.run_id == run.id, rule)
    wanted = (
        select(
            *(Query.id, Query.query_id, Result.rank, Result.card, Property.identity),
            *(JudgedThing.id.label("thing_id"), JudgedThing.content),
        )
        .join_from(Query, Result)
        .join(JudgedThing, JudgedThing.id == Result.judged_thing_id)
        .join(Property)
        .where(reports.asked_of(run.id))
        .order_by(Query.id, Result.rank)
    )
    for row in session.execute(wanted):
        yield row, said.relevance(row.thing_id)


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
    read = {query.query_id: query for query in read_run(path, data).queries}
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
