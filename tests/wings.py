"""Wings as the tests know them: what goes with one, and which tests look at the whole product."""

from __future__ import annotations

from pathlib import Path

from webapp.rooms import WINGS

TESTS = Path(__file__).parent
NEEDED_BY = {"gold": ("evaluations", "machine_judges"), "evaluations": ("machine_judges",)}
"""Wings that import another one and go with it: pyproject.toml says what for."""

OF_THE_WHOLE = {
    "benchmarks": "measure what every room does",
    "faults": "break what every room stores, on the machine that the benchmarks describe",
    "fuzzing": "spoils files of every format and asks for every address",
    "simulations": "hold planning's intervals on the sample study, for a page of docs/",
    "test_benchmarks.py": "tests the suite of its name",
    "test_faults.py": "tests the suite of its name",
    "test_fuzzing.py": "tests the suite of its name",
    "fuzzed_numbers.py": "is an input of that",
    "test_simulations.py": "tests the suite of its name",
    "browser/test_every_page.py": "looks at every page, a participant's too",
    "cli/test_hostile_names.py": "calls every command",
    "web/test_reach.py": "clicks from first pages to all others",
}
"""Suites over the whole product, which name wings: folders and files of tests/, and why."""


def allowed(path: Path) -> set[str]:
    """Return the wings that a test file may import: those it is in, and those that they need."""
    own = set(path.parts).intersection(WINGS)
    return own | {wing for wing, others in NEEDED_BY.items() if own.intersection(others)}


def is_of_the_whole(path: Path) -> bool:
    """Whether a file, named from tests/, belongs to a suite over the whole product."""
    return any(place.as_posix() in OF_THE_WHOLE for place in (path, *path.parents))
