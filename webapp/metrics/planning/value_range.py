"""The values that a figure can have, and what an interval makes of them.

Intervals from a sample of the questions take two further questions into account, one with the
lowest and one with the highest value that the figure can have. A sample often has none of the few
questions that differ from the rest, and an interval from its own values alone is then too narrow,
or no wider than a point. With the two it holds as often as it says, for few questions and for
values that hardly differ too; the more questions are drawn, the less they count. For shares this
is the rule of Agresti and Coull, "add two successes and two failures", with one of each.
References: Agresti & Coull (1998), Approximate is better than "exact" for interval estimation of
binomial proportions. The American Statistician 52, 119-126; Agresti & Caffo (2000), Simple and
effective confidence intervals for proportions and differences of proportions result from adding
two successes and two failures. The American Statistician 54, 280-288. ``docs/planning-coverage.md``
has how often these intervals hold.
"""

from __future__ import annotations

from msgspec import Struct

FURTHER = 2
"""The number of further questions, one for each end of the range."""


class ValueRange(Struct, frozen=True):
    """The values that a figure or a difference can have."""

    low: float = 0.0
    high: float = 1.0

    @property
    def ends(self) -> tuple[float, float]:
        """The values of the two further questions."""
        return self.low, self.high

    def cut(self, value: float) -> float:
        """Return the value of the range that is nearest to `value`."""
        return min(self.high, max(self.low, value))
