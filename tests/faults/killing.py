"""The server, or PostgreSQL, is killed at random moments while people click; nothing is lost.

Clickers keep what was not answered and send it again, under the same id, to the next server.
"""

from __future__ import annotations

import random
import time
from pathlib import Path

from tests.faults.load import Load
from tests.faults.postgres import running
from tests.faults.report import Row

FAULT = "The server is killed"
CRASH = "PostgreSQL is killed and started again"
LONGEST_ROUND = 0.5
FIRST_ANSWER = 10.0


def kill_on_sqlite(folder: Path, kills: int, seed: int) -> Row:
    """Return what so many kills of the server did to a SQLite file."""
    return _kill_server(Load(folder), kills, seed)


def kill_on_postgres(folder: Path, kills: int, seed: int) -> Row:
    """Return what so many kills of the server did to a PostgreSQL database."""
    with running(folder / "cluster") as postgres:
        return _kill_server(Load(folder, postgres.url), kills, seed)


def kill_postgres(folder: Path, kills: int, seed: int) -> Row:
    """Return what so many kills of PostgreSQL itself did, the server going on meanwhile."""
    moments = random.Random(seed)
    with running(folder / "cluster") as postgres:
        load = Load(folder, postgres.url)
        load.server.start()
        with load.clicking():
            for _ in range(kills):
                load.await_clicks(2)
                time.sleep(moments.uniform(0, LONGEST_ROUND))
                postgres.kill()
                time.sleep(moments.uniform(0, LONGEST_ROUND))
                postgres.start()
                load.count()
        load.finish()
        load.check_refusals(503, words="is not saved yet")
        action = f"{kills} kills and restarts, {load.refused()} clicks refused and repeated"
        return load.row(CRASH, action)


def _kill_server(load: Load, kills: int, seed: int) -> Row:
    moments = random.Random(seed)
    for _ in range(kills):
        load.server.start()
        with load.clicking():
            load.await_clicks(1, FIRST_ANSWER)  # a kill may come before the first answer as well
            time.sleep(moments.uniform(0, LONGEST_ROUND))
            load.server.kill()
        load.count()
    load.server.start()
    load.finish()
    return load.row(FAULT, f"{kills} kills at random moments")
