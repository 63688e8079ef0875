"""A comparison with all that an examiner asks of it: who rated, by which rule, how stable."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from msgspec import Struct

from webapp.metrics.comparisons.comparisons import Comparison
from webapp.metrics.comparisons.stability import Stability
from webapp.records import Blindness, CannotTell


class RaterShare(Struct, frozen=True):
    """One rater's part in the compared runs: verdicts on cards and empty lists."""

    name: str
    judgments: int


class ComparisonPart(Struct, frozen=True):
    """A wing's own comparison of the same runs, under its name in files.

    The wing's modules ``comparison_part`` make it (services), write it (exporters) and show it
    (web).
    """

    name: str
    value: Any


class ComparisonReport(Struct, frozen=True):
    """All that the pages, reports and files of one comparison print.

    ``phase`` is 1, 2 or ``None`` for runs chosen by hand. ``judged_until`` is when the last
    verdict under the rule was given, ``None`` before the first. ``blindness`` counts how many
    were given blind. ``version`` is the product's. ``badged`` is when blind raters began to see
    the outcomes of the constraints on each card, ``record_shown`` when raters began to see the
    facts that only a listing's record has, ``suggested`` when blind raters began to be offered a
    grade; empty if never. ``files`` are the rated CSVs that were compared, empty for runs of a
    study; the files do not name study, raters or blindness.
    ``wordings_opened`` says how often blind raters opened answers as written, and how many did.
    ``cannot_tell`` is what such a card is in the precisions, ``None`` where the files do not say.
    ``parts`` are the wings' own comparisons of the same runs.
    """

    study: str
    phase: int | None
    comparison: Comparison
    stability: Stability
    raters: tuple[RaterShare, ...]
    judged_until: datetime | None
    blindness: Blindness
    version: str
    badged: tuple[datetime, ...] = ()
    files: tuple[str, ...] = ()
    record_shown: tuple[datetime, ...] = ()
    suggested: tuple[datetime, ...] = ()
    wordings_opened: tuple[int, int] = (0, 0)
    parts: tuple[ComparisonPart, ...] = ()
    cannot_tell: CannotTell | None = None

    def part(self, name: str) -> Any:
        """Return the wing's comparison of this name; ``None`` where there is none."""
        return next((part.value for part in self.parts if part.name == name), None)
