"""Everybody clicks through a proxy that loses, repeats, delays and reorders requests.

Each device sends three clicks at once, over connections of their own, often on one card: they
arrive in any order, some twice, some late. The verdict in force must be the one clicked last.
"""

from __future__ import annotations

import time
from pathlib import Path

from tests.faults.load import Load
from tests.faults.postgres import Postgres
from tests.faults.proxy import DELAYED, LOST_AFTER, LOST_BEFORE, REPEATED, Proxy
from tests.faults.rows import Row

FAULT = "The network loses, repeats, delays and reorders"
AT_ONCE = 3
CARDS = 2
PATIENCE = 600


def spoil_on_sqlite(folder: Path, clicks: int, seed: int) -> Row:
    """Return what such a network did to clicks on their way to a SQLite file."""
    return _spoil(Load(folder, at_once=AT_ONCE), clicks, seed)


def spoil_on_postgres(folder: Path, clicks: int, seed: int) -> Row:
    """Return what such a network did to clicks on their way to PostgreSQL."""
    postgres = Postgres(folder / "cluster")
    postgres.make()
    postgres.start()
    try:
        return _spoil(Load(folder, postgres.url, at_once=AT_ONCE), clicks, seed)
    finally:
        postgres.kill()


def _spoil(load: Load, clicks: int, seed: int) -> Row:
    load.server.start()
    proxy = Proxy(load.server.port, seed=seed)
    for clicker in load.clickers:
        clicker.places = clicker.places[:CARDS]
    with proxy.serving():
        load.port = lambda: proxy.port
        with load.clicking():
            load.await_clicks(clicks, PATIENCE)
        for clicker in load.clickers:
            clicker.drain()
    time.sleep(0.5)  # what came late is answered
    load.finish()
    return load.row(FAULT, f"{len(load.clickers)} devices: {happened(proxy)}")


def happened(proxy: Proxy) -> str:
    """Return what happened to requests, in numbers."""
    kinds = (LOST_BEFORE, LOST_AFTER, REPEATED, DELAYED)
    counted = ", ".join(f"{proxy.done[kind]} {kind}" for kind in kinds)
    return f"of {proxy.done['requests']} requests {counted}"
