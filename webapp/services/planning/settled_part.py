"""The settled orders of the runs of a comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy.orm import Session

from webapp.db.tables.runs import Run
from webapp.db.tables.study import Study
from webapp.metrics.comparisons.comparisons import ComparisonPart
from webapp.metrics.comparisons.significance import Resampling
from webapp.metrics.planning.settled import PART, SettledOrders
from webapp.services.planning import settled
from webapp.services.runs.reports import Rule

VALUE = SettledOrders
"""The type of the part's value, for reading a comparison that was kept."""


def compared(
    session: Session,
    study: Study,
    runs: Sequence[Run],
    names: Mapping[str, str],
    *,
    rule: Rule,
    settings: Resampling | None = None,  # noqa: ARG001 (nothing is drawn)
) -> ComparisonPart | None:
    """Return which orders of `runs` are settled under `rule`."""
    named = [names[run.id] for run in runs]
    return ComparisonPart(PART, settled.settled_orders(session, study, runs, named, rule))
