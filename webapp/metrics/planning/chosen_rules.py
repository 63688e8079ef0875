"""The rule by which a study decided how much is judged, as reports and proof packs name it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from msgspec import Struct, field


class ChosenRule(Struct, frozen=True):
    """A rule with its seed, when it was chosen, and the questions it drew.

    ``kind`` is one of ``PlanningRule``. ``verdicts_before`` counts
    people's verdicts on the question set when it was chosen, ``verdicts_at_end`` when it ended.
    ``sample`` has the positions of the questions drawn, in the order of drawing, of ``of``
    questions in the set; empty for a rule that draws none.
    """

    kind: str
    seed: int
    chosen_at: datetime
    verdicts_before: int
    of: int
    ended_at: datetime | None = None
    verdicts_at_end: int | None = None
    outcome: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    sample: tuple[int, ...] = ()
    strata: tuple[str, ...] = ()

    @property
    def beforehand(self) -> bool:
        """Whether it was chosen before the first verdict."""
        return self.verdicts_before == 0
