"""A rated run as the files people and programs take away."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp.db.tables.judging import JudgedThing, Property
from webapp.db.tables.runs import Query, Result
from webapp.db.tables.study import Question, Study
from webapp.exporters.exports import csv_ratings, json_runs, metrics_tables, run_folders, trec
from webapp.exporters.exports.csv_ratings import JudgedResult
from webapp.exporters.exports.json_runs import ExportedQuery, ExportedResult, ExportedRun
from webapp.exporters.exports.metrics_tables import said_unasked
from webapp.exporters.exports.trec import TrecResult
from webapp.exporters.frame import spreadsheets
from webapp.exporters.frame.csv_cells import CsvStyle
from webapp.notation import file_day
from webapp.records import QueryState
from webapp.services.judging.judged_things import from_row
from webapp.services.judging.verdicts import Verdicts
from webapp.services.rating import particulars
from webapp.services.runs import reports, runs
from webapp.services.runs.reports import Rule
from webapp.services.study import studies


class ExportedFile(Struct, frozen=True):
    """A file to download: its name, its media type, its bytes, and the warnings on its gaps."""

    name: str
    media_type: str
    data: bytes
    notes: tuple[str, ...] = ()


class _Shown(Struct, frozen=True):
    """One result of a run as it was shown, with the property and content it counts as."""

    query_key: int
    query_id: int
    rank: int
    thing_id: int
    identity: str
    content: int
    result: ExportedResult


def export(
    session: Session, study: Study, run_id: str, rule: Rule, file_format: str
) -> ExportedFile:
    """Return a run under `rule` as a file in one of ``FORMATS``.

    Raises ``UnknownRun``; ``KeyError`` for an unknown format.
    """
    return FORMATS[file_format](session, study, run_id, rule)


def rated_csv(
    session: Session,
    study: Study,
    run_id: str,
    rule: Rule,
    *,
    style: CsvStyle = CsvStyle.PLAIN,
) -> ExportedFile:
    """Return the rated CSV, one line per query."""
    report = reports.report(session, study, run_id, rule)
    data = csv_ratings.rated_csv(report, style=style)
    name = _name(session, study, run_id, "evaluation_rated", "csv")
    return ExportedFile(name, "text/csv; charset=utf-8", data, tuple(csv_ratings.said(report)))


def wide_csv(
    session: Session,
    study: Study,
    run_id: str,
    rule: Rule,
    *,
    style: CsvStyle = CsvStyle.PLAIN,
) -> ExportedFile:
    """Return the rated CSV with further columns for each rater of the study."""
    own = {
        rater.name: reports.report(session, study, run_id, reports.of_rater(rater))
        for rater in studies.raters(session, study)
    }
    merged = reports.report(session, study, run_id, rule)
    data = csv_ratings.wide_csv(merged, own, style=style)
    name = _name(session, study, run_id, "evaluation_raters", "csv")
    return ExportedFile(name, "text/csv; charset=utf-8", data, tuple(csv_ratings.said(merged)))


def long_csv(
    session: Session,
    study: Study,
    run_id: str,
    rule: Rule,
    *,
    style: CsvStyle = CsvStyle.PLAIN,
) -> ExportedFile:
    """Return one line per result, by ids that stay the same."""
    origins = _origins(session, study, run_id, rule)
    rows = [
        JudgedResult(
            run=run_id,
            rater=studies.called(rule.rater) if rule.rater else rule.name,
            query_id=shown.query_id,
            rank=shown.rank,
            property_id=shown.identity,
            content=shown.content,
            title=shown.result.card.title,
            relevance=shown.result.relevance,
            provenance=origins.get(shown.thing_id),
        )
        for shown in _shown(session, study, run_id, rule)
    ]
    data = csv_ratings.long_csv(rows, style=style)
    name = _name(session, study, run_id, "judgments", "csv")
    return ExportedFile(name, "text/csv; charset=utf-8", data, _notes(session, run_id))


def spreadsheet(session: Session, study: Study, run_id: str, rule: Rule) -> ExportedFile:
    """Return the rated CSV's cells as an XLSX workbook."""
    found = reports.report(session, study, run_id, rule)
    data = spreadsheets.rated_xlsx(found)
    media_type = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    name = _name(session, study, run_id, "evaluation_rated", "xlsx")
    return ExportedFile(name, media_type, data, tuple(csv_ratings.said(found)))


def report(session: Session, study: Study, run_id: str, rule: Rule) -> ExportedFile:
    """Return the report of the run: its figures, what they mean, and the references."""
    run = runs.find(session, study, run_id)
    called = run_folders.called(run.search_method, run.llm, run.timestamp)
    data = metrics_tables.runs_markdown([(called, reports.in_words(session, study, run_id, rule))])
    return ExportedFile(
        _name(session, study, run_id, "evaluation_report", "md"),
        "text/markdown; charset=utf-8",
        data,
    )


def qrels(session: Session, study: Study, run_id: str, rule: Rule) -> ExportedFile:
    """Return the judgments in TREC form."""
    file = trec.qrels(trec_results(session, study, run_id, rule))
    return ExportedFile(
        _name(session, study, run_id, "qrels", "txt"),
        "text/plain; charset=utf-8",
        file.text.encode(),
        (*file.notes, *_notes(session, run_id)),
    )


