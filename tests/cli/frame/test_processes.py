"""Several processes answer at one address: they end together, and their writers wait in turn."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.browser.server import ROOT

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows copies no process")

WAITING = """
import os, socket, sys
from webapp.cli.frame import processes

def answer(place, until):
    os.write(1, b"up %d\\n" % os.getpid())
    os.read(until, 1)
    os.write(1, b"told\\n")

def failing(place, until):
    answer(place, until) if place else 1 / 0

sys.exit(not processes.run(3, socket.socket(), {answer}))
"""
WRITING = """
import os, sys
from webapp.db import deadlines
from webapp.db.engine import Database
from webapp.db.outages import WriterBusy

deadlines.PATIENCE_SECONDS = 0.01
database = Database("sqlite:///" + sys.argv[1])
database.prepare()
database.share()
(holds, held), (done, doing) = os.pipe(), os.pipe()
if not os.fork():
    with database.writing():
        os.close(held)
        os.close(doing)
        os.read(done, 1)
    os._exit(0)
os.close(held)
os.read(holds, 1)
try:
    with database.writing():
        print("in")
except WriterBusy:
    print("busy")
os.close(doing)
os.wait()
with database.writing():
    print("in")
"""
SIGNING_IN = """
import os
from webapp.web.frame.access import OpenHouse

house = OpenHouse(is_open=True)
if not os.fork():
    house.is_open = False
    os._exit(0)
os.wait()
print(house.is_open)
"""


def started(script: str, *values: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script, *values],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


@pytest.mark.parametrize(("name", "status"), [("SIGTERM", 0), ("SIGINT", 0), ("SIGKILL", -9)])
def test_they_end_with_the_process_that_was_started(name: str, status: int) -> None:
    with started(WAITING.replace("{answer}", "answer")) as process:
        assert process.stdout is not None
        up = [process.stdout.readline().split()[1] for _ in range(3)]
        process.send_signal(signal.Signals[name])  # Windows has no SIGKILL to name at the top
        rest, faults = process.communicate()  # which waits until all have closed the output

    assert len(set(up)) == 3
    assert rest == "told\n" * 3
    assert (process.returncode, faults) == (status, "")


def test_where_one_fails_all_end() -> None:
    with started(WAITING.replace("{answer}", "failing")) as process:
        said, faults = process.communicate()

    assert said.count("told\n") == 2
    assert "ZeroDivisionError" in faults
    assert process.returncode == 1


def test_a_verdict_waits_while_another_process_stores_one(tmp_path: Path) -> None:
    with started(WRITING, str(tmp_path / "shared.sqlite")) as process:
        said, faults = process.communicate()

    assert (said.split(), faults) == (["busy", "in"], "")


def test_that_people_sign_in_from_now_on_is_known_to_all_at_once() -> None:
    with started(SIGNING_IN) as process:
        said, faults = process.communicate()

    assert (said, faults) == ("False\n", "")
