"""Agreement in a study in words, and as one JSON document."""

from __future__ import annotations

from typing import Any

from msgspec.structs import asdict

from webapp import labels, notation
from webapp.i18n import gettext
from webapp.metrics.agreement.agreement import Agreement
from webapp.metrics.agreement.registry import coefficients
from webapp.metrics.agreement.report import AgreementReport, CannotTell, KindAgreement

Line = tuple[str, str, Agreement]
"""A group of raters or items, what it is in small, and how far they agree."""


def lines(found: KindAgreement) -> dict[str, list[Line]]:
    """Return the lines of the tables of one kind; "time" is empty where it would be one part."""
    parts = found.over_time if len(found.over_time) > 1 else ()
    return {
        "overall": [(gettext("All raters"), "", found.overall)],
        "pairs": [(" – ".join(pair), "", one) for pair, one in found.pairs.items()],
        "categories": [
            (labels.category(name), "", one) for name, (_, one) in found.categories.items()
        ],
        "time": [
            (
                gettext("Part %(part)s of %(of)s", part=part, of=len(parts)),
                notation.period(*times),
                one,
            )
            for part, (*times, _, one) in enumerate(parts, start=1)
        ],
    }


def written(value: float | None, unit: str = "coefficient") -> str:
    """Return a share, or a coefficient, which may be negative; undefined is "-"."""
    if value is None:
        return notation.UNDEFINED
    size, nothing = (notation.figure(one, unit) for one in (abs(value), 0.0))
    return f"{notation.MINUS}{size}" if value < 0 and size != nothing else size


def bounds(low: float | None, high: float | None, unit: str = "coefficient") -> str:
    """Return the ends of an interval in words; empty without them."""
    if low is None or high is None:
        return ""
    return gettext("%(low)s to %(high)s", low=written(low, unit), high=written(high, unit))


def contradicts_itself(run: str, query: int, property_id: str) -> str:
    return gettext(
        "%(run)s passes and fails the same property of question %(query)s (%(property)s); "
        "it is left out of this comparison.",
        run=run,
        query=query,
        property=property_id,
    )


def agreement_json(report: AgreementReport) -> dict[str, Any]:
    """Return `report` as ``relevansi agreement --help`` describes it."""
    return {
        "raters": list(report.raters),
        "bootstrap": asdict(report.bootstrap),
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
    cannot_tell = None
    if found.cannot_tell is not None:
        by_rater = {name: _cannot_tell(own) for name, own in found.cannot_tell_by.items()}
        cannot_tell = {**_cannot_tell(found.cannot_tell), "raters": by_rater}
    return {
        "raters": list(found.raters),
        "scale": str(found.kind.scale),
        "n_items": found.n_items,
        "n_shared": found.n_shared,
        "cannot_tell": cannot_tell,
        "overall": _figures(found.overall),
        "pairs": [
            {"raters": list(pair), **_figures(agreement)} for pair, agreement in found.pairs.items()
        ],
        "categories": {
            name: {"n_items": n_items, **_figures(agreement)}
            for name, (n_items, agreement) in found.categories.items()
        },
        "over_time": [
            {
                "part": part,
                "n_items": n_items,
                "first": first.isoformat(),
                "last": last.isoformat(),
                **_figures(agreement),
            }
            for part, (first, last, n_items, agreement) in enumerate(found.over_time, start=1)
        ],
    }


def _cannot_tell(said: CannotTell) -> dict[str, Any]:
    return {"n": said.n_cannot_tell, "judged": said.n_judged, "rate": said.rate}


def _figures(found: Agreement) -> dict[str, Any]:
    return {name: asdict(one) for name, one in coefficients(found).items()}
