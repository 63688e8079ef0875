"""A run with its verdicts as a file in any format."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import to_builtins
from sqlalchemy.orm import Session

from relevansi.db.tables.runs import Query
from relevansi.db.tables.study import Study
from relevansi.exporters.exports import (
    csv_ratings,
    empty_answers,
    json_results,
    judged_results,
    metrics_tables,
    run_folders,
)
from relevansi.exporters.exports.judged_results import grade_word
from relevansi.exporters.exports.judging_sentences import unsampled_sentence
from relevansi.exporters.frame.csv_cells import CsvStyle, Value, csv_bytes
from relevansi.exporters.frame.json_files import JsonValue, fields, whole_if_exact
from relevansi.exporters.frame.spreadsheets import Sheet, workbook
from relevansi.kinds import KINDS, listed_item
from relevansi.records import ExportedFile, Scale
from relevansi.services.exports.rated_runs import RatedRun, judged
from relevansi.services.exports.tool_files import TOOLS, tool_file
from relevansi.services.judging import verdicts
from relevansi.services.rating import particulars
from relevansi.services.runs import reasons, reports
from relevansi.services.runs.reports import Rule
from relevansi.services.runs.votes import provenances


def export(
    session: Session, study: Study, run_id: str, rule: Rule, file_format: str, **options: Any
) -> ExportedFile:
    """Return a run under `rule` as a file in one of ``FORMATS``, with the `options` of that format.

    Raises ``UnknownRun``; ``KeyError`` for an unknown format.
    """
    return FORMATS[file_format](RatedRun(session, study, run_id, rule), **options)


def _rated_csv(rated: RatedRun, *, style: CsvStyle = CsvStyle.PLAIN) -> ExportedFile:
    data = csv_ratings.rated_csv(rated.report, style=style)
    return rated.file("evaluation_rated.csv", data, *csv_ratings.remarks(rated.report))


def _wide_csv(rated: RatedRun, *, style: CsvStyle = CsvStyle.PLAIN) -> ExportedFile:
    by_rater = {name: of_rater.report for name, of_rater in rated.by_rater().items()}
    data = csv_ratings.wide_csv(rated.report, by_rater, style=style)
    return rated.file("evaluation_raters.csv", data, *csv_ratings.remarks(rated.report))


def _long_csv(rated: RatedRun, *, style: CsvStyle = CsvStyle.PLAIN) -> ExportedFile:
    """Return one line per result and empty list, by ids that stay the same.

    The first line names the columns.

    ``property`` is the property's identity, ``document`` the id of one of a collection, and
    ``content`` the number of what was shown. ``rater`` may name a merging rule; ``provenance`` then
    says where the label comes from, and is blank for one rater's own verdicts. ``relevance`` is a
    grade (1 or 0 on a binary scale), ``unsure`` or, unjudged, blank. An empty list has no rank, its
    outcome as ``relevance``, and as ``evidence`` the identities of what was looked up and fits.
    ``reason`` says why an item is not relevant; of several raters all that were given. ``seconds``
    is the time from the rater's verdict before, where it is known and no break.
    """
    rater, of_collection = rated.rule.rater, KINDS[rated.study.kind].of_collection
    in_run, scale = Query.run_id == rated.run_id, Scale.stored(rated.study.scale)
    origins: Mapping[int, str] = {}
    seconds: Mapping[tuple[int, int], float] = {}
    if rater is None:
        settled = rated.rule.name == reports.ADJUDICATED
        origins = provenances(rated.session, rated.study, in_run, adjudicated=settled)
    elif of_collection:
        seconds = reports.seconds(rated.session, in_run, [rater])
    name = rated.rated_by if rater or of_collection else rated.rule.name
    rows: list[Sequence[Value]] = [csv_ratings.LONG_COLUMNS]
    if of_collection:
        rows = [csv_ratings.LONG_COLUMNS_OF_DOCUMENTS]
    by_query = reports.empty_answers(rated.session, rated.study, in_run, rated.rule)
    empty = {answer.emptiness: answer for answer in by_query.values()}
    for result in judged(rated, with_empty=True):
        if (result.rank is None and not result.is_emptiness) or result.is_below:
            continue
        item: tuple[Value, ...] = (
            result.docno if of_collection else result.identity,
            result.content,
            result.title,
            result.verdict,
        )
        answer = empty.get(result.judged_item_id)
        if result.is_emptiness:
            item = ("", None, "", answer.outcome.value if answer else None)
        cells: tuple[Value, ...] = (
            *(rated.run_id, name, result.query_id, result.rank, *item),
            origins.get(result.judged_item_id),
            "; ".join(fitting.identity for fitting in answer.evidence) if answer else None,
            result.reason,
        )
        if of_collection:
            gap = seconds.get((rater.id, result.judged_item_id)) if rater else None
            cells = (*cells, grade_word(result.verdict, scale), gap)
        rows.append(cells)
    return rated.file("judgments.csv", csv_bytes(rows, style=style), *rated.unsampled_sentence)


def _spreadsheet(rated: RatedRun) -> ExportedFile:
    """Return the rated CSV's cells as an XLSX workbook: numbers unrounded, no formulas."""
    report = rated.report
    columns, rows = csv_ratings.columns_of(report), csv_ratings.rated_rows(report)
    data = workbook([Sheet("ratings", columns, rows)])
    return rated.file("evaluation_rated.xlsx", data, *csv_ratings.remarks(report))


