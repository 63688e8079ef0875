"""Runs of one question set compared under its gold questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy.orm import Session

from webapp.db.tables.runs import Run
from webapp.db.tables.study import Study
from webapp.metrics.comparisons.comparisons import ComparisonPart
from webapp.metrics.comparisons.significance import Resampling
from webapp.metrics.gold.constraints import (
    PART,
    CheckedContender,
    compare_constraints,
)
from webapp.services.gold import constraints, gold
from webapp.services.runs.reports import Rule


def compared(
    session: Session,
    study: Study,
    runs: Sequence[Run],
    names: Mapping[str, str],
    *,
    rule: Rule | None = None,  # noqa: ARG001 (no verdict of a rater is in these figures)
    settings: Resampling | None = None,
) -> ComparisonPart | None:
    """Return `runs` of one question set compared; ``None`` where it has no gold questions."""
    held = gold.in_force(session, runs[0].question_set_id)
    if held is None:
        return None
    found = compare_constraints(
        [_contender(session, study, run, names[run.id]) for run in runs],
        gold=held.version.name,
        version=held.version.number,
        threshold=held.threshold,
        settings=settings,
    )
    return ComparisonPart(PART, found)


def _contender(session: Session, study: Study, run: Run, name: str) -> CheckedContender:
    found = constraints.checked_run(session, study, run.id)
    assert found.report is not None
    return CheckedContender(
        run=run.id,
        name=name,
        report=found.report,
        not_run=tuple(
            problem.query_id
            for problem in found.remarks
            if problem.code == "gold_not_asked" and problem.query_id is not None
        ),
        decided=len(found.in_force or ()),
        from_text=found.from_text,
    )
