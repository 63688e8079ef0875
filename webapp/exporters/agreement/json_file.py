"""Agreement in a study as one JSON document; undefined is null, with its reason beside it."""

from __future__ import annotations

from typing import Any

from webapp.metrics.agreement.agreement import Agreement, Coefficient
from webapp.metrics.agreement.registry import coefficients
from webapp.metrics.agreement.report import AgreementReport, CannotTell, KindAgreement


def agreement_json(report: AgreementReport) -> dict[str, Any]:
    """Return `report` as plain values.

    ``{raters, bootstrap: {resamples, seed, confidence, method}, <kind>: ..., repeats: [...]}``
    with a key for each kind (cards, empty_lists, quality):
    ``{raters, scale, n_items, n_shared, cannot_tell: {n, judged, rate, raters} | null,
    overall, pairs: [{raters, ...}], categories: {name: ...}, over_time: [{part, n_items,
    first, last, ...}]}``. Every agreement is {raw, cohen_kappa, fleiss_kappa,
    krippendorff_alpha, gwet_ac1}, each ``{value, n, lower, upper, why_undefined, left_out}``.
    A repeat is ``{rater, kind, asked, answered, ...}``.
    """
    bootstrap = report.bootstrap
    return {
        "raters": list(report.raters),
        "bootstrap": {
            "resamples": bootstrap.resamples,
            "seed": bootstrap.seed,
            "confidence": bootstrap.confidence,
            "method": bootstrap.method,
        },
        **{str(kind.kind): _kind(kind) for kind in report.kinds},
        "repeats": [
            {
                "rater": own.rater,
                "kind": str(own.kind),
                "asked": own.asked,
                "answered": own.answered,
                **_figures(own.agreement),
            }
            for own in report.repeats
        ],
    }


def _kind(found: KindAgreement) -> dict[str, Any]:
    return {
        "raters": list(found.raters),
        "scale": str(found.kind.scale),
        "n_items": found.n_items,
        "n_shared": found.n_shared,
        "cannot_tell": _cannot_tell_of(found),
        "overall": _figures(found.overall),
        "pairs": [
            {"raters": list(pair.raters), **_figures(pair.agreement)} for pair in found.pairs
        ],
        "categories": {
            group.category: {"n_items": group.n_items, **_figures(group.agreement)}
            for group in found.categories
        },
        "over_time": [
            {
                "part": part.part,
                "n_items": part.n_items,
                "first": part.first.isoformat(),
                "last": part.last.isoformat(),
                **_figures(part.agreement),
            }
            for part in found.over_time
        ],
    }


def _cannot_tell_of(found: KindAgreement) -> dict[str, Any] | None:
    if found.cannot_tell is None:
        return None
    by_rater = {name: _cannot_tell(own) for name, own in found.cannot_tell_by.items()}
    return {**_cannot_tell(found.cannot_tell), "raters": by_rater}


def _cannot_tell(said: CannotTell) -> dict[str, Any]:
    return {"n": said.n_cannot_tell, "judged": said.n_judged, "rate": said.rate}


def _figures(found: Agreement) -> dict[str, Any]:
    return {name: _figure(one) for name, one in coefficients(found).items()}


def _figure(found: Coefficient) -> dict[str, Any]:
    return {
        "value": found.value,
        "n": found.n,
        "lower": found.lower,
        "upper": found.upper,
        "why_undefined": found.why_undefined and str(found.why_undefined),
        "left_out": found.left_out,
    }
