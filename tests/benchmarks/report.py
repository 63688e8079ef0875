"""The tables as Markdown: targets first, then every section with how it was measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.benchmarks.results import Measurement, Section, Target, Times

Row = Sequence[str]

OPENING = """\
# Benchmarks

Written by `nox -s bench`. The targets are what a rater or an owner would notice; milliseconds
belong to the machine below. `n` counts measurements, p50, p95 and p99 are percentiles, "-" was
not measured or has no meaning there.
"""
WORDS = {True: "yes", False: "**no**", None: "not measured"}


def markdown(machine: Sequence[tuple[str, str]], sections: Sequence[Section]) -> str:
    """Return the whole page."""
    targets = [target for section in sections for target in section.targets]
    parts = [OPENING, _table(("machine", "used"), machine)]
    if targets:
        parts += ["## Targets\n", _table(("asked", "measured", "met"), map(_decided, targets))]
    for section in sections:
        parts += [f"## {section.title}\n", section.how + "\n", _measured(section.rows)]
    return "\n".join(parts)


def _decided(target: Target) -> Row:
    return target.asked, target.measured, WORDS[target.met]


def _measured(rows: Sequence[Measurement]) -> str:
    """Return a table that leaves out the empty columns."""
    head = ("what", "n", "p50 ms", "p95 ms", "p99 ms", "per second", "MB", "yardstick", "ratio")
    table = [head, *(_cells(row) for row in rows)]
    kept = [column for column in zip(*table, strict=True) if set(column[1:]) != {"-"}]
    first, *rest = zip(*kept, strict=True)
    return _table(first, rest)


def _cells(row: Measurement) -> Row:
    return (
        row.what,
        *_of_times(row.times),
        number(row.per_second),
        number(row.memory),
        row.yardstick or "-",
        number(row.ratio),
    )


def _of_times(times: Times | None) -> Row:
    """Return how often and how long; what was done once has no percentiles."""
    if times is None:
        return "-", "-", "-", "-"
    if times.n == 1:
        return "1", number(times.p50), "-", "-"
    return str(times.n), number(times.p50), number(times.p95), number(times.p99)


def number(value: float | None) -> str:
    """Return a figure with three digits that count.

    >>> number(0.01234), number(1.234), number(123.4), number(56789.1), number(None)
    ('0.0123', '1.23', '123', '56,789', '-')
    """
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _table(head: Row, rows: Iterator[Row] | Sequence[Row]) -> str:
    left = "|".join(("", *(" --- " for _ in head), ""))
    lines = [_line(head), left, *(_line(row) for row in rows)]
    return "\n".join(lines) + "\n"


def _line(cells: Row) -> str:
    return f"| {' | '.join(cells)} |"
