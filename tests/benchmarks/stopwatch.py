"""One process, timed by a small one beside it: ``python -m tests.benchmarks.stopwatch COMMAND...``.

A process counts as its own what its parent held when it started it, so the parent must hold
little: this module needs nothing but the standard library.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from time import perf_counter

UNIT = 2**20 if sys.platform == "darwin" else 2**10
"""In one megabyte, of what the system counts memory in."""


def main() -> None:
    """Print the exit code, the seconds and the most megabytes, null where nobody tells them."""
    began = perf_counter()
    process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
    megabytes = None
    if hasattr(os, "wait4"):
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        megabytes = usage.ru_maxrss / UNIT
    code = process.wait()
    json.dump([code, perf_counter() - began, megabytes], sys.stdout)


if __name__ == "__main__":
    main()
