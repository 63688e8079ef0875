"""Several processes that answer at one address: they share its socket and the queue of writers.

Each is a copy of the process that has built the application, so that a further one starts at once.
That process answers nobody: it waits. Where it is told to stop, or ends in any other way, the
others finish what they have begun; where one of them ends by itself, all do, as a server of a
single process would have ended.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Iterator, MutableSequence
from contextlib import contextmanager, suppress

CAN_BE_SEVERAL = hasattr(os, "fork")
USUAL = 2
"""More win nothing on SQLite: verdicts are stored one after the other."""


def usual() -> int:
    """Return how many processes answer best on this machine.

    On macOS one: its libraries do not survive being copied in every case.
    """
    if sys.platform != "linux":
        return 1
    return min(USUAL, len(os.sched_getaffinity(0)))


def counts(number: int) -> MutableSequence[int]:
    """Return so many counts, all 0, that the processes have in common."""
    from multiprocessing import get_context  # 10 ms that a single process need not pay

    shared: MutableSequence[int] = get_context("fork").RawArray("i", number)
    return shared


def run(number: int, listener: socket.socket, answer: Callable[[int, int], None]) -> bool:
    """Run `answer` in so many processes until they are told to stop; whether all ended well.

    It is given the number of the process, from 0, and a file that ends once the process is to stop.
    Each of the processes has the `listener`.
    """
    ends_here, held = os.pipe()
    children: set[int] = set()
    ended_well = True
    with _passing_on(children, held) as tell:
        for one in range(number):
            children.add(_copy(one, answer, ends_here, held))
        os.close(ends_here)
        listener.close()
        while children:
            child, status = os.wait()
            children.discard(child)
            ended_well = ended_well and status == 0
            tell()
    return ended_well


def _copy(number: int, answer: Callable[[int, int], None], ends_here: int, held: int) -> int:
    """Return the id of a copy of this process, which ends with `answer`."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.close(held)
        answer(number, ends_here)
        status = 0
    except KeyboardInterrupt:
        status = 2
    finally:
        if status == 1:
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


@contextmanager
def _passing_on(children: set[int], held: int) -> Iterator[Callable[[], None]]:
    """Yield a function that asks the children to stop; so does the first signal to stop.

    The second one ends them at once.
    """
    told = False

    def tell() -> None:
        nonlocal told
        if not told:
            told = True
            os.close(held)

    def stop(_number: int, _frame: object) -> None:
        if told:
            for child in children:
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
        tell()

    before = {kind: signal.signal(kind, stop) for kind in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield tell
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)
