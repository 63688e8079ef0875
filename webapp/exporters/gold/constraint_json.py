"""The evaluation of constraints as plain values, with the keys of the method.

Undefined is null. Totals are rounded to 4 decimals, as the method reports them.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from webapp.metrics.gold.constraints import (
    ConfusionMatrix,
    ConstraintReport,
    ConstraintTotals,
    MissingRule,
    QueryEvaluation,
)

_DECIMALS = 4


def constraints_json(report: ConstraintReport) -> dict[str, Any]:
    """The evaluation of constraints as one flat object; ``missing`` only if MISSING is left out.

    Totals are rounded to 4 decimals. A question without cards has mean_cpr 0, as the
    recorded evaluations have it: the one place where undefined is written 0.
    """
    whole = report.totals
    rule = {} if report.missing is MissingRule.COUNTED else {"missing": str(report.missing)}
    return {
        "total_queries": whole.n_queries,
        "total_properties": whole.n_properties,
        "threshold_t": float(report.threshold),
        **rule,
        "pca": {name: _rounded(value) for name, value in whole.pca.items()},
        "mean_cpr": _rounded(whole.mean_cpr),
        "strict_success_ratio": _rounded(whole.strict_success_ratio),
        "query_success_rate": _rounded(whole.success_rate),
        "confusion_matrix": confusion_json(whole.matrix),
        "category_metrics": {name: _category(part) for name, part in report.categories.items()},
        "evaluations": [_evaluation(query) for query in report.queries],
    }


def confusion_json(matrix: ConfusionMatrix) -> dict[str, Any]:
    """The counts of the matrix and the four figures that follow from them."""
    return {
        "tp": matrix.tp,
        "fp": matrix.fp,
        "tn": matrix.tn,
        "fn": matrix.fn,
        "precision": _rounded(matrix.precision),
        "recall": _rounded(matrix.recall),
        "f1_score": _rounded(matrix.f1_score),
        "accuracy": _rounded(matrix.accuracy),
    }


def _rounded(value: Fraction | None) -> float | None:
    return None if value is None else float(round(value, _DECIMALS))


def _category(part: ConstraintTotals) -> dict[str, Any]:
    return {
        "total_queries": part.n_queries,
        "successful_queries": part.n_successful,
        "success_rate": _rounded(part.success_rate),
        "total_properties": part.n_properties,
        "mean_cpr": _rounded(part.mean_cpr),
    }


def _evaluation(query: QueryEvaluation) -> dict[str, Any]:
    return {
        "query_id": query.question.query_id,
        "question": query.question.text,
        "category": query.question.category,
        "expected_result": str(query.question.expected),
        "has_results": bool(query.cards),
        "num_properties": len(query.cards),
        "mean_cpr": _recorded_mean(query),
        "strict_success": query.strict_success,
        "is_success": query.is_success,
        "confusion_category": str(query.confusion),
    }


def _recorded_mean(query: QueryEvaluation) -> float | None:
    """0 without cards, as it was recorded; null where no card has a pass rate."""
    if not query.cards:
        return 0.0
    return None if query.mean_cpr is None else float(query.mean_cpr)