def run_file(session: Session, study: Study, run_id: str, rule: Rule) -> ExportedFile:
    """Return the ranked lists in TREC form, tagged with the run's id."""
    file = trec.run_file(trec_results(session, study, run_id, rule), tag=run_id)
    return ExportedFile(
        _name(session, study, run_id, "run", "txt"),
        "text/plain; charset=utf-8",
        file.text.encode(),
        (*file.notes, *_notes(session, run_id)),
    )


def trec_results(session: Session, study: Study, run_id: str, rule: Rule) -> Iterator[TrecResult]:
    """Yield a run's results in the form of the TREC files."""
    seen: Counter[tuple[int, int]] = Counter()
    for shown in _shown(session, study, run_id, rule):
        seen[shown.query_key, shown.thing_id] += 1
        yield TrecResult(
            query_id=shown.query_id,
            rank=shown.rank,
            doc_id=f"{shown.identity}/{shown.content}",
            relevance=shown.result.relevance,
            repetition=seen[shown.query_key, shown.thing_id],
        )


def run_json(session: Session, study: Study, run_id: str, rule: Rule) -> ExportedFile:
    """Return the run with every card, all its details and verdict as one JSON document.

    Details that only a listing's record has are in it, even if raters may not see them.
    """
    run = runs.find(session, study, run_id)
    known = particulars.of_run(session, run, with_record=True)
    results: dict[int, list[ExportedResult]] = {}
    for shown in _shown(session, study, run_id, rule):
        result = replace(shown.result, particulars=known[shown.query_key].cards[shown.rank])
        results.setdefault(shown.query_key, []).append(result)
    said = reports.verdicts_under(session, study, Query.run_id == run_id, rule)
    exported = ExportedRun(
        run=run.id,
        rule=rule.name,
        cannot_tell=study.cannot_tell,
        queries=tuple(_queries(session, run_id, results, said)),
        search_method=run.search_method,
        llm=run.llm,
        question_set=str(run.question_set_id),
        timestamp=run.timestamp,
        source_file=run.files[0].name,
        sha256=run.files[0].sha256,
        unasked=reports.unasked(session, run_id),
        blindness=reports.blindness(session, study, Query.run_id == run_id, rule),
    )
    text = json.dumps(json_runs.run_json(exported), ensure_ascii=False, indent=1)
    name = _name(session, study, run_id, "run", "json")
    return ExportedFile(name, "application/json", text.encode(), said_unasked(exported.unasked))


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


def _name(session: Session, study: Study, run_id: str, stem: str, ending: str) -> str:
    """Return the name of a file of a run: with the day of the run, else of its import.

    The id keeps runs of one day apart.
    """
    run = runs.find(session, study, run_id)
    stated = run_folders.moment(run.timestamp).partition("_")[0]
    day = stated if stated.isdecimal() else file_day(run.imported_at)
    return f"{stem}_{day}_{run_id}.{ending}"


def _notes(session: Session, run_id: str) -> tuple[str, ...]:
    return said_unasked(reports.unasked(session, run_id))


def _queries(
    session: Session, run_id: str, results: Mapping[int, list[ExportedResult]], said: Verdicts
) -> Iterator[ExportedQuery]:
    rows = session.execute(
        select(Query, Question.text, Question.category, Question.note)
        .join(Question)
        .where(reports.asked_of(run_id))
        .order_by(Query.id)
    )
    for query, text, category, note in rows:
        yield ExportedQuery(
            query_id=query.query_id,
            question=text,
            category=category,
            response=query.response,
            state=QueryState(query.state),
            results=tuple(results.get(query.id, ())),
            empty_outcome=said.outcome(query.emptiness_id),
            quality=said.quality.get(query.id),
            notes=said.notes.get(query.id, ""),
            note=note or "",
        )


def _shown(session: Session, study: Study, run_id: str, rule: Rule) -> Iterator[_Shown]:
    """Yield every result of a run with its verdict under `rule`, in run and rank order."""
    run = runs.find(session, study, run_id)
    said = reports.verdicts_under(session, study, Query.run_id == run.id, rule)
    rows = session.execute(
        select(
            Query.id,
            Query.query_id,
            Result.rank,
            Result.card,
            JudgedThing.id,
            Property.identity,
            JudgedThing.content,
        )
        .join_from(Query, Result)
        .join(JudgedThing, JudgedThing.id == Result.judged_thing_id)
        .join(Property)
        .where(reports.asked_of(run.id))
        .order_by(Query.id, Result.rank)
    )
    for key, query_id, rank, card, thing_id, identity, content in rows:
        result = ExportedResult(rank, from_row(card), said.relevance(thing_id))
        yield _Shown(key, query_id, rank, thing_id, identity, content, result)


def _origins(session: Session, study: Study, run_id: str, rule: Rule) -> Mapping[int, str]:
    """Return where each merged label comes from; empty for one rater's own verdicts."""
    if rule.rater is not None:
        return {}
    settled = rule.name == reports.ADJUDICATED
    return reports.provenances(session, study, Query.run_id == run_id, adjudicated=settled)
