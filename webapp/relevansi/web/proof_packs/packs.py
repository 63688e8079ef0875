"""Everything behind the figures of a run, or of the study, as one zip to take away.

A small pack is the answer itself. A large one is made in the background: the answer leads to the
page that shows how far it is.
"""

from __future__ import annotations

from flask import Blueprint, Response

from relevansi.services.workers import jobs, kinds
from relevansi.web.frame import access
from relevansi.web.study import rules
from relevansi.web.workers.jobs import download, redirect_to_job

blueprint = Blueprint("proof_packs", __name__)


@blueprint.get("/study/proof-pack.zip", endpoint="of_study")
@blueprint.get("/runs/<run_id>/proof-pack.zip", endpoint="of_run")
def pack(run_id: str | None = None) -> Response:
    from relevansi.services.proof_packs import packs  # noqa: PLC0415 - brings pandas, which no page needs

    with access.reading() as (session, rater):
        rule = rules.requested_rule(session, rater.study)
        job_data = kinds.order_to_pack(run_id, rule)
        if not packs.is_long(session, rater.study, run_id, rule):
            return download(kinds.make_pack(session, rater.study, job_data, lambda *_: None))
    return redirect_to_job(jobs.PACK, job_data)
