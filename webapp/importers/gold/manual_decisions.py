"""The decisions of a ``manual_input.json`` as the evaluation of constraints takes them."""

from __future__ import annotations

from webapp.importers.agreement.manual_input import ManualInput, ManualResult
from webapp.metrics.gold.constraint_rules import Outcome
from webapp.metrics.gold.constraints import Decisions


def decisions(manual: ManualInput) -> Decisions:
    """Return the decisions of `manual`; pending is not a verdict."""
    overrides: dict[tuple[int, int], dict[str, Outcome]] = {}
    for override in manual.overrides:
        outcome = Outcome(override.result)
        overrides.setdefault((override.query_id, override.card), {})[override.constraint] = outcome
    return Decisions(
        overrides=overrides,
        cards={
            (evaluation.query_id, evaluation.card): evaluation.result is ManualResult.PASS
            for evaluation in manual.evaluations
            if evaluation.result is not ManualResult.PENDING
        },
        comments={(e.query_id, e.card): e.comment for e in manual.evaluations if e.comment},
    )
