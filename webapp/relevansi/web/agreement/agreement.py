"""How far the raters agree: the page, and the files that the command writes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from flask import Blueprint, Response, render_template, request
from werkzeug.exceptions import NotFound

from relevansi.exporters.agreement import report as words
from relevansi.i18n import gettext
from relevansi.metrics.agreement.registry import COEFFICIENTS, KIND_LABELS
from relevansi.metrics.agreement.report import ItemKind
from relevansi.services.agreement import agreement
from relevansi.web.frame import access
from relevansi.web.frame.htmx import attached

blueprint = Blueprint("agreement", __name__)


@blueprint.get("/agreement")
def show() -> str:
    wanted = request.args.get("of", ItemKind.CARDS)
    kind = ItemKind(wanted) if wanted in list(ItemKind) else ItemKind.CARDS
    with access.reading() as (session, rater):
        report = agreement.report(session, rater.study, kinds=[kind])
    return render_template(
        "agreement/page.html",
        kinds={kind: gettext(name) for kind, name in KIND_LABELS.items()},
        chosen=kind,
        document=words.document(report),
        formats=words.FORMATS,
        **about_coefficients(COEFFICIENTS),
    )


def about_coefficients(wanted: Iterable[str]) -> dict[str, Any]:
    """Return what explains the coefficients in the tables of a page, by what they are called."""
    measures = tuple(COEFFICIENTS[name] for name in wanted)
    about = {gettext(one.label): one.name for one in measures}
    return {"measures": measures, "about": about, "reasons": {}}


@blueprint.get("/agreement.<end>")
def take_away(end: str) -> Response:
    """Return the agreement on all kinds of items as ``relevansi agreement`` does."""
    made = next((one for one in words.FORMATS.values() if one.extension == end), None)
    if made is None:
        raise NotFound
    with access.reading() as (session, rater):
        report = agreement.report(session, rater.study)
    today = access.now().astimezone().date()
    return attached(made.render(report, today), made.media_type, f"agreement.{end}")
