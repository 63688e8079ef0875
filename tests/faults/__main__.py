"""Make the faults: ``python -m tests.faults [--kills N] [--seed S] [--only NAME] [-o FILE]``.

Ends with 1 if anything that was acknowledged is lost, stored twice or wrong.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from tests.faults import cluster, failover, full_disk, half_open, killing, load, locked, replaced
from tests.faults.processes import everything_ended
from tests.faults.report import CannotBeMade, Row, cluster_of, show, with_cluster, written

KILLS = 60
SEED = 1
SQLITE, POSTGRESQL = "SQLite", "PostgreSQL"
SERVERS = ("waitress", "granian")
CLUSTER = "cluster"
"""The faults of two servers, which a session of their own makes."""

Fault = tuple[str, str, Callable[[Path], Row]]
"""The fault's name where it cannot be made, its database, and how to make it in a folder."""


def faults(kills: int, seed: int) -> Mapping[str, Sequence[Fault]]:
    """Return every fault by the name that ``--only`` takes; `kills` sets how often each is made."""
    few, some = max(2, kills // 20), max(2, kills // 10)
    return {
        "kill": (
            (killing.FAULT, SQLITE, lambda at: killing.kill_on_sqlite(at, kills, seed)),
            (killing.FAULT, POSTGRESQL, lambda at: killing.kill_on_postgres(at, kills // 2, seed)),
            (killing.CRASH, POSTGRESQL, lambda at: killing.kill_postgres(at, some, seed)),
        ),
        "disk": (
            (full_disk.FAULT, SQLITE, lambda at: full_disk.fill_sqlite(at, few)),
            (full_disk.FAULT, POSTGRESQL, lambda at: full_disk.fill_postgres(at, few)),
        ),
        "file": (
            (replaced.REMOVED, SQLITE, lambda at: replaced.remove(at, few)),
            (replaced.REPLACED, SQLITE, lambda at: replaced.replace(at, few)),
        ),
        "lock": (
            (locked.FAULT, SQLITE, lambda at: locked.lock_sqlite(at, 2)),
            (locked.FAULT, POSTGRESQL, lambda at: locked.lock_postgres(at, 2)),
        ),
        "half-open": ((half_open.FAULT, SQLITE, lambda at: half_open.half_open(at, 2)),),
        CLUSTER: (
            (cluster.KILLED, POSTGRESQL, lambda at: cluster.kill_one(at, some)),
            (cluster.ROLLED, POSTGRESQL, lambda at: cluster.roll(at, few)),
            (cluster.RESTARTED, POSTGRESQL, lambda at: cluster.restart_database(at, some)),
        ),
        "failover": ((failover.FAULT, POSTGRESQL, lambda at: failover.fail_over(at, few, seed)),),
    }


def main() -> None:
    """Print what was acknowledged and what was found."""
    names = list(faults(KILLS, SEED))
    parser = argparse.ArgumentParser(prog="faults", description=__doc__)
    parser.add_argument("--kills", type=int, default=KILLS, help="how often, at the most")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--only", choices=names, action="append", help="one fault; may be repeated")
    parser.add_argument("--granian", action="store_true", help="on that server alone")
    parser.add_argument("--at-once", type=int, default=2, help="so many faults at a time")
    parser.add_argument("-o", "--output", type=Path, help="a Markdown file for the table")
    options = parser.parse_args()
    if sys.platform == "win32":
        sys.exit("SIGKILL and SIGSTOP are signals of POSIX systems.")
    began = time.monotonic()
    chosen = faults(options.kills, options.seed)
    rows: list[Row] = []
    is_cluster = options.only == [CLUSTER]
    servers: Sequence[str] = ("waitress",) if options.only else SERVERS
    if options.granian or is_cluster:
        servers = ("granian",)
    with ThreadPoolExecutor(options.at_once) as pool, everything_ended():
        for server in servers:
            load.FaultyServer.is_granian = server == "granian"
            which = options.only or [name for name in names if name != CLUSTER]
            made_here = [fault for name in which for fault in chosen[name]]
            rows += [replace(row, server=server) for row in pool.map(row_of, made_here)]
    show(rows)
    if options.output:
        only = " ".join(f"--only {name}" for name in options.only or ())
        granian = " --granian" if options.granian else ""
        command = f"nox -s faults -- --kills {options.kills} --seed {options.seed}{granian} {only}"
        before = options.output.read_text("utf-8") if options.output.is_file() else ""
        seconds, place = time.monotonic() - began, Path(tempfile.gettempdir())
        if is_cluster:
            page = with_cluster(before, rows, seconds, place)
        else:
            page = written(rows, command.rstrip(), seconds, place) + cluster_of(before)
        options.output.write_text(page, "utf-8")
    sys.exit(not all(row.is_good for row in rows))


def row_of(fault: Fault) -> Row:
    """Make one fault in a folder of its own, and tell as soon as it is done."""
    name, database, make = fault
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)  # PostgreSQL may run as another user
        try:
            row = make(Path(folder))
        except CannotBeMade as lacking:
            row = Row(name, database, reason=str(lacking))
        except Exception as failure:  # noqa: BLE001 - the other faults are still to be made
            trace = "".join(traceback.format_exception(failure, limit=-3))
            row = Row(name, database, "broke off", damage=(trace,))
    print(
        f"{row.fault}, {row.database}: {row.action or row.reason}; acknowledged "
        f"{row.acknowledged}, found {row.stored}{'' if row.is_good else ' FAILED'}",
        flush=True,
    )
    return row


if __name__ == "__main__":
    main()
