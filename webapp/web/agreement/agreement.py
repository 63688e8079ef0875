"""How far the raters agree, as a page and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from flask import Blueprint, Response, render_template, request

from webapp import labels
from webapp.i18n import gettext, mark
from webapp.metrics.agreement.agreement import EXPLANATIONS, Agreement, Coefficient
from webapp.metrics.agreement.breakdown import CannotTell
from webapp.metrics.agreement.coefficients import NoAgreement
from webapp.metrics.agreement.registry import COEFFICIENTS, coefficients
from webapp.metrics.agreement.report import Consistency, ItemKind, KindAgreement
from webapp.metrics.comparisons.resampling import Bootstrap
from webapp.metrics.judging.registry import Measure
from webapp.services.agreement import agreement
from webapp.web.frame import access, formatting, htmx
from webapp.web.rating.figures import UndefinedReason

blueprint = Blueprint("agreement", __name__)

KINDS = {
    ItemKind.CARDS: mark("Cards"),
    ItemKind.EMPTY_LISTS: mark("Empty lists"),
    ItemKind.QUALITY: mark("Response quality"),
}
COHEN = "cohen_kappa"


@dataclass(frozen=True, slots=True)
class CoefficientCell:
    """One coefficient over `n` items: its value and interval in words, or why it has none."""

    measure: Measure
    value: str
    n: int
    bounds: str
    why: NoAgreement | None


@dataclass(frozen=True, slots=True)
class CoefficientsLine:
    """The coefficients of some items; ``n`` are those that at least two raters decided."""

    name: str
    n: int
    cells: tuple[CoefficientCell, ...]
    detail: str = ""


@dataclass(frozen=True, slots=True)
class CannotTellLine:
    """How often one rater could not tell."""

    rater: str
    n: int
    of: int
    percent: str


@dataclass(frozen=True, slots=True)
class AgreementPage:
    """Agreement on one kind of items. ``over_time`` is empty where it would be one part."""

    kinds: dict[ItemKind, str]
    kind: ItemKind
    n_items: int
    n_shared: int
    raters: tuple[str, ...]
    cannot_tell: tuple[CannotTellLine, ...]
    overall: CoefficientsLine
    pairs: tuple[CoefficientsLine, ...]
    categories: tuple[CoefficientsLine, ...]
    over_time: tuple[CoefficientsLine, ...]
    repeats: tuple[CoefficientsLine, ...]
    measures: tuple[Measure, ...]
    reasons: tuple[UndefinedReason, ...]
    bootstrap: Bootstrap


@blueprint.get("/agreement")
def show() -> str:
    """Show how far the raters agree on one kind of items."""
    wanted = request.args.get("of", ItemKind.CARDS)
    kind = ItemKind(wanted) if wanted in list(ItemKind) else ItemKind.CARDS
    with access.reading() as (session, rater):
        report = agreement.report(session, rater.study, kinds=[kind])
    page = _page(report.kinds[0], report.repeats, report.bootstrap)
    return render_template("agreement/page.html", **htmx.names(page))


@blueprint.get("/agreement.json")
def document() -> Response:
    """Return the numbers of all pages and of ``relevansi agreement`` as JSON."""
    from flask import jsonify

    from webapp.exporters.agreement.agreement_json import agreement_json

    with access.reading() as (session, rater):
        report = agreement.report(session, rater.study)
    return jsonify(agreement_json(report))


def _page(
    found: KindAgreement, repeats: Iterable[Consistency], bootstrap: Bootstrap
) -> AgreementPage:
    parts = found.over_time if len(found.over_time) > 1 else ()
    grouped = [name for name in COEFFICIENTS if name != COHEN or len(found.raters) == 2]
    return AgreementPage(
        kinds={kind: gettext(name) for kind, name in KINDS.items()},
        kind=found.kind,
        n_items=found.n_items,
        n_shared=found.n_shared,
        raters=found.raters,
        cannot_tell=tuple(_said(found.cannot_tell_by)),
        overall=line(gettext("All raters"), found.overall),
        pairs=tuple(line(" – ".join(pair.raters), pair.agreement) for pair in found.pairs),
        categories=tuple(
            line(
                labels.with_label(labels.category(group.category), group.category),
                group.agreement,
                grouped,
            )
            for group in found.categories
        ),
        over_time=tuple(
            line(
                gettext("Part %(part)s of %(of)s", part=part.part, of=len(parts)),
                part.agreement,
                grouped,
                f"{formatting.moment(part.first)} – {formatting.moment(part.last)}",
            )
            for part in parts
        ),
        repeats=tuple(_repeated(own) for own in repeats if own.kind is found.kind),
        measures=tuple(COEFFICIENTS.values()),
        reasons=tuple(
            UndefinedReason(str(name), gettext(text)) for name, text in EXPLANATIONS.items()
        ),
        bootstrap=bootstrap,
    )


def _repeated(own: Consistency) -> CoefficientsLine:
    detail = gettext("%(answered)s of %(asked)s answered", answered=own.answered, asked=own.asked)
    return line(own.rater, own.agreement, detail=detail)


def line(
    name: str, found: Agreement, wanted: Iterable[str] = COEFFICIENTS, detail: str = ""
) -> CoefficientsLine:
    """Return the coefficients in `wanted`, in words, as a line of a table."""
    values = coefficients(found)
    cells = tuple(_cell(COEFFICIENTS[key], values[key]) for key in wanted)
    return CoefficientsLine(name, found.raw.n, cells, detail)


def _cell(measure: Measure, found: Coefficient) -> CoefficientCell:
    bounds = ""
    if found.lower is not None and found.upper is not None:
        low, high = _figure(found.lower, measure), _figure(found.upper, measure)
        bounds = gettext("%(low)s to %(high)s", low=low, high=high)
    value = formatting.UNDEFINED if found.value is None else _figure(found.value, measure)
    return CoefficientCell(measure, value, found.n, bounds, found.why_undefined)


def _figure(value: float, measure: Measure) -> str:
    """Return a share, or a coefficient, which may be negative."""
    return formatting.figure(round(value, 2) + 0.0, measure.unit).replace("-", "−")


def _said(by_rater: Mapping[str, CannotTell]) -> Iterable[CannotTellLine]:
    for name, own in by_rater.items():
        percent = formatting.number(round(100 * (own.rate or 0), 1))
        yield CannotTellLine(name, own.n_cannot_tell, own.n_judged, percent)