def _report(rated: RatedRun) -> ExportedFile:
    """Return the report of the run: its figures, what they mean, and the references."""
    name = run_folders.run_title(rated.run.search_method, rated.run.llm, rated.run.timestamp)
    data = metrics_tables.runs_markdown([(name, rated.report_in_words())])
    return rated.file("evaluation_report.md", data)


def _qrels(rated: RatedRun, *, unjudged: bool = False) -> ExportedFile:
    """Return the judgments in TREC form; `unjudged` results with the grade -1."""
    text, notes = judged_results.qrels(judged(rated), unjudged=unjudged)
    return rated.file("qrels.txt", text.encode(), *notes, *rated.unsampled_sentence)


def _run_file(rated: RatedRun) -> ExportedFile:
    """Return the ranked lists in TREC form, tagged with the run's id."""
    text = judged_results.run_file(judged(rated), tag=rated.run_id)
    return rated.file("run.txt", text.encode(), *rated.unsampled_sentence)


def _run_json(rated: RatedRun, *, texts: bool = False) -> ExportedFile:
    """Return the run with every card, all its details and verdict as one JSON document.

    Details that only a listing's record has are in it, even if raters may not see them. A result's
    ``relevance`` is a grade (1 or 0 on a binary scale), "unsure" or, unjudged, null; ``reason`` is
    there only where one was given why it is not relevant. Whole areas
    and grades are whole numbers. ``not_asked`` is there only where a sample left questions out,
    ``holes`` where results at these ranks could not be read, ``searches`` and ``evidence`` (ids)
    where an empty list has an outcome. Of a collection, ``kind``, ``scale``
    and ``merging`` are stated, ``external_id`` for each question, and the `texts` of documents only
    where they are wanted.
    """
    session, study, run_id, rule = rated.session, rated.study, rated.run_id, rated.rule
    kind, scale, run = KINDS[study.kind], Scale.stored(study.scale), rated.run
    without = () if texts else ("text",)
    ratings = reports.verdicts_under(session, study, Query.run_id == run_id, rule)
    blindness = reports.blindness(session, study, Query.run_id == run_id, rule)
    holes = verdicts.holes(session, Query.run_id == run_id)
    empty = reports.empty_answers(session, study, Query.run_id == run_id, rule)
    unasked = reports.unasked(session, run_id)
    head: dict[str, JsonValue] = {
        "run": run.id,
        **fields(run, "search_method", "llm"),
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
    if kind.of_collection:
        head |= {"kind": study.kind, "scale": to_builtins(scale)}
        head["merging"] = scale.merging(study.merging)
    scope = reports.asked_of(run_id)
    why = reasons.under(session, study, verdicts.judged_items(scope), rule, ratings)
    queries = (
        {
            "query_id": query.query_id,
            **({"external_id": query.external_id} if kind.of_collection else {}),
            "question": query.text,
            "category": query.category,
            **fields(query, "response", "state"),
            "empty_outcome": ratings.outcome(query.emptiness_id),
            **empty_answers.answer_json(empty.get(query.id)),
            "quality": whole_if_exact(ratings.quality.get(query.id)),
            "notes": ratings.notes.get(query.id, ""),
            "question_note": query.note or "",
            "results": [
                json_results.result_json(
                    result.rank,
                    listed_item(result.card, result.shared),
                    scale.numbers[ratings.by_item.get(result.judged_item_id)],
                    details.get(result.rank),
                    reason=why.get(result.judged_item_id),
                    without=without,
                )
                for result in results
            ],
            **({"holes": [*holes[query.id]]} if query.id in holes else {}),
        }
        for query, results, details in particulars.of_run(session, run, scope, with_record=True)
    )
    data = json_results.json_of_queries(head, queries)
    return rated.file("run.json", data, *unsampled_sentence(unasked))


FORMATS: Mapping[str, Callable[..., ExportedFile]] = {
    "csv": _rated_csv,
    "wide-csv": _wide_csv,
    "long-csv": _long_csv,
    "xlsx": _spreadsheet,
    "report": _report,
    "qrels": _qrels,
    "run": _run_file,
    "json": _run_json,
    **{form: partial(tool_file, form=form) for form in TOOLS},
}
