"""A comparison as one JSON document: null where undefined, the same in any language."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from msgspec.structs import asdict

from webapp.exporters.comparisons import document
from webapp.exporters.comparisons.words import unsaid
from webapp.exporters.exports.json_runs import blindness_json, whole
from webapp.exporters.frame.csv_cells import rounded
from webapp.metrics.comparisons.comparisons import (
    Comparison,
    ComparisonReport,
    Contender,
    FigureEstimate,
    MissingQuestions,
)
from webapp.metrics.comparisons.differences import ComparedQuery, Difference
from webapp.metrics.comparisons.significance import Interval
from webapp.metrics.comparisons.stability import Stability, StabilityLine
from webapp.metrics.judging.figures import COMPOSITE_WEIGHTS, COUNTS


def comparison_bytes(report: ComparisonReport) -> bytes:
    """Return ``comparison_json`` as a file, to four decimals; it is the same on every day."""
    document = rounded(comparison_json(report))
    return (json.dumps(document, ensure_ascii=False, indent=1) + "\n").encode()


def comparison_json(report: ComparisonReport) -> dict[str, Any]:
    """Return `report` as plain values.

    ``{study, phase, rule, cannot_tell, raters: [{name, judgments}], judged_until, blindness,
    badged, record_shown, suggested, wordings_opened: {times, raters}, version, settings, composite,
    runs: [...], differences: [...], signed_rank: [...], stability, questions: [...]}``, and then
    each feature's own comparison, under its name.
    A run is {id, name, search_method, llm, rated, partial, counts, missing, figures: {name:
    {value, n, interval, bounds}}, categories: {category: {name: {value, n}}}}; ``interval`` is the
    bootstrap's, ``bounds`` what the finished rating can still reach. A difference is
    {figure, false_negatives_at_zero, first, second, n, first_value, second_value, mean, interval,
    headline, reverses_headline, test, exact, p, p_holm, wins, ties, losses, small}; its values are
    over the n questions where both runs have one. ``signed_rank`` is Wilcoxon's test of the same
    differences. The answers of a question are by run id, null where it was not run.
    A feature's comparison is null where it has nothing to compare. Of rated files there are also
    {files, unsaid}, and study is null.
    """
    comparison = report.comparison
    from_files = {"files": list(report.files), "unsaid": list(unsaid(report))}
    return {
        **(from_files if report.files else {}),
        "study": None if report.files else report.study,
        "phase": report.phase,
        "rule": comparison.rule,
        "cannot_tell": report.cannot_tell,
        "raters": [{"name": r.name, "judgments": r.judgments} for r in report.raters],
        "judged_until": moment_json(report.judged_until),
        "blindness": blindness_json(report.blindness),
        "badged": [moment_json(when) for when in report.badged],
        "record_shown": [moment_json(when) for when in report.record_shown],
        "suggested": [moment_json(when) for when in report.suggested],
        "wordings_opened": dict(zip(("times", "raters"), report.wordings_opened, strict=True)),
        "version": report.version,
        "settings": _settings(comparison),
        "composite": {
            "name": "composite of the original comparison",
            "weights": dict(COMPOSITE_WEIGHTS),
            "is_a_verdict": False,
        },
        "runs": [_contender(contender) for contender in comparison.contenders],
        "differences": [difference_json(difference) for difference in comparison.differences],
        "signed_rank": signed_ranks_json(comparison.differences),
        "stability": _stability(report.stability),
        "questions": [
            {
                "position": line.position,
                "question": line.question,
                "category": line.category,
                "spread": line.spread,
                "answers": {
                    contender.run.run: _answer(query)
                    for contender, query in zip(comparison.contenders, line.answers, strict=True)
                },
            }
            for line in comparison.questions
        ],
        **_parts(report),
    }


def difference_json(found: Difference) -> dict[str, Any]:
    """Return a paired difference as plain values."""
    return {
        "figure": found.figure,
        "false_negatives_at_zero": found.false_negatives_at_zero,
        "first": found.first,
        "second": found.second,
        "n": found.n,
        "first_value": found.first_value,
        "second_value": found.second_value,
        "mean": found.mean,
        "interval": interval_json(found.interval),
        "headline": found.headline,
        "reverses_headline": found.reverses_headline,
        "test": found.test,
        "exact": found.exact,
        "p": found.p,
        "p_holm": found.p_holm,
        "wins": found.wins,
        "ties": found.ties,
        "losses": found.losses,
        "small": found.small,
    }


def signed_ranks_json(differences: Iterable[Difference]) -> list[dict[str, Any]]:
    """Return Wilcoxon's test of the differences that have one, as plain values."""
    return [
        {
            "figure": found.figure,
            "false_negatives_at_zero": found.false_negatives_at_zero,
            "first": found.first,
            "second": found.second,
            **asdict(found.signed_rank),
            "p_holm": found.signed_rank_p_holm,
        }
        for found in differences
        if found.signed_rank is not None
    ]


