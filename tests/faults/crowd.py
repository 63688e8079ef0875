"""Many click at once while another program keeps the database locked for a while.

Each click is answered within the time that a writer waits, a client that only asks is answered
quickly, and refused clicks are stored once when they are sent again.
"""

from __future__ import annotations

import time
from pathlib import Path
from urllib.request import urlopen

from tests.faults.load import Load
from tests.faults.locked import locked_by_another
from tests.faults.rows import Row
from webapp.db.engine import PATIENCE_SECONDS

FAULT = "Many writers behind a lock"
CLICKERS = 32
KEPT_SECONDS = 12.0
CLICKS_BETWEEN = 100
SLACK_SECONDS = 4.0
"""Seconds that an answer may take beyond its deadline on a machine that is busy otherwise."""
PAUSE = 0.25


def click_behind_lock(folder: Path, times: int) -> Row:
    """Return what came of so many clickers on a SQLite file that another process writes to."""
    load = Load(folder, clickers=CLICKERS)
    load.server.start()
    slowest_healthz = 0.0
    with load.clicking():
        for _ in range(times):
            load.await_clicks(CLICKS_BETWEEN)
            with locked_by_another(load.sqlite_file):
                until = time.monotonic() + KEPT_SECONDS
                while time.monotonic() < until:
                    slowest_healthz = max(slowest_healthz, _healthz(load))
                    time.sleep(PAUSE)
        load.await_clicks(CLICKS_BETWEEN)
    load.finish()
    load.said(503, words="is not saved yet")
    slowest = max(clicker.slowest_answer for clicker in load.clickers)
    if slowest > PATIENCE_SECONDS + SLACK_SECONDS:
        load.damage.append(f"a click was answered after {slowest:.1f} s")
    if slowest_healthz > SLACK_SECONDS:
        load.damage.append(f"/healthz was answered after {slowest_healthz:.1f} s")
    made = (
        f"{times} times {KEPT_SECONDS:.0f} s, {CLICKERS} devices; {load.refused()} clicks refused "
        f"and repeated, each answered within {slowest:.1f} s, /healthz within "
        f"{slowest_healthz:.1f} s"
    )
    return load.row(FAULT, made)


def _healthz(load: Load) -> float:
    """Return the seconds until ``/healthz`` said that all is well."""
    began = time.monotonic()
    with urlopen(f"{load.server.url}/healthz", timeout=30) as answer:
        if answer.status != 200:
            load.damage.append(f"/healthz says {answer.status}")
    return time.monotonic() - began
