"""Files that are small beside what reading them takes: a sentence to one, nothing to the others."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import httpx
import pytest
from flask import Flask

from relevansi.db.engine import Database
from relevansi.db.tables.runs import Run
from relevansi.importers.frame import bounded
from relevansi.importers.frame.reader import Limits
from relevansi.web.frame.workers import workers
from tests.browser.server import Server
from tests.hostile_files import HOSTILE
from tests.page import Page
from tests.web.conftest import count, in_english
from tests.web.programs.program import Program

WAIT = 120
MOST_MB = 100
SMALL = b"query_id,question,rank,doc_id\n1,q,1,d1\n"
every_file = pytest.mark.parametrize("name", [*HOSTILE])
short_and_long = pytest.mark.parametrize("name", ["nested.json", "systems.csv"])
"""One is refused at once, one by the limit of time: all are read in one place."""


@pytest.fixture(autouse=True)
def _quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PAGE", "JOB"):
        limits = Limits(memory=2**28, seconds=1, waits=name == "JOB")
        monkeypatch.setattr(bounded, name, limits)


@every_file
def test_the_page_refuses_it_in_words_and_reads_the_next_one(
    app: Flask, web_database: Database, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = in_english(app)
    response = client.post("/runs/import", data={"files": (BytesIO(HOSTILE[name]()), name)})
    assert response.status_code == 303
    assert workers(app).is_idle(WAIT)
    report = client.get(response.location, follow_redirects=True)
    assert report.status_code == 200
    assert "This file cannot be imported." in report.text
    assert name in report.text
    assert "cut off" not in report.text
    token = Page(report).values("[name=token]")
    stored = client.post("/runs/import", data={"token": token, "action": "store"})
    assert stored.status_code == 303
    assert workers(app).is_idle(WAIT)
    assert count(web_database, Run) == 0
    monkeypatch.undo()  # the next one has the usual time, on a machine however busy
    report = client.post(
        "/runs/import", data={"files": (BytesIO(SMALL), "small.csv")}, follow_redirects=True
    )
    assert Page(report).has("[value=store]")


@short_and_long
def test_a_program_is_told_what_is_wrong(app: Flask, web_database: Database, name: str) -> None:
    program = Program(app, "import")
    form = {"files": [(BytesIO(HOSTILE[name]()), name)]}
    answer = program.ask("POST", "/runs", data=form, content_type="multipart/form-data")
    if answer.status_code == 202:
        assert workers(app).is_idle(WAIT)
        assert answer.json
        answer = program.client.get(answer.json["address"], headers=program.headers)
    else:
        assert answer.status_code == 400
    assert answer.json
    problems = answer.json["problems"]
    assert {problem["file"] for problem in problems} == {name}
    assert "cut off" not in problems[0]["message"]
    assert count(web_database, Run) == 0


@short_and_long
def test_a_gate_is_told_what_is_wrong(app: Flask, name: str) -> None:
    program = Program(app, "import")
    form = {"files": [(BytesIO(HOSTILE[name]()), name)], "baseline": "any"}
    answer = program.ask("POST", "/gates", data=form, content_type="multipart/form-data")
    assert answer.status_code == 400
    assert answer.json
    assert {problem["file"] for problem in answer.json["problems"]} == {name}


@pytest.fixture(name="server")
def _server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path)
    server.start()
    yield server
    server.stop()
    assert not server.faults()


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone tells a process's highest memory")
def test_the_memory_of_the_server_stays_as_it_was(server: Server) -> None:
    """The workbook of 3 kB took 5 GB."""
    with httpx.Client(base_url=server.url, timeout=WAIT, follow_redirects=True) as client:
        client.post("/runs/import", files={"files": ("small.csv", SMALL)})
        before = _highest(server)
        for name in ("nested.json", "empty_rows.xlsx"):
            body = {"files": (name, HOSTILE[name]())}
            assert client.post("/runs/import", files=body).status_code == 200
        assert client.get("/healthz").status_code == 200
    assert _highest(server) - before < MOST_MB


def _highest(server: Server) -> float:
    """Return the most memory that a server held up to now, in MB."""
    (pid,) = server.pids()
    status = Path(f"/proc/{pid}/status").read_text("ascii")
    matches = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert matches
    return int(matches[1]) / 1024


LARGE_FILES = """
import threading
from pathlib import Path
from relevansi.app import create_app

create_app()

def resident():
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * 4096 // 2**20

def receive(barrier):
    for _ in range(3):
        content = [b"a" * size * 2**20 for size in (20, 27)]
        barrier.wait()
        del content

barrier = threading.Barrier(8)
before = resident()
for thread in (threads := [threading.Thread(target=receive, args=[barrier]) for _ in range(8)]):
    thread.start()
for thread in threads:
    thread.join()
print(resident() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems take memory back by themselves")
def test_no_thread_of_the_server_keeps_the_memory_of_a_large_file(tmp_path: Path) -> None:
    """Eight threads kept 40 MB each, of refused files of 20 MB."""
    command = [sys.executable, "-c", LARGE_FILES]
    environment = {**os.environ, "RELEVANSI_INSTANCE": str(tmp_path)}

    process = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)

    assert int(process.stdout.split()[-1]) < 40