def _parts(report: ComparisonReport) -> dict[str, Any]:
    parts = [(module, report.part(module.PART)) for module in document.part_modules()]
    return {module.PART: None if part is None else module.part_json(part) for module, part in parts}


def moment_json(when: datetime | None) -> str | None:
    """Return a time as plain text, with its distance from UTC."""
    return when.isoformat() if when else None


def _settings(comparison: Comparison) -> dict[str, Any]:
    return {
        "resamples": comparison.settings.resamples,
        "seed": comparison.settings.seed,
        "confidence": comparison.settings.confidence,
        "interval": "percentile bootstrap over questions",
        "tests": {"success_rate": "McNemar, exact, two-sided", "other": "randomisation, two-sided"},
        "correction": "Holm, over the pairs of runs within one figure",
    }


def _contender(contender: Contender) -> dict[str, Any]:
    run = contender.run
    return {
        "id": run.run,
        "name": run.name,
        "search_method": run.search_method,
        "llm": run.llm,
        "rated": contender.rated,
        "partial": contender.missing.partial,
        "counts": {name: getattr(contender.totals, name) for name in COUNTS},
        "missing": _missing(contender.missing),
        "figures": {name: _estimate(found) for name, found in contender.estimates.items()},
        "categories": {
            category: {
                name: {"value": figure.value, "n": figure.n} for name, figure in found.items()
            }
            for category, found in contender.categories.items()
        },
    }


def _missing(missing: MissingQuestions) -> dict[str, list[int]]:
    return {
        "not_run": list(missing.not_run),
        "incomplete": list(missing.incomplete),
        "unreadable": list(missing.unreadable),
        "failed": list(missing.failed),
        "unrated_quality": list(missing.unrated_quality),
    }


def _estimate(found: FigureEstimate) -> dict[str, Any]:
    return {
        "value": found.figure.value,
        "n": found.figure.n,
        "interval": interval_json(found.interval),
        "bounds": {"lower": found.figure.lower, "upper": found.figure.upper},
    }


def interval_json(found: Interval) -> dict[str, float | None]:
    """Return the bounds of an interval as plain values."""
    return {"lower": found.lower, "upper": found.upper}


def _stability(found: Stability) -> dict[str, Any]:
    return {
        "tried": found.tried,
        "moved": found.moved,
        "unseated": found.unseated,
        "orders": {figure: [list(level) for level in o] for figure, o in found.orders.items()},
        "lines": [_line(line) for line in found.lines],
    }


def _line(line: StabilityLine) -> dict[str, Any]:
    return {
        "change": str(line.change),
        "figure": line.figure,
        "tried": line.tried,
        "survives": line.survives,
        "moved": [
            {"what": v.what, "order": [list(level) for level in v.orders[line.figure]]}
            for v in line.moved
        ],
        "unseated": [variation.what for variation in line.unseated],
    }


def _answer(query: ComparedQuery | None) -> dict[str, Any] | None:
    if query is None:
        return None
    found = query.summary
    return {
        "query_id": query.query_id,
        "state": found.state.value,
        "complete": found.complete,
        "empty_outcome": found.empty_outcome.value if found.empty_outcome else None,
        "results_count": found.results_count,
        "precision_at_5": found.precision_at_5.value,
        "overall_precision": found.overall_precision.value,
        "reciprocal_rank": found.answerable_reciprocal_rank.value,
        "success": whole(found.success.value),
        "response_quality": whole(found.response_quality.value),
    }
