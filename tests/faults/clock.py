"""The server's clock jumps back by an hour, again and again, between clicks.

A library that is loaded before all others moves the time of day, also for waits that end at a time
of day; the clock that only counts on is left alone, as by a real jump. One device's clock jumps
along, the others stay. The last verdict of each device must stay, the owner must stay signed in,
and failed sign-ins must neither be forgotten nor keep anybody out for an hour.
"""

from __future__ import annotations

import http.client
import shutil
import struct
import subprocess
import time
from contextlib import closing
from email.utils import parsedate_to_datetime
from pathlib import Path
from urllib.parse import urlencode

from tests.faults.load import Load
from tests.faults.postgres import Postgres
from tests.faults.rows import CannotBeMade, Row
from webapp.services.people.sign_in import TRIES

FAULT = "The clock jumps back"
HOUR = 3600
CLICKS_BETWEEN = 60
SECRET = "a long password for nobody"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
LIBRARY = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

static volatile int64_t *shift;

__attribute__((constructor)) static void open_shift(void) {
    const char *name = getenv("CLOCK_SHIFT");
    int file = name ? open(name, O_RDONLY) : -1;
    if (file < 0) return;
    void *seen = mmap(0, sizeof *shift, PROT_READ, MAP_SHARED, file, 0);
    if (seen != MAP_FAILED) shift = seen;
}

static int64_t seconds(void) { return shift ? *shift : 0; }

int clock_gettime(clockid_t which, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int said = real(which, now);
    if (!said && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE))
        now->tv_sec += seconds();
    return said;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    (void)zone;
    struct timespec found;
    int said = clock_gettime(CLOCK_REALTIME, &found);
    now->tv_sec = found.tv_sec;
    now->tv_usec = found.tv_nsec / 1000;
    return said;
}

time_t time(time_t *told) {
    struct timespec found;
    clock_gettime(CLOCK_REALTIME, &found);
    if (told) *told = found.tv_sec;
    return found.tv_sec;
}

int sem_timedwait(sem_t *restrict one, const struct timespec *restrict until) {
    static int (*real)(sem_t *restrict, const struct timespec *restrict);
    if (!real) real = dlsym(RTLD_NEXT, "sem_timedwait");
    struct timespec here = *until;
    here.tv_sec -= seconds();
    return real(one, &here);
}
"""


class Clock:
    """The time of day of one process, which can be moved while it runs."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "shift"
        self.library = folder / "clock.so"
        self.seconds = 0
        self.move_to(0)
        compiler = shutil.which("cc")
        if compiler is None:
            raise CannotBeMade("there is no C compiler to make the clock with")
        source = folder / "clock.c"
        source.write_text(LIBRARY, "utf-8")
        command = [compiler, "-shared", "-fPIC", "-o", str(self.library), str(source), "-ldl"]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode:
            raise CannotBeMade(f"the clock cannot be compiled: {done.stderr[:200]}")

    @property
    def settings(self) -> dict[str, str]:
        """The environment variables that the process needs."""
        return {"LD_PRELOAD": str(self.library), "CLOCK_SHIFT": str(self.file)}

    def move_to(self, seconds: int) -> None:
        """Let it be so many seconds later than it is; fewer than none is earlier."""
        self.seconds = seconds
        with self.file.open("r+b" if self.file.exists() else "wb") as file:
            file.write(struct.pack("q", seconds))

    def now(self) -> float:
        """Return the time that the process believes in."""
        return time.time() + self.seconds


def move_on_sqlite(folder: Path, jumps: int) -> Row:
    """Return what so many jumps did to a SQLite file."""
    clock = Clock(folder)
    return _move(Load(folder, settings=clock.settings), clock, jumps)


def move_on_postgres(folder: Path, jumps: int) -> Row:
    """Return what so many jumps did to a PostgreSQL database, whose own clock went on."""
    clock = Clock(folder)
    postgres = Postgres(folder / "cluster")
    postgres.make()
    postgres.start()
    try:
        return _move(Load(folder, postgres.url, settings=clock.settings), clock, jumps)
    finally:
        postgres.kill()


def _move(load: Load, clock: Clock, jumps: int) -> Row:
    load.server.start()
    cookie = _signed_in(load)
    for clicker in load.clickers:
        clicker.headers["Cookie"] = cookie
    load.clickers[0].clock = clock.now
    with load.clicking():
        for number in range(jumps):
            load.await_clicks(CLICKS_BETWEEN)
            clock.move_to(-HOUR * (number + 1))
            _expect_time(load, clock)
        load.await_clicks(CLICKS_BETWEEN)
    _try_passwords(load, clock)
    load.finish()
    load.said(words="")  # nothing at all was refused
    return load.row(FAULT, f"{jumps} times by an hour, everybody signed in since before")


def _signed_in(load: Load) -> str:
    """Set the owner's password, and return the cookie of a browser that is in by it."""
    fields = {"password": SECRET, "again": SECRET}
    status, headers = _post(load, "/sign-in/first", fields)
    cookie = headers.get("Set-Cookie", "").partition(";")[0]
    if status != http.client.SEE_OTHER or not cookie:
        load.damage.append(f"nobody could sign in: {status}")
    return cookie


def _try_passwords(load: Load, clock: Clock) -> None:
    """Wrong passwords lock a source out; an hour back on the clock must not prolong that."""
    wrong = {"password": "another password"}
    tried = [_post(load, "/sign-in", wrong)[0] for _ in range(TRIES + 1)]
    clock.move_to(clock.seconds - HOUR)
    tried.append(_post(load, "/sign-in", {"password": SECRET})[0])
    if tried != [422] * TRIES + [429, 303]:
        load.damage.append(f"tries to sign in were answered {tried}")


def _expect_time(load: Load, clock: Clock) -> None:
    """Make sure that the server's clock has jumped: its answers tell the time."""
    connection = http.client.HTTPConnection("127.0.0.1", load.server.port, timeout=30)
    with closing(connection):
        connection.request("GET", "/healthz")
        told = connection.getresponse().headers["Date"]
    if abs(parsedate_to_datetime(told).timestamp() - clock.now()) > HOUR / 2:
        raise CannotBeMade("the server's clock could not be moved")


def _post(load: Load, path: str, fields: dict[str, str]) -> tuple[int, http.client.HTTPMessage]:
    connection = http.client.HTTPConnection("127.0.0.1", load.server.port, timeout=30)
    with closing(connection):
        connection.request("POST", path, urlencode(fields), FORM)
        answer = connection.getresponse()
        answer.read()
        return answer.status, answer.headers
