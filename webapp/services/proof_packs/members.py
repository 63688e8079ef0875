"""The members of a proof pack, computed again from its lists and judgments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from webapp.exporters.comparisons.json_file import comparison_json
from webapp.exporters.exports import csv_ratings, json_runs, trec
from webapp.exporters.exports.csv_ratings import JudgedResult
from webapp.exporters.exports.metrics_tables import metrics_json
from webapp.exporters.exports.trec import TrecResult
from webapp.importers.proof_packs.pack import ManifestRun
from webapp.metrics.comparisons.comparisons import compare
from webapp.metrics.comparisons.report import ComparisonReport, RaterShare
from webapp.metrics.comparisons.significance import Resampling
from webapp.metrics.comparisons.stability import stability
from webapp.metrics.judging.summaries import QueryJudgments, QueryRow, RunReport, summarise
from webapp.metrics.proof_packs import proof_files
from webapp.metrics.proof_packs.evidence import ShownQuery, ShownRun
from webapp.records import EmptyOutcome, Relevance
from webapp.services.proof_packs.packed_evidence import PackedRuns

Spot = tuple[int, int]
"""A query's number and a rank."""

RECOMPUTED = ("rule", "raters", "settings", "composite", "runs", "differences", "stability")
"""The keys of a comparison that follow from the verdicts; others name the study and its times."""

SINCE_THEN = ("signed_rank",)
"""The keys that follow from them too, but are not in the first packs."""


@dataclass(frozen=True, slots=True)
class Otherwise:
    """The judgments of one member that differ from the verdicts; equal ones are left out."""

    relevance: Mapping[Spot, Relevance | None] = field(default_factory=dict)
    outcome: Mapping[int, EmptyOutcome | None] = field(default_factory=dict)
    quality: Mapping[int, float | None] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.relevance or self.outcome or self.quality)


def figures(judged: PackedRuns, run: str) -> dict[str, Any]:
    """The figures of a run under every rule."""
    return {rule: metrics_json(judged.report(run, rule)) for rule in judged.by_rule}


def tables(judged: PackedRuns, run: str, rule: str) -> dict[str, bytes]:
    """The CSV members of a run by name, merged ones under `rule`."""
    report = judged.report(run, rule)
    own = {rater: judged.report(run, f"rater {rater}") for rater in judged.raters}
    return {
        proof_files.RATED: csv_ratings.rated_csv(report),
        proof_files.RATED_BY_EACH: csv_ratings.wide_csv(report, own),
        proof_files.JUDGMENTS: csv_ratings.long_csv(_judged_results(judged, run, rule)),
    }


def trec_files(judged: PackedRuns, run: str, rule: str) -> dict[str, bytes]:
    """The TREC members of a run by name."""
    found = list(trec_results(judged.runs[run], judged.report(run, rule)))
    return {
        proof_files.QRELS: trec.qrels(found).text.encode(),
        proof_files.RUN_FILE: trec.run_file(found, tag=run).text.encode(),
    }


def run_json(judged: PackedRuns, run: ManifestRun, rule: str) -> dict[str, Any]:
    """Return the recomputable part of a run's JSON document: all but its cards and answers."""
    report = judged.report(run.run, rule)
    source = run.input_files[0]
    return {
        "run": run.run,
        "search_method": run.search_method,
        "llm": run.llm,
        "question_set": run.question_set,
        "source_file": source.name,
        "sha256": source.sha256,
        "rule": rule,
        "queries": [
            _query(query, row)
            for query, row in zip(judged.runs[run.run].queries, report.rows, strict=True)
        ],
    }


def trec_results(run: ShownRun, report: RunReport) -> Iterator[TrecResult]:
    """Yield a run's results in the form of the TREC files."""
    for query, row in zip(run.queries, report.rows, strict=True):
        seen: Counter[object] = Counter()
        for shown, verdict in zip(query.results, row.verdicts, strict=True):
            seen[shown.thing] += 1
            doc_id = f"{shown.thing.property_id}/{shown.thing.content}"
            repetition = seen[shown.thing]
            yield TrecResult(query.query_id, shown.rank, doc_id, verdict, repetition)


def comparison(
    judged: PackedRuns,
    runs: Sequence[str],
    names: Mapping[str, str],
    rule: str,
    settings: Resampling,
) -> dict[str, Any]:
    """Return the recomputable part of a comparison of `runs`; ``names`` are as stated."""
    found = judged.compared(runs, names, rule)
    report = ComparisonReport(
        study="",
        phase=None,
        comparison=compare(found.runs, rule=rule, settings=settings),
        stability=stability(
            found.runs, without_rater=found.without_rater, other_rules=found.other_rules
        ),
        raters=tuple(RaterShare(name, judgments) for name, judgments in found.shares.items()),
        judged_until=None,
        blind=False,
        unblinded=(),
        version="",
    )
    document = comparison_json(report)
    return {key: document[key] for key in (*RECOMPUTED, *SINCE_THEN, "questions")}


def judged_otherwise(report: RunReport, otherwise: Otherwise) -> RunReport:
    """Return `report` with the differing judgments of one member in place of its own."""
    return replace(report, rows=tuple(_changed(row, otherwise) for row in report.rows))


def _changed(row: QueryRow, otherwise: Otherwise) -> QueryRow:
    verdicts = tuple(
        otherwise.relevance.get((row.query_id, rank), verdict)
        for rank, verdict in enumerate(row.verdicts, start=1)
    )
    summary = row.summary
    judgments = QueryJudgments(
        state=summary.state,
        verdicts=verdicts,
        empty_outcome=otherwise.outcome.get(row.query_id, summary.empty_outcome),
        quality=otherwise.quality.get(row.query_id, summary.quality),
    )
    return replace(row, summary=summarise(judgments), verdicts=verdicts)


def _judged_results(judged: PackedRuns, run: str, rule: str) -> Iterator[JudgedResult]:
    report, origins = judged.report(run, rule), judged.origins(rule)
    for query, row in zip(judged.runs[run].queries, report.rows, strict=True):
        for shown, verdict in zip(query.results, row.verdicts, strict=True):
            yield JudgedResult(
                run=run,
                rater=rule.removeprefix("rater "),
                query_id=query.query_id,
                rank=shown.rank,
                property_id=shown.thing.property_id or "",
                content=shown.thing.content,
                title=shown.title,
                relevance=verdict,
                provenance=origins.get(shown.thing),
            )


def _query(query: ShownQuery, row: QueryRow) -> dict[str, Any]:
    outcome = row.summary.empty_outcome
    return {
        "query_id": query.query_id,
        "question": query.question,
        "category": query.category,
        "state": query.state.value,
        "empty_outcome": outcome.value if outcome else None,
        "quality": json_runs.whole(row.summary.quality),
        "notes": row.notes,
        "results": [
            {"rank": shown.rank, "title": shown.title, "relevance": json_runs.VERDICTS[verdict]}
            for shown, verdict in zip(query.results, row.verdicts, strict=True)
        ],
    }
