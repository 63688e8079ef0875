"""People beside machines: how well the figures of an evaluation predict what people say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from flask import Blueprint, Response, render_template, request
from msgspec import Struct

from webapp.db.tables.evaluations import Evaluation
from webapp.i18n import gettext
from webapp.metrics.agreement import agreement as binary
from webapp.metrics.agreement.agreement import BinaryAgreement, NoShare
from webapp.metrics.agreement.coefficients import EXPLANATIONS as NO_KAPPA
from webapp.metrics.evaluations import rank_correlation as ranks
from webapp.metrics.evaluations.rank_correlation import Correlation, RankCorrelation
from webapp.metrics.evaluations.registry import EVALUATIONS
from webapp.services.evaluations import evaluations, item_rating
from webapp.services.evaluations.evaluations import HEADLINES, EvaluationKind
from webapp.services.evaluations.item_rating import ItemRaterStanding, MachineAgreementReport
from webapp.web.agreement.agreement import bounds, written
from webapp.web.evaluations import items as evaluation_figures
from webapp.web.frame import access, formatting, htmx
from webapp.web.rating.figures import UndefinedReason, reasons_of

blueprint = Blueprint("machine_agreement", __name__, url_prefix="/evaluations")


class FigureInWords(Struct, frozen=True):
    """One figure in words, its interval, and the name of the reason where it has no value."""

    value: str
    bounds: str = ""
    why: str = ""


class BinaryAgreementInWords(Struct, frozen=True):
    """The figures of binary verdicts on some parts: the table, and what follows from it."""

    name: str
    table: BinaryAgreement
    agreed: FigureInWords
    kappa: FigureInWords
    precision: FigureInWords
    recall: FigureInWords


class Ordered(Struct, frozen=True):
    """How one automatic figure orders the graded items."""

    name: str
    n: int
    spearman: FigureInWords
    kendall: FigureInWords


class PeoplePage(Struct, frozen=True):
    """Machine against people, verdicts and grades; ``headline`` is what grades are put beside.

    ``chosen`` is the one of ``raters`` whose word alone counts, ``None`` for all of them.
    """

    evaluation: Evaluation
    kind: EvaluationKind
    title: str
    report: MachineAgreementReport
    overall: BinaryAgreementInWords
    fields: tuple[BinaryAgreementInWords, ...]
    figures: tuple[Ordered, ...]
    labels: Mapping[str, str]
    reasons: tuple[UndefinedReason, ...]
    raters: tuple[ItemRaterStanding, ...]
    chosen: int | None


@blueprint.get("/<evaluation_id>/people")
def show(evaluation_id: str) -> str:
    """Show how well each automatic figure predicts the human one."""
    with access.reading() as (session, rater):
        found = evaluations.find(session, rater.study, evaluation_id)
        raters = item_rating.standings(session, found)
        chosen = _chosen(raters)
        report = item_rating.machine_agreement(session, found, rater_id=chosen)
    kind = EvaluationKind(found.kind)
    context = PeoplePage(
        evaluation=found,
        kind=kind,
        title=gettext(EVALUATIONS[kind].title),
        report=report,
        overall=_told(gettext("All"), report.overall),
        fields=tuple(
            _told(evaluation_figures.item_label(kind, name), one)
            for name, one in report.fields.items()
        ),
        figures=tuple(_ordered(kind, name, one) for name, one in report.figures.items()),
        labels={name: evaluation_figures.item_label(kind, name) for name in HEADLINES[kind]},
        reasons=_reasons(),
        raters=raters,
        chosen=chosen,
    )
    return render_template("evaluations/people.html", **htmx.names(context))


@blueprint.get("/<evaluation_id>/people.json")
def as_json(evaluation_id: str) -> Response:
    """Return the numbers of the page as JSON."""
    from flask import jsonify

    with access.reading() as (session, rater):
        found = evaluations.find(session, rater.study, evaluation_id)
        chosen = _chosen(item_rating.standings(session, found))
        report = item_rating.machine_agreement(session, found, rater_id=chosen)
    return jsonify(item_rating.machine_agreement_json(report))


def _chosen(raters: Iterable[ItemRaterStanding]) -> int | None:
    """Return the rater that the address names, if they judged here; else ``None``: all."""
    wanted = request.args.get("rater", type=int)
    return next((one.rater_id for one in raters if one.rater_id == wanted), None)


def _told(name: str, found: BinaryAgreement) -> BinaryAgreementInWords:
    kappa = found.kappa
    value = FigureInWords(
        written(kappa.value), bounds(kappa.lower, kappa.upper), str(kappa.why_undefined or "")
    )
    agreed = FigureInWords(formatting.figure(found.agreed))
    return BinaryAgreementInWords(
        name, found, agreed, value, _share(found.precision), _share(found.recall)
    )


def _share(found: float | NoShare) -> FigureInWords:
    if isinstance(found, NoShare):
        return FigureInWords(formatting.UNDEFINED, why=str(found))
    return FigureInWords(formatting.figure(found))


def _ordered(kind: EvaluationKind, name: str, found: RankCorrelation) -> Ordered:
    why = str(found.why_undefined or "")

    def number(one: Correlation) -> FigureInWords:
        return FigureInWords(written(one.value), bounds(one.lower, one.upper), why)

    label = evaluation_figures.item_label(kind, name)
    return Ordered(label, found.n, number(found.spearman), number(found.kendall))


def _reasons() -> tuple[UndefinedReason, ...]:
    return reasons_of({**binary.EXPLANATIONS, **ranks.EXPLANATIONS, **NO_KAPPA})
