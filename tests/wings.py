"""Wings as the tests know them: what goes with one, and which tests look at the whole product."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
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
    "without_wing.py": "runs the tests that are left",
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


def gone_with(wing: str) -> set[str]:
    """Return a wing and those that go with it."""
    return {wing, *NEEDED_BY.get(wing, ())}


def copy_package(package: Path, to: Path, gone: set[str]) -> None:
    """Copy the package `webapp` without these wings: their folders, tables and names."""
    shutil.copytree(package, to, ignore=left_out(gone), symlinks=True)
    rooms = to / "rooms.py"
    listed = "|".join(gone)
    rooms.write_text(re.sub(rf'    "({listed})",\n', "", rooms.read_text("utf-8")), "utf-8")


def left_out(gone: set[str]) -> Callable[[str, list[str]], set[str]]:
    """Return what leaves out the folders of these names and the modules of their tables."""

    def ignored(folder: str, names: list[str]) -> set[str]:
        if Path(folder).name == "tables":
            return {f"{name}.py" for name in gone}
        return {name for name in gone.intersection(names) if Path(folder, name).is_dir()}

    return ignored


def copy_tests(to: Path, gone: set[str]) -> None:
    """Copy the tests without those of these wings and the suites over the whole product."""
    for path in TESTS.rglob("*.py"):
        file = path.relative_to(TESTS)
        if not is_of_the_whole(file) and not gone.intersection(file.parts):
            (to / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, to / file)


def is_of_the_whole(path: Path) -> bool:
    """Whether a file, named from tests/, belongs to a suite over the whole product."""
    return any(place.as_posix() in OF_THE_WHOLE for place in (path, *path.parents))
