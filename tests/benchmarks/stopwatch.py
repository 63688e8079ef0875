"""One process, timed by a small one beside it: ``python -m tests.benchmarks.stopwatch COMMAND...``.

A process counts as its own what its parent held when it started it, so the parent must hold
little: this module needs nothing but the standard library.
"""

import json
import os
import subprocess
import sys
from time import perf_counter

if __name__ == "__main__":
    began = perf_counter()
    process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    code = process.returncode = os.waitstatus_to_exitcode(status)
    processor = usage.ru_utime + usage.ru_stime
    json.dump([code, perf_counter() - began, usage.ru_maxrss / 2**10, processor], sys.stdout)
