"""The format proof-pack: one zip with everything behind the figures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.orm import Session

from webapp.cli.exports.exporting import ExportFormat, Writer
from webapp.cli.frame import output
from webapp.cli.frame.commands import AppFactory
from webapp.db.tables.study import Study
from webapp.services.proof_packs import packs
from webapp.services.runs.reports import Rule


@contextmanager
def opened(_create_app: AppFactory) -> Iterator[Writer]:
    """Yield what makes the pack of a run, or of the whole study."""
    yield _packed


def _packed(session: Session, study: Study, run_id: str | None, rule: Rule) -> bytes:
    with output.steps() as tell:
        if run_id is None:
            return packs.of_study(session, study, rule, tell=tell).data
        return packs.of_run(session, study, run_id, rule, tell=tell).data


FORMAT = ExportFormat("proof-pack", opened, takes_all=True, private=True)
