"""How far the raters agree, as a page and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from flask import Blueprint, Response, render_template, request
from msgspec import Struct

from webapp import labels, notation
from webapp.i18n import gettext
from webapp.metrics.agreement.agreement import EXPLANATIONS, Agreement, Coefficient
from webapp.metrics.agreement.coefficients import NoAgreement
from webapp.metrics.agreement.registry import COEFFICIENTS, KIND_LABELS, coefficients
from webapp.metrics.agreement.report import CannotTell, Consistency, ItemKind, KindAgreement
from webapp.metrics.comparisons.significance import Bootstrap
from webapp.metrics.judging.registry import Measure
from webapp.notation import MINUS
from webapp.services.agreement import agreement
from webapp.web.frame import access, htmx
from webapp.web.rating.figures import reasons_of

blueprint = Blueprint("agreement", __name__)

COHEN = "cohen_kappa"
ALPHA = "krippendorff_alpha"


class CoefficientCell(Struct, frozen=True):
    """One coefficient over `n` items: its value and interval in words, or why it has none."""

    measure: Measure
    value: str
    n: int
    bounds: str
    why: NoAgreement | None


class CoefficientsLine(Struct, frozen=True):
    """The coefficients of some items; ``n`` are those that at least two raters decided."""

    name: str
    n: int
    cells: tuple[CoefficientCell, ...]
    detail: str = ""


class CannotTellLine(Struct, frozen=True):
    """How often one rater could not tell."""

    rater: str
    n: int
    of: int
    percent: str


class AgreementPage(Struct, frozen=True):
    """Agreement on one kind of items. ``over_time`` is empty where it would be one part.

    ``said`` sums up the lines of pairs, categories and time in words.
    """

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
    said: Mapping[str, str]
    repeats: tuple[CoefficientsLine, ...]
    measures: tuple[Measure, ...]
    reasons: Mapping[str, str]
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

    from webapp.exporters.agreement.json_file import agreement_json

    with access.reading() as (session, rater):
        report = agreement.report(session, rater.study)
    return jsonify(agreement_json(report))


def _page(
    found: KindAgreement, repeats: Iterable[Consistency], bootstrap: Bootstrap
) -> AgreementPage:
    parts = found.over_time if len(found.over_time) > 1 else ()
    grouped = [name for name in COEFFICIENTS if name != COHEN or len(found.raters) == 2]
    return AgreementPage(
        kinds={kind: gettext(name) for kind, name in KIND_LABELS.items()},
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
                notation.period(part.first, part.last),
            )
            for part in parts
        ),
        said={
            "pairs": _span(pair.agreement for pair in found.pairs),
            "categories": _span(group.agreement for group in found.categories),
            "time": _span(part.agreement for part in parts),
        },
        repeats=tuple(_repeated(own) for own in repeats if own.kind is found.kind),
        measures=tuple(COEFFICIENTS.values()),
        reasons=reasons_of(EXPLANATIONS),
        bootstrap=bootstrap,
    )


def _span(groups: Iterable[Agreement]) -> str:
    """Return the smallest and the largest Krippendorff's alpha of some groups, in words."""
    found = [coefficients(one)[ALPHA].value for one in groups]
    values = [value for value in found if value is not None]
    label = gettext(COEFFICIENTS[ALPHA].label)
    return f"{label}: {bounds(min(values), max(values)) if values else notation.UNDEFINED}"


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
    value = written(found.value, measure.unit)
    between = bounds(found.lower, found.upper, measure.unit)
    return CoefficientCell(measure, value, found.n, between, found.why_undefined)


def written(value: float | None, unit: str = "coefficient") -> str:
    """Return a share, or a coefficient, which may be negative; undefined is "-"."""
    if value is None:
        return notation.UNDEFINED
    size, nothing = (notation.figure(one, unit) for one in (abs(value), 0.0))
    return f"{MINUS}{size}" if value < 0 and size != nothing else size


def bounds(low: float | None, high: float | None, unit: str = "coefficient") -> str:
    """Return the ends of an interval in words; empty without them."""
    if low is None or high is None:
        return ""
    return gettext("%(low)s to %(high)s", low=written(low, unit), high=written(high, unit))


def _said(by_rater: Mapping[str, CannotTell]) -> Iterable[CannotTellLine]:
    for name, own in by_rater.items():
        percent = notation.number(round(100 * (own.rate or 0), 1))
        yield CannotTellLine(name, own.n_cannot_tell, own.n_judged, percent)
