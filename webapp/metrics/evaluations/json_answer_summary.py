"""The figures of a whole set of JSON answers, failures as 0, and whether it passes the gate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction

from msgspec import Struct, field

from webapp.metrics.evaluations.json_answers import WEIGHTS, JsonScore


class Gate(Struct, frozen=True):
    """The thresholds that the averages must reach; an equal average reaches them."""

    min_average: Fraction = Fraction(95)
    min_pass_rate: Fraction = Fraction(98, 100)


class JsonSummary(Struct):
    """The figures over every answer added; order does not matter."""

    gate: Gate = field(default_factory=Gate)
    count: int = 0
    n_schema_ok: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    too_long: Counter[str] = field(default_factory=Counter)
    _score: Fraction = Fraction(0)
    _parts: dict[str, Fraction] = field(default_factory=lambda: dict.fromkeys(WEIGHTS, Fraction(0)))

    def add(self, score: JsonScore) -> None:
        """Take one answer in, a failed one as 0."""
        self.count += 1
        self.n_schema_ok += score.schema_ok
        if score.reason is not None:
            self.reasons[str(score.reason)] += 1
        self.too_long.update(score.too_long)
        self._score += score.score
        for name, part in score.parts.items():
            self._parts[name] += part

    @property
    def average(self) -> Fraction | None:
        """The mean score over all answers, ``None`` without any."""
        return self._score / self.count if self.count else None

    @property
    def schema_pass_rate(self) -> Fraction | None:
        """Answers that are the object that was asked for / all answers."""
        return Fraction(self.n_schema_ok, self.count) if self.count else None

    @property
    def gate_passed(self) -> bool:
        """Whether both averages reach the gate; nothing scored passes nothing."""
        average, rate = self.average, self.schema_pass_rate
        if average is None or rate is None:
            return False
        return average >= self.gate.min_average and rate >= self.gate.min_pass_rate

    @property
    def part_means(self) -> Mapping[str, Fraction | None]:
        """The mean of every part from 0 to 1 over all answers."""
        return {
            name: total / self.count if self.count else None for name, total in self._parts.items()
        }
