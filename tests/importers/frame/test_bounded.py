"""Files are read in processes apart: what comes back, and what a reader cannot do to its server."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Semaphore
from typing import Any

import pytest

from relevansi.importers.frame import bounded, reader
from relevansi.importers.frame.bounded import ReadersBusy, ReaderStopped
from relevansi.importers.frame.reader import Limits
from relevansi.importers.runs.problems import UnreadableFile
from tests.importers.frame import readers

SMALL = Limits(memory=64 * 2**20, seconds=1)
on_unix = pytest.mark.skipif(sys.platform == "win32", reason="Windows limits time only")


@pytest.fixture(autouse=True)
def _apart() -> Iterator[None]:
    with bounded.within(SMALL):
        yield


def test_a_result_comes_back_with_the_progress_on_its_way() -> None:
    heard: list[tuple[int, int]] = []
    result = bounded.call(
        "a.csv", readers.doubled, (1, 2), on_progress=lambda *how: heard.append(how)
    )
    assert (result, heard) == ((2, 4), [(0, 2)])
    assert bounded.call("a.csv", readers.pids)[0] != os.getpid()


def test_large_arguments_and_results_arrive_whole() -> None:
    assert bounded.call("a.csv", bytes.upper, b"abc" * 5_000_000) == b"ABC" * 5_000_000


def test_outside_the_block_the_own_process_reads() -> None:
    with bounded.within(None):
        assert bounded.call("a.csv", readers.pids)[0] == os.getpid()


def test_a_refusal_comes_back_with_all_its_problems() -> None:
    with pytest.raises(UnreadableFile) as refused:
        bounded.call("a.csv", readers.refuses, "a.csv")
    listed = [(problem.code, problem.file, problem.line) for problem in refused.value.problems]
    assert listed == [("results_cut_off", "a.csv", None), ("json_broken", "a.csv", 3)]


def test_a_fault_of_ours_comes_back_as_it_is_and_says_where_it_was() -> None:
    with pytest.raises(KeyError, match="a fault of ours") as fault:
        bounded.call("a.csv", readers.is_wrong)
    assert "in is_wrong" in fault.value.__notes__[0]


@pytest.mark.parametrize(
    ("read", "code"),
    [
        pytest.param(readers.fills, "reader_stopped", id="memory", marks=on_unix),
        pytest.param(readers.goes_on, "reader_stopped", id="time"),
        pytest.param(readers.dies, "reader_stopped", id="killed", marks=on_unix),
        pytest.param(readers.nests, "nested_too_deep", id="nested"),
    ],
)
def test_a_reader_that_stops_is_a_refusal_of_its_file(read: Callable[..., Any], code: str) -> None:
    arguments = [65] if read is readers.fills else []
    with pytest.raises(ReaderStopped) as stopped:
        bounded.call("a.csv", read, *arguments)
    assert (stopped.value.problem.code, stopped.value.problem.file) == (code, "a.csv")
    assert bounded.call("b.csv", readers.doubled, (1,)) == (2,)


def test_within_its_limit_a_reader_may_fill_memory() -> None:
    assert bounded.call("a.csv", readers.fills, 50) == 50 * 2**20


@on_unix
def test_a_memory_that_the_system_does_not_limit_is_watched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """macOS: what was filled lives on as the highest size that the process had."""
    ends: list[int] = []
    sizes = iter([10, 20, 31])
    monkeypatch.setattr(reader, "_peak", lambda: next(sizes))
    monkeypatch.setattr(time, "sleep", lambda _seconds: None)
    monkeypatch.setattr(os, "_exit", ends.append)
    reader._end_beyond(20)
    assert ends == [1]


def test_without_a_fork_each_call_has_a_process_that_is_begun_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    heard: list[tuple[int, int]] = []
    result = bounded.call(
        "a.csv", readers.doubled, (1, 2), on_progress=lambda *how: heard.append(how)
    )
    assert (result, heard) == ((2, 4), [(0, 2)])
    assert bounded.call("a.csv", readers.pids)[1] == os.getpid()
    with pytest.raises(UnreadableFile):
        bounded.call("a.csv", readers.refuses, "a.csv")
    with pytest.raises(ReaderStopped):
        bounded.call("a.csv", readers.goes_on)


def test_whoever_gives_up_ends_the_reader() -> None:
    class GivenUp(Exception):
        pass

    def give_up(_number: int, _of: int) -> None:
        raise GivenUp

    with pytest.raises(GivenUp):
        bounded.call("a.csv", readers.doubled, (1, 2), on_progress=give_up)
    assert bounded.call("b.csv", readers.doubled, (1,)) == (2,)


def test_requests_beyond_the_most_are_put_off_and_jobs_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bounded, "_requests", Semaphore(0))
    with pytest.raises(ReadersBusy):
        bounded.call("a.csv", readers.doubled, (1,))
    with bounded.within(bounded.JOB):
        assert bounded.call("a.csv", readers.doubled, (1,)) == (2,)


@on_unix
def test_a_helper_that_was_killed_is_replaced_and_leaves_no_zombie() -> None:
    _, helper, _ = bounded.call("a.csv", readers.pids)
    os.kill(helper, signal.SIGKILL)
    assert _has_ended(helper)
    _, second_pid, _ = bounded.call("a.csv", readers.pids)
    assert second_pid != helper
    with pytest.raises(ProcessLookupError):
        os.kill(helper, 0)


@on_unix
def test_a_service_that_is_told_to_end_finishes_what_it_reads() -> None:
    """By Ctrl+C, which goes to a whole session, or by a signal to each of its processes."""
    _, helper, session = bounded.call("a.csv", readers.pids)
    assert session != os.getsid(0)
    assert bounded.call("a.csv", readers.is_told_to_end) == "read"
    os.kill(helper, signal.SIGTERM)
    assert bounded.call("a.csv", readers.pids)[1] == helper


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="Linux alone tells of other processes")
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_helper_and_readers_end_with_their_server(tmp_path: Path, end: signal.Signals) -> None:
    file = tmp_path / "pids"
    code = (
        "from tests.importers.frame import readers\n"
        "from relevansi.importers.frame import bounded\n"
        "with bounded.within(bounded.PAGE):\n"
        f"    bounded.call('a.csv', readers.goes_on_after_writing, {str(file)!r})\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as server:
        while not file.exists():
            assert server.poll() is None
            time.sleep(0.01)  # it needs the processor
        reading, helper, _ = map(int, file.read_text("ascii").split())
        server.send_signal(end)
    assert _has_ended(reading)
    assert _has_ended(helper)


def _has_ended(pid: int) -> bool:
    """Whether a process has ended or ends within a minute."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([watched], [], [], 60)[0])
    finally:
        os.close(watched)
