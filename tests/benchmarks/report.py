"""What was measured, as Markdown: targets first, then every section with how it was measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import quantiles

OPENING = """\
# Benchmarks

Written by `nox -s bench`. The targets are what a rater or an owner would notice; milliseconds
belong to the machine below. `n` counts measurements, p50, p95 and p99 are percentiles, "-" was
not measured or has no meaning there.
"""


@dataclass(frozen=True, slots=True)
class Measurement:
    """One row of a table: the milliseconds that repetitions took, beside a yardstick.

    ``per_second`` is there where requests were answered at once, ``memory`` (MB, at its
    highest) where a whole process was measured. ``ratio`` is ours / yardstick in time.
    """

    what: str
    milliseconds: Sequence[float] = ()
    per_second: float | None = None
    memory: float | None = None
    yardstick: str = ""
    ratio: float | None = None

    def percentile(self, percent: int) -> float:
        """Return a percentile of the times.

        >>> Measurement("", [1, 2, 3, 4, 5]).percentile(50)
        3.0
        """
        if len(self.milliseconds) == 1:
            return self.milliseconds[0]
        return quantiles(self.milliseconds, n=100, method="inclusive")[percent - 1]

    def cells(self) -> Sequence[str]:
        """Return the row as text; what was done once has no percentiles."""
        n = len(self.milliseconds)
        times = [number(self.percentile(p)) if n > (p > 50) else "-" for p in (50, 95, 99)]
        others = number(self.per_second), number(self.memory), self.yardstick or "-"
        return self.what, str(n) if n else "-", *times, *others, number(self.ratio)


@dataclass(frozen=True, slots=True)
class Target:
    """A target, its measurement, and whether it is met; ``None`` if it was not measured."""

    limit: str
    measured: str
    met: bool | None


@dataclass(frozen=True, slots=True)
class Section:
    """One table with its title, how it was measured, and the targets it decides."""

    title: str
    how: str
    rows: Sequence[Measurement]
    targets: Sequence[Target] = field(default_factory=tuple)


HEAD = ("what", "n", "p50 ms", "p95 ms", "p99 ms", "per second", "MB", "yardstick", "ratio")


def markdown(machine: Sequence[tuple[str, str]], sections: Sequence[Section]) -> str:
    """Return the whole page; columns in which nothing stands are left out."""
    words = {True: "yes", False: "**no**", None: "not measured"}
    targets = [
        (target.limit, target.measured, words[target.met])
        for each in sections
        for target in each.targets
    ]
    parts = [OPENING, _table(("machine", "used"), machine)]
    if targets:
        parts += ["## Targets\n", _table(("asked", "measured", "met"), targets)]
    for section in sections:
        table = [HEAD, *(row.cells() for row in section.rows)]
        columns = [column for column in zip(*table, strict=True) if set(column[1:]) != {"-"}]
        first, *remainder = zip(*columns, strict=True)
        parts += [f"## {section.title}\n", section.how + "\n", _table(first, remainder)]
    return "\n".join(parts)


def number(value: float | None) -> str:
    """Return a figure with three digits that count.

    >>> number(0.01234), number(1.234), number(123.4), number(56789.1), number(None)
    ('0.0123', '1.23', '123', '56,789', '-')
    """
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, [" --- " for _ in head], *rows]
    return "".join(f"| {' | '.join(cell.strip() for cell in line)} |\n" for line in lines)
