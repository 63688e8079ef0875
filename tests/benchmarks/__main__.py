"""Everything measured in one run: ``python -m tests.benchmarks [--only growth,crowds] [-o FILE]``.

Data is made up, the same every time.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from tests.benchmarks.beside import beside
from tests.benchmarks.catalogue import catalogue
from tests.benchmarks.crowds import crowds
from tests.benchmarks.files import files
from tests.benchmarks.growth import growth
from tests.benchmarks.hostile import hostile
from tests.benchmarks.imports import imports
from tests.benchmarks.machine import machine
from tests.benchmarks.pages import pages
from tests.benchmarks.report import Section, markdown
from tests.benchmarks.starts import starts

BENCHMARKS = {
    benchmark.__name__: benchmark
    for benchmark in (growth, crowds, pages, files, starts, hostile, imports, catalogue, beside)
}
"""In the order of the page."""


def main() -> None:
    """Print the tables, or write them; what is going on is said on the standard error."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    every = ",".join(BENCHMARKS)
    parser.add_argument("--only", default=every, help=f"Some of: {every}.")
    parser.add_argument("-o", "--output", type=Path, help="Where to write the page.")
    options = parser.parse_args()
    chosen = options.only.split(",")
    if unknown := sorted(set(chosen) - set(BENCHMARKS)):
        parser.error(f"unknown: {', '.join(unknown)}")
    sections: list[Section] = []
    with TemporaryDirectory(prefix="relevansi-bench-") as folder:
        facts = machine(Path(folder))
        for name in chosen:
            began = monotonic()
            home = Path(folder, name)
            home.mkdir()
            sections.append(BENCHMARKS[name](home))
            print(f"{sections[-1].title}: {monotonic() - began:.0f} s", file=sys.stderr)
            if options.output:  # what there is, in case a later one fails
                options.output.write_text(markdown(facts, sections), "utf-8")
    if not options.output:
        print(markdown(facts, sections))


if __name__ == "__main__":
    main()
