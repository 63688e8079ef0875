"""How well a machine predicts people's verdicts as plain values; undefined is null and a reason."""

from __future__ import annotations

from typing import Any

from webapp.metrics.agreement.agreement import BinaryAgreement, NoShare
from webapp.metrics.evaluations.rank_correlation import Correlation, RankCorrelation


def binary_json(found: BinaryAgreement) -> dict[str, Any]:
    """The confusion table of machine and people, and the figures that follow from it."""
    kappa = found.kappa
    why = {"cohen_kappa": kappa.why_undefined, "precision": found.precision, "recall": found.recall}
    return {
        "n": found.n,
        "both": found.both,
        "machine_only": found.machine_only,
        "people_only": found.people_only,
        "neither": found.neither,
        "agreed": found.agreed,
        "cohen_kappa": {"value": kappa.value, "lower": kappa.lower, "upper": kappa.upper},
        "precision": None if isinstance(found.precision, NoShare) else found.precision,
        "recall": None if isinstance(found.recall, NoShare) else found.recall,
        "why_undefined": {name: str(one) for name, one in why.items() if isinstance(one, str)},
    }


def correlation_json(found: RankCorrelation) -> dict[str, Any]:
    """Both rank correlations with their intervals and n."""
    why = found.why_undefined
    return {
        "n": found.n,
        "spearman": _interval(found.spearman),
        "kendall_tau_b": _interval(found.kendall),
        "why_undefined": None if why is None else str(why),
    }


def _interval(found: Correlation) -> dict[str, float | None]:
    return {"value": found.value, "lower": found.lower, "upper": found.upper}
