"""The faults would tell: what is lost, doubled or refused in the wrong way is counted."""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread

import pytest

from tests.faults.clicking import Clicker
from tests.faults.load import Load
from tests.faults.proxy import Odds, Proxy
from tests.faults.rows import Row
from tests.faults.table import written

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the faults need POSIX signals")

GOOD = Row("A fault", "SQLite", "twice", acknowledged=5, found=5)
NOTHING_HAPPENS = Odds(lost_before=0, lost_after=0, repeated=0, delayed=0)
PART = '<hx-partial hx-target="#notices"></hx-partial>'


class Said(ThreadingHTTPServer):
    """A server that answers with these statuses, the last one from then on, and listens."""

    def __init__(self, *statuses: int) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.statuses = list(statuses)
        self.heard: list[str] = []


class Answering(BaseHTTPRequestHandler):
    server: Said

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.server.heard.append(body)
        statuses = self.server.statuses
        self.send_response(statuses.pop(0) if len(statuses) > 1 else statuses[0])
        self.send_header("Content-Length", str(len(PART)))
        self.end_headers()
        self.wfile.write(PART.encode())

    def log_message(self, *_said: object) -> None:
        """Say nothing on stderr."""


@contextmanager
def answering(*statuses: int) -> Iterator[Said]:
    with Said(*statuses) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def clicker(port: int) -> Clicker:
    return Clicker("device", "run", [(1, 1)], lambda: port)


def test_a_click_keeps_its_id_until_it_is_acknowledged() -> None:
    with answering(503, 507, 429, 200) as server:
        rater = clicker(server.server_port)
        rater.click_until(_after(rater, 2))

    first, *others = server.heard
    assert others[:3] == [first] * 3
    assert "event_id=device-2" in others[3]
    assert [click.event_id for click in rater.acknowledged][:2] == ["device-1", "device-2"]
    assert rater.wrong == []


def test_a_refusal_that_no_outbox_repeats_is_wrong() -> None:
    with answering(409, 200) as server:
        rater = clicker(server.server_port)
        rater.click_until(_after(rater, 1))

    assert rater.wrong == ["device-1: 409"]
    assert [click.event_id for click in rater.acknowledged][:1] == ["device-2"]


@pytest.mark.parametrize(
    ("odds", "heard", "acknowledged"),
    [
        (NOTHING_HAPPENS, 1, True),
        (replace(NOTHING_HAPPENS, lost_before=1), 0, False),
        (replace(NOTHING_HAPPENS, lost_after=1), 1, False),
        (replace(NOTHING_HAPPENS, repeated=1), 2, True),
    ],
)
def test_the_proxy_loses_and_repeats_as_it_is_told(
    odds: Odds, heard: int, *, acknowledged: bool
) -> None:
    with answering(200) as server:
        proxy = Proxy(server.server_port, odds)
        with proxy.serving():
            rater = clicker(proxy.port)
            rater.waiting.append(rater._next())
            assert rater.send() is acknowledged

    assert len(server.heard) == heard
    assert len(set(server.heard)) <= 1


def test_what_was_acknowledged_and_is_not_stored_is_missing(tmp_path: Path) -> None:
    load = Load(tmp_path)
    lost = load.clickers[0]._next()
    load.clickers[0].acknowledged.append(replace(lost, relevance="1"))

    row = load.row("Nothing was sent", "once")

    assert (row.acknowledged, row.found, row.missing) == (1, 0, 1)
    assert not row.is_good
    assert f"{lost.event_id} was acknowledged and is gone" in row.damage
    assert f"{lost.place}: device0 said 1 last" in row.damage


@pytest.mark.parametrize(
    "bad",
    [
        {"found": 4},
        {"doubled": 1},
        {"missing": 1},
        {"damage": ("a traceback",)},
        {"acknowledged": 0, "found": 0},
    ],
)
def test_a_row_is_good_only_if_all_is_there_once(bad: dict[str, int]) -> None:
    assert GOOD.is_good
    assert not replace(GOOD, **bad).is_good  # type: ignore[arg-type]


def test_the_page_counts_marks_and_names_no_host(tmp_path: Path) -> None:
    lost = replace(GOOD, fault="Another", found=4, missing=1)
    left_out = Row("A third", "PostgreSQL", reason="no root")

    page = written([GOOD, lost, left_out], "nox -s faults", 90, tmp_path)

    assert "| A fault | SQLite | 5 | 5 | 0 | 0 | twice |" in page
    assert "| Another | SQLite | 5 | 4 | 0 | 1 | FAILED: twice |" in page
    assert "| A third | PostgreSQL |  |  |  |  | not made here: no root |" in page
    assert "acknowledged 10, found 9" in page
    assert platform.node() not in page
    assert str(tmp_path) not in page


def _after(rater: Clicker, clicks: int) -> Event:
    """Return what is set once so many clicks were acknowledged."""
    done = Event()

    def wait() -> None:
        while len(rater.acknowledged) < clicks:
            time.sleep(0.005)
        done.set()

    Thread(target=wait).start()
    return done
