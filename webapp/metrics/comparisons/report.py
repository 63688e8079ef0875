"""A comparison with all that an examiner asks of it: who rated, by which rule, how stable."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from webapp.metrics.comparisons.comparisons import Comparison
from webapp.metrics.comparisons.stability import Stability
from webapp.metrics.gold.constraint_comparison import ConstraintComparison


@dataclass(frozen=True, slots=True)
class RaterShare:
    """One rater's part in the compared runs: verdicts on cards and empty lists."""

    name: str
    judgments: int


@dataclass(frozen=True, slots=True)
class ComparisonReport:
    """What every page, report and file of one comparison prints.

    ``phase`` is 1, 2 or ``None`` for runs chosen by hand. ``judged_until`` is when the last
    verdict under the rule was given, ``None`` before the first. ``blind`` says whether raters
    saw neither run nor method; ``unblinded`` when that was given up, empty if never.
    ``version`` is the product's. ``badged`` is when blind raters began to see what the
    constraints came to on each card, ``record_shown`` when raters began to see what only a
    listing's record knows; empty if never. ``files`` are the rated CSVs that were compared,
    empty for runs of a study; the files say nothing of study, raters or blindness.
    ``constraints`` compares the same runs under V2, ``None`` where their question set has no gold
    questions.
    """

    study: str
    phase: int | None
    comparison: Comparison
    stability: Stability
    raters: tuple[RaterShare, ...]
    judged_until: datetime | None
    blind: bool
    unblinded: tuple[datetime, ...]
    version: str
    badged: tuple[datetime, ...] = ()
    files: tuple[str, ...] = ()
    constraints: ConstraintComparison | None = None
    record_shown: tuple[datetime, ...] = ()
