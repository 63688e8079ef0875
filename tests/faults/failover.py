"""PostgreSQL's primary is killed under load and its synchronous standby promoted, again and again.

The server knows both by one address and is never told. Commits wait for the standby, so what
was acknowledged is on it. The one that was killed comes back as the next standby.
"""

from __future__ import annotations

import random
import time
from pathlib import Path

from tests.faults.load import Load, awaited
from tests.faults.postgres import SETTINGS, Postgres
from tests.faults.report import Row

FAULT = "The primary is killed, its synchronous standby promoted"
CLICKS_BETWEEN = 40
LONGEST_ROUND = 0.5
STRICT = "synchronous_standby_names = '*'\n"
"""No commit without a standby, as Patroni's synchronous_mode_strict has it; each server's own."""
IN_STEP = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"


def fail_over(folder: Path, times: int, seed: int) -> Row:
    """Return what so many losses of the primary did."""
    moments = random.Random(seed)
    primary, standby = Postgres(folder / "first"), Postgres(folder / "second")
    primary.make()
    primary.configure(SETTINGS + STRICT)
    primary.start()
    try:
        _attach(standby, primary)
        load = Load(folder, address(primary, standby))
        load.server.start()
        with load.clicking():
            for _ in range(times):
                if not load.await_clicks(CLICKS_BETWEEN):
                    load.damage.append("the service did not come back by itself")
                time.sleep(moments.uniform(0, LONGEST_ROUND))
                primary.kill()
                expected = load.ids()
                standby.promote()
                primary, standby = standby, primary
                assert awaited(lambda now=primary: _takes_writes(now))  # type: ignore[misc]
                load.count(primary.url, expected)
                _attach(standby, primary)
            load.await_clicks(CLICKS_BETWEEN)
        load.finish()
        load.check_refusals(503, words="is not saved yet")
        return load.row(FAULT, _action(load, times))
    finally:
        primary.kill()
        standby.kill()


def _action(load: Load, times: int) -> str:
    longest = max(clicker.longest_wait for clicker in load.clickers)
    return (
        f"{times} times, {load.refused()} clicks refused and repeated; a click waited "
        f"{longest:.1f} s at most for its acknowledgement"
    )


def address(*servers: Postgres) -> str:
    """Return one address of several servers, of which the one that takes writes is meant."""
    hosts = "&".join(f"host={server.address}:{server.port}" for server in servers)
    remainder = "target_session_attrs=read-write&connect_timeout=3"
    return f"postgresql+psycopg://postgres@/postgres?{hosts}&{remainder}"


def _attach(standby: Postgres, primary: Postgres) -> None:
    """Make one server the standby of another, from a copy."""
    standby.copy_of(primary, "standby")
    standby.start()
    assert awaited(lambda: primary.ask(IN_STEP) == "1"), "no standby is in step"


def _takes_writes(server: Postgres) -> bool:
    return server.answers() and server.ask("SELECT pg_is_in_recovery()") == "False"
