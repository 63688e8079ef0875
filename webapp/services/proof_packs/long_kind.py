"""Proof packs of large studies, made beside the requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy.orm import Session

from webapp.db.tables.study import Study
from webapp.services.exports.exports import ExportedFile
from webapp.services.runs import reports
from webapp.services.workers.long_work import Make
from webapp.steps import Tell

PACK = "proof pack"


def wanted(run_id: str | None, rule: str) -> dict[str, Any]:
    """Return what names the pack of a run, or of the study without one, under a rule."""
    return {"run": run_id, "rule": rule}


def make(session: Session, study: Study, wanted: Mapping[str, Any], tell: Tell) -> ExportedFile:
    """Return the pack; raises what ``packs`` raises."""
    from webapp.services.proof_packs import packs  # brings pandas, which no page needs

    rule = reports.rule_of(session, study, wanted["rule"])
    if wanted["run"] is None:
        return packs.of_study(session, study, rule, tell=tell)
    return packs.of_run(session, study, wanted["run"], rule, tell=tell)


KINDS: Mapping[str, Make] = {PACK: make}
