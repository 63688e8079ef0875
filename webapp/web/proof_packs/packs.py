"""Everything behind the figures of a run, or of the study, as one zip to take away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint, Response

from webapp.services.runs import reports
from webapp.web.frame import access
from webapp.web.study import rules

if TYPE_CHECKING:
    from webapp.services.exports.exports import ExportedFile

blueprint = Blueprint("proof_packs", __name__)


@blueprint.get("/runs/<run_id>/proof-pack.zip")
def of_run(run_id: str) -> Response:
    """Return the proof pack of one run."""
    from webapp.services.proof_packs import packs  # brings pandas, which no page needs

    with access.reading() as (session, rater):
        rule = reports.rule_of(session, rater.study, rules.wanted())
        return _taken_away(packs.of_run(session, rater.study, run_id, rule))


@blueprint.get("/study/proof-pack.zip")
def of_study() -> Response:
    """Return the proof pack of all runs."""
    from webapp.services.proof_packs import packs

    with access.reading() as (session, rater):
        rule = reports.rule_of(session, rater.study, rules.wanted())
        return _taken_away(packs.of_study(session, rater.study, rule))


def _taken_away(file: ExportedFile) -> Response:
    response = Response(file.data, content_type=file.media_type)
    response.headers.set("Content-Disposition", "attachment", filename=file.name)
    return response
