"""People beside machines: how well the figures of an evaluation predict what people say."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from flask import Blueprint, Response, render_template, request

from webapp.i18n import gettext
from webapp.metrics.agreement import agreement as binary
from webapp.metrics.agreement.agreement import BinaryAgreement, NoShare
from webapp.metrics.agreement.coefficients import EXPLANATIONS as NO_KAPPA
from webapp.metrics.evaluations import rank_correlation as ranks
from webapp.metrics.evaluations.rank_correlation import RankCorrelation
from webapp.metrics.evaluations.registry import EVALUATIONS
from webapp.services.evaluations import evaluations, item_rating
from webapp.services.evaluations.evaluations import HEADLINES, EvaluationKind
from webapp.services.evaluations.item_rating import ItemRaterStanding
from webapp.web.agreement.agreement import bounds, written
from webapp.web.evaluations import items as evaluation_figures
from webapp.web.frame import access, formatting
from webapp.web.rating.figures import reasons_of

blueprint = Blueprint("machine_agreement", __name__, url_prefix="/evaluations")

Figure = tuple[str, str, str]
"""A figure in words, its interval, and the name of the reason where it has no value."""


@blueprint.get("/<evaluation_id>/people")
def show(evaluation_id: str) -> str:
    """Show how well each automatic figure predicts the human one."""
    with access.reading() as (session, rater):
        found = evaluations.find(session, rater.study, evaluation_id)
        raters = item_rating.standings(session, found)
        chosen = _chosen(raters)
        report = item_rating.machine_agreement(session, found, rater_id=chosen)
    kind = EvaluationKind(found.kind)
    label = partial(evaluation_figures.item_label, kind)
    return render_template(
        "evaluations/people.html",
        evaluation=found,
        title=gettext(EVALUATIONS[kind].title),
        report=report,
        verdicts=[
            (gettext("All"), report.overall, *_in_words(report.overall)),
            *((label(name), one, *_in_words(one)) for name, one in report.fields.items()),
        ],
        figures=[(label(name), one.n, *_orders(one)) for name, one in report.figures.items()],
        labels={name: label(name) for name in HEADLINES[kind]},
        reasons=reasons_of({**binary.EXPLANATIONS, **ranks.EXPLANATIONS, **NO_KAPPA}),
        raters=raters,
        chosen=chosen,
    )


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
    wanted = request.args.get("rater", type=int)
    return next((one.rater_id for one in raters if one.rater_id == wanted), None)


def _in_words(found: BinaryAgreement) -> tuple[Figure, Figure, Figure, Figure]:
    kappa, why = found.kappa, str(found.kappa.why_undefined or "")
    return (
        (formatting.figure(found.agreed), "", ""),
        (written(kappa.value), bounds(kappa.lower, kappa.upper), why),
        _share(found.precision),
        _share(found.recall),
    )


def _share(found: float | NoShare) -> Figure:
    if isinstance(found, NoShare):
        return formatting.UNDEFINED, "", str(found)
    return formatting.figure(found), "", ""


def _orders(found: RankCorrelation) -> tuple[Figure, Figure]:
    why, rho, tau = str(found.why_undefined or ""), found.spearman, found.kendall
    return (
        (written(rho.value), bounds(rho.lower, rho.upper), why),
        (written(tau.value), bounds(tau.lower, tau.upper), why),
    )
