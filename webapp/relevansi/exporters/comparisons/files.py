"""A comparison as a file: every format with how it is made, its ending and its media type."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from msgspec.structs import asdict

from relevansi.exporters.comparisons import document
from relevansi.exporters.comparisons.differences import difference_json, signed_ranks_json
from relevansi.exporters.comparisons.words import file_stem, limits_of_files, parts_of
from relevansi.exporters.exports.empty_answers import answer_json, counts_json
from relevansi.exporters.exports.metrics_tables import blindness_json, spans_json, state_json
from relevansi.exporters.frame.json_files import fields, moment_json, whole_if_exact
from relevansi.exporters.frame.report_formats import formats
from relevansi.metrics.comparisons.comparisons import (
    PARTS,
    ComparedQuestionLine,
    ComparisonReport,
    Contender,
    FigureEstimate,
)
from relevansi.metrics.comparisons.differences import ComparedQuery
from relevansi.metrics.comparisons.stability import StabilityLine
from relevansi.metrics.intervals import CONFIDENCE, METHOD
from relevansi.metrics.judging.empty_answers import EmptyAnswer, counts_of
from relevansi.metrics.judging.figures import COMPOSITE_WEIGHTS, COUNTS, HEADLINES


def comparison_json(report: ComparisonReport) -> dict[str, Any]:
    """Return `report` as plain values.

    ``{study, phase, rule, cannot_tell, raters: [{name, judgments}], judged_until, blindness, state,
    badged, record_shown, suggested, wordings_opened: {times, raters}, version, settings, composite,
    runs: [...], differences: [...], signed_rank: [...], stability, questions: [...]}``, and then
    each feature's own comparison, under its name.
    A run is {id, name, search_method, llm, rated, partial, counts, missing, figures: {name:
    {value, n, interval, bounds}}, categories: {category: {name: {value, n}}}, empty_answers: what
    looking gave; not of rated files}; ``interval`` is
    that of chance, ``bounds`` what the finished rating can still reach. A difference is
    {figure, false_negatives_at_zero, first, second, n, first_value, second_value, mean, interval,
    d_z, headline, reverses_headline, test, exact, p, p_error, p_holm, pairs, wins, ties, losses,
    small}; its values are over the n questions where both runs have one, ``p_error`` the standard
    error of a p that had to be drawn, ``pairs`` those that Holm's correction is over.
    ``signed_rank`` is Wilcoxon's test of the same differences. The answers of a question are by run
    id, null where it was not run. Of other figures than those of the method there are also
    {headline: [names], scale: {top, from}}, and {figures: {name: {value, lower, upper}}} of each
    answer; "composite" is there where it is shown.
    A feature's comparison is null where it has nothing to compare. Of rated files there are also
    {files, unsaid}, and study is null.
    """
    comparison, parts, stability = report.comparison, report.parts, report.stability
    from_files = {"files": list(report.files), "unsaid": list(limits_of_files(report))}
    scale = {"top": comparison.scale.top, "from": comparison.scale.relevant_from}
    of_rankings = {"headline": list(comparison.headline), "scale": scale}
    times_opened, raters_who_opened = report.wordings_opened
    return {
        **(from_files if report.files else {}),
        "study": None if report.files else report.study,
        "phase": report.phase,
        "rule": comparison.rule,
        "cannot_tell": report.cannot_tell,
        "raters": [{"name": name, "judgments": n} for name, n in report.raters],
        "judged_until": moment_json(report.judged_until),
        "blindness": blindness_json(report.blindness),
        "state": state_json(report.state) if report.state else None,
        **{
            name: [moment_json(when) for when in getattr(report, name)]
            for name in ("badged", "record_shown", "suggested")
        },
        "wordings_opened": {"times": times_opened, "raters": raters_who_opened},
        "version": report.version,
        "settings": _SETTINGS,
        **({"composite": _COMPOSITE} if "composite" in comparison.headline else {}),
        **(of_rankings if comparison.headline != HEADLINES else {}),
        "runs": [
            _contender(contender, report.empty_answers.get(contender.run.run))
            for contender in comparison.contenders
        ],
        "differences": [difference_json(difference) for difference in comparison.differences],
        "signed_rank": signed_ranks_json(comparison.differences),
        "stability": {
            **fields(stability, "tried", "moved", "unseated"),
            "orders": {figure: [*map(list, order)] for figure, order in stability.orders.items()},
            "lines": [_line(line) for line in stability.lines],
        },
        "questions": [_question(report, line) for line in comparison.questions],
        **{name: parts[name].json(parts[name].value) if name in parts else None for name in PARTS},
    }


_SETTINGS = {
    "confidence": CONFIDENCE,
    "interval": METHOD,
    "tests": {
        "success_rate": "McNemar, exact, two-sided",
        "other": "randomisation, two-sided",
    },
    "correction": "Holm, over the pairs of runs within one figure",
}
_COMPOSITE = {
    "name": "composite of the original comparison",
    "weights": dict(COMPOSITE_WEIGHTS),
    "is_a_verdict": False,
}


def _contender(contender: Contender, empty: Mapping[int, EmptyAnswer] | None) -> dict[str, Any]:
    """Return one run as plain values; `empty` are its empty answers by position."""
    run = contender.run
    figures = {name: _estimate(estimate) for name, estimate in contender.estimates.items()}
    if "composite" in figures:
        figures["composite"]["parts"] = parts_of(contender)
    return {
        "id": run.run,
        **fields(run, "name", "search_method", "llm"),
        "rated": contender.rated,
        "partial": contender.missing.partial,
        "counts": fields(contender.totals, *COUNTS),
        **({} if empty is None else {"empty_answers": counts_json(counts_of(empty.values()))}),
        "missing": {name: [*places] for name, places in asdict(contender.missing).items()},
        "figures": figures,
        "categories": {
            category: {name: fields(figure, "value", "n") for name, figure in by_name.items()}
            for category, by_name in contender.categories.items()
        },
    }


def _estimate(estimate: FigureEstimate) -> dict[str, Any]:
    return {
        **fields(estimate.figure, "value", "n"),
        "interval": asdict(estimate.interval),
        "bounds": fields(estimate.figure, "lower", "upper"),
    }


def _line(line: StabilityLine) -> dict[str, Any]:
    return {
        "change": str(line.change),
        **fields(line, "figure", "tried", "survives"),
        "moved": [
            {"what": each.what, "order": [*map(list, each.orders[line.figure])]}
            for each in line.moved
        ],
        "unseated": [variation.what for variation in line.unseated],
    }


def _question(report: ComparisonReport, line: ComparedQuestionLine) -> dict[str, Any]:
    answers = {}
    for contender, query in zip(report.comparison.contenders, line.answers, strict=True):
        empty = report.empty_answers.get(contender.run.run, {}).get(line.position)
        answers[contender.run.run] = _answer(query, empty)
    return fields(line, "position", "question", "category", "spread") | {"answers": answers}


def _answer(query: ComparedQuery | None, empty: EmptyAnswer | None) -> dict[str, Any] | None:
    """Return the answer of one run to a question, ``None`` where it was not asked."""
    if query is None:
        return None
    summary, figures = query.summary, query.summary.figures
    return {
        "query_id": query.query_id,
        "state": summary.state.value,
        "complete": summary.complete,
        "empty_outcome": summary.empty_outcome.value if summary.empty_outcome else None,
        **answer_json(empty),
        "results_count": summary.results_count,
        "precision_at_5": figures["mean_precision_at_5"].value,
        "overall_precision": figures["mean_overall_precision"].value,
        "reciprocal_rank": figures["mrr_answerable"].value,
        "success": whole_if_exact(figures["success_rate"].value),
        "response_quality": whole_if_exact(figures["mean_response_quality"].value),
        **({"figures": spans_json(summary)} if summary.ranking else {}),
    }


FORMATS = formats(document.document, comparison_json)


def file_name(report: ComparisonReport, file_format: str, on: date) -> str:
    """Return the name of a report's file: that of the original scripts for a phase."""
    return f"{file_stem(report, 'comparison', on)}.{FORMATS[file_format].extension}"
