"""Run the tests that are left without a wing: ``python -m tests.without_wing NAME...``.

The checkout is copied to a folder of its own without the wing and all that needs it, and
the tests run there. Those with the mark `whole` ask about all wings together and are left out, as
are the slow ones. Ends with 1 if a test fails.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.wings import TESTS, copy_package, copy_tests, gone_with, left_out
from webapp.rooms import WINGS

ROOT = TESTS.parent
NOT_COPIED = {"instance", ".git", ".nox", ".venv"}
NOT_THESE = "not whole and not browser and not journey and not thorough"


def main() -> None:
    """Run them for each wing that is named, else for every wing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wings", nargs="*", metavar="NAME")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    if unknown := set(asked.wings).difference(WINGS):
        parser.error(f"not a wing: {', '.join(sorted(unknown))}. There are {', '.join(WINGS)}.")
    failed = [wing for wing in asked.wings or WINGS if not _passes(wing, asked.processes)]
    sys.exit(f"Tests fail without {', '.join(failed)}" if failed else 0)


def _passes(wing: str, processes: int) -> bool:
    sys.stderr.write(f"Without {', '.join(sorted(gone_with(wing)))}\n")
    with TemporaryDirectory() as folder:
        home = Path(folder)
        _copy(home, gone_with(wing))
        chosen = ("-q", "-m", NOT_THESE, "-p", "no:cacheprovider")
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *chosen, "-n", str(processes), "tests"],
            check=False,
            cwd=home,
            env={**os.environ, "PYTHONPATH": folder},
        )
    return done.returncode == 0


def _copy(home: Path, gone: set[str]) -> None:
    """Copy the checkout without these wings."""
    copy_package(ROOT / "webapp", home / "webapp", gone)
    copy_tests(home / "tests", gone)
    for name in ("templates", "static"):
        shutil.copytree(ROOT / name, home / name, ignore=left_out(gone))
    for path in ROOT.iterdir():
        if path.name not in NOT_COPIED and not (home / path.name).exists():
            (home / path.name).symlink_to(path)


if __name__ == "__main__":
    main()
