"""Make the faults: ``python -m faults [--kills N] [--seed S]``; ends with 1 if anything is lost."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from faults.killing import kill_again_and_again

KILLS = 10


def main() -> None:
    """Print what was acknowledged and what was found."""
    parser = argparse.ArgumentParser(prog="faults", description=__doc__)
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("--seed", type=int, default=1)
    said = parser.parse_args()
    if sys.platform == "win32":
        sys.exit("SIGKILL and SIGSTOP are signals of POSIX systems.")
    with tempfile.TemporaryDirectory() as folder:
        report = kill_again_and_again(Path(folder), said.kills, said.seed)
    print(
        f"SIGKILL under load, SQLite: {report.kills} kills, {report.copies} copies of frozen "
        f"files; acknowledged {report.acknowledged}, found {report.found}, "
        f"stored twice {report.doubled}"
    )
    for line in (*report.missing, *report.damage):
        print(line)
    sys.exit(not report.is_good)


if __name__ == "__main__":
    main()
