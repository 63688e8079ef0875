"""Everything measured in one run: ``python -m tests.benchmarks [--only growth,crowds] [-o FILE]``.

Data is made up, the same every time.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from tests.benchmarks.effort import FULL, QUICK, Effort
from tests.benchmarks.machine import machine
from tests.benchmarks.report import markdown
from tests.benchmarks.results import Section

Benchmark = Callable[[Effort, Path], Section]

BENCHMARKS = ("growth", "crowds", "pages", "files", "starts")
"""In the order of the page; each is a module with a function of its name."""


def main() -> None:
    """Print the tables, or write them; what is going on is said on the standard error."""
    said = _arguments().parse_args()
    effort = QUICK if said.quick else FULL
    sections: list[Section] = []
    with TemporaryDirectory(prefix="relevansi-bench-") as folder:
        facts = machine(Path(folder))
        for name in said.only:
            sections.append(measured(name, effort, Path(folder) / name))
            if said.output:  # what there is, in case a later one fails
                said.output.write_text(markdown(facts, sections), "utf-8")
    if not said.output:
        print(markdown(facts, sections))


def measured(name: str, effort: Effort, folder: Path) -> Section:
    """Return the section of one benchmark; `folder` is its own and does not exist yet."""
    began = monotonic()
    folder.mkdir()
    section = benchmark(name)(effort, folder)
    print(f"{section.title}: {monotonic() - began:.0f} s", file=sys.stderr)
    return section


def benchmark(name: str) -> Benchmark:
    """Return the function behind a name; each loads what it needs, others what they need."""
    found: Benchmark = getattr(import_module(f"tests.benchmarks.{name}"), name)
    return found


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    every = ", ".join(BENCHMARKS)
    parser.add_argument("--only", type=_names, default=BENCHMARKS, help=f"Some of: {every}.")
    parser.add_argument("--quick", action="store_true", help="Too small to believe the figures.")
    parser.add_argument("-o", "--output", type=Path, help="Where to write the page.")
    return parser


def _names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(","))
    if unknown := [name for name in names if name not in BENCHMARKS]:
        raise argparse.ArgumentTypeError(f"unknown: {', '.join(unknown)}")
    return names


if __name__ == "__main__":
    main()
