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
    "assisted": "People with a machine's help (PPI++), beside people alone",
    "deviation": "The upper 80 % limit of the standard deviation",
}
FIGURES = {"mean_precision_at_5": "Precision@5", "mrr": "MRR", "success_rate": "Success"}

HEAD = """# Do the intervals of a rating plan hold?

Made by `nox -s coverage-tables`. The recorded verdicts of the sample study are the set of
questions: a run of 30 questions, and its difference to another; a large set has each of them 20
times. Studies draw questions from it at random, without replacement. The tables count how often
the interval held the true value, the mean over all questions of the set that have a value. An
interval that does what it says holds it in 95 % of the studies (the limit of the deviation in
80 %), give or take the error of the simulation: twice the standard error, beside it. It may hold
more often: intervals of small samples do. **{short} of {all} rows fall short**; they are marked.

{studies} studies for each row, seed {seed}, {resamples} resamples for each bootstrap.

Intervals from a sample take two further questions into account, one with the lowest and one with
the highest value that the figure can have (Agresti & Coull 1998, for shares), with the quantiles
of Student's t, and are cut to the range of the figure. Most questions are a success, most
differences are 0, and a small sample often has none of the few that differ: from its own values
alone an interval of 10 questions held in 71 % to 94 % of the studies, and now and then it was a
point. The two further questions make such intervals wide, and those of 100 questions a little
wider. Values that are all close together pay for them too.
"""
NOTES = {
    "deviation": """The limit supposes that differences are normal (chi-square). Most differences of
success and reciprocal ranks are 0, and a few are large; then it holds less often, and more
questions do not help. A plan that takes it into account can still ask too few questions, so the
page of a plan says that the limit is one for normal differences. The simulated power beside it
supposes nothing of the kind.""",
}
"""Sentences above a table."""


def main() -> None:
    """Print the page, or write it; what is going on is said on the standard error."""
    parser = argparse.ArgumentParser(prog="simulations", description=__doc__)
    parser.add_argument("--studies", type=int, default=2000)
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
    parts = [head]
    parts += ["\n".join(_table(name, of_kind)) for name, of_kind in found.items()]
    return "\n".join(parts)


def _table(name: str, rows: Sequence[Coverage]) -> Iterator[str]:
    yield f"## {TITLES[name]}\n"
    if name in NOTES:
        yield f"{NOTES[name]}\n"
    has_none = any(row.none for row in rows)
    last = (" no interval |", "---:|") if has_none else ("", "")
    yield f"| figure | of | interval | n | questions | held | ± | mean width |{last[0]}"
    yield f"|---|---|---|---:|---:|---:|---:|---:|{last[1]}"
    for row in rows:
        mark = " ✗" if row.falls_short else ""
        width = "-" if row.width is None else f"{row.width:.3f}"
        none = f" {100 * row.none / (row.none + row.studies):.1f} % |" if has_none else ""
        yield (
            f"| {FIGURES[row.values.figure]} | {row.values.name} | {row.method} | {row.n} "
            f"| {row.of} | {100 * row.share:.1f} %{mark} | {100 * row.error:.1f} | {width} |{none}"
        )
    yield ""


if __name__ == "__main__":
    main()
