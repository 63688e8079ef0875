"""The coverage tables: ``python -m tests.simulations [--studies N] [-o FILE]``.

Everything is drawn from fixed seeds: the same code writes the same page.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from tests.simulations.coverage import RESAMPLES, SEED, SIMULATIONS, Coverage
from tests.simulations.recorded import recorded

TITLES = {
    "fixed": "A size fixed beforehand: bootstrap with finite population correction",
    "stratified": "The same, each category in proportion",
    "sequence": "A sample that grows: confidence sequence, held at every look",
    "assisted": "People with a machine's help (PPI++), beside people alone",
    "deviation": "The upper 80 % limit of the standard deviation",
}
FIGURES = {"mean_precision_at_5": "Precision@5", "mrr": "MRR", "success_rate": "Success"}

HEAD = """# Do the intervals of a rating plan hold?

Made by `nox -s coverage-tables`. Studies are drawn at random from the recorded verdicts of the
sample study: a run of 30 questions, and its difference to another; a large set has every question
20 times. The tables count how often the interval held the true value, which is known here. An
interval that does what it says holds it in 95 % of the studies (the limit of the deviation in
80 %), give or take the error of the simulation: twice the standard error, beside it. A confidence
sequence may hold more often, as it holds at every look. {short} of {all} rows fall short; they are
marked.

{studies} studies for each row, seed {seed}, {resamples} resamples for each bootstrap.
"""
WHY = """
Most rows that fall short have 30 questions or fewer, or only a few in each category,
and values that hardly differ: most questions are a success, most differences are 0. Such a sample
often has none of the few that differ, and no interval made from it alone can know of them; the
normal intervals beside a machine's help feel it longest. Pages say so below 50 questions. The
confidence sequence needs no such luck and held in every row. The limit of the deviation supposes
normal differences; where most are 0 it holds less often.
"""


def main() -> None:
    """Print the page, or write it; what is going on is said on the standard error."""
    parser = argparse.ArgumentParser(prog="simulations", description=__doc__)
    parser.add_argument("--studies", type=int, default=400)
    parser.add_argument("-o", "--output", type=Path)
    said = parser.parse_args()
    with TemporaryDirectory(prefix="relevansi-coverage-") as folder:
        values = recorded(Path(folder))
    found: dict[str, list[Coverage]] = {}
    for name, simulate in SIMULATIONS.items():
        began = monotonic()
        found[name] = [row for one in values for row in simulate(one, said.studies)]
        print(f"{name}: {monotonic() - began:.0f} s", file=sys.stderr)
    page = markdown(found, said.studies)
    if said.output:
        said.output.write_text(page, "utf-8")
    else:
        print(page)


def markdown(found: dict[str, list[Coverage]], studies: int) -> str:
    """Return the page with a table for each kind of interval."""
    rows = [row for of_kind in found.values() for row in of_kind]
    short = sum(row.falls_short for row in rows)
    head = HEAD.format(
        short=short,
        all=len(rows),
        studies=f"{studies:,}",
        seed=SEED,
        resamples=f"{RESAMPLES:,}",
    )
    parts = [head + (WHY if short else "")]
    parts += ["\n".join(_table(name, of_kind)) for name, of_kind in found.items()]
    return "\n".join(parts)


def _table(name: str, rows: Sequence[Coverage]) -> Iterator[str]:
    yield f"## {TITLES[name]}\n"
    yield "| figure | of | interval | n | questions | held | ± | mean width |"
    yield "|---|---|---|---:|---:|---:|---:|---:|"
    for row in rows:
        mark = " ✗" if row.falls_short else ""
        width = "-" if row.width is None else f"{row.width:.3f}"
        yield (
            f"| {FIGURES[row.values.figure]} | {row.values.name} | {row.method} | {row.n} "
            f"| {row.of} | {100 * row.share:.1f} %{mark} | {100 * row.error:.1f} | {width} |"
        )
    yield ""


if __name__ == "__main__":
    main()
