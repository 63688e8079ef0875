"""Pages of SQLite's file are overwritten, under a running server or before one starts.

Every answer is in plain words, and nothing that was acknowledged goes unnoticed: either all of
it is there, or ``relevansi check`` names the damage. The latest backup comes back.
"""

from __future__ import annotations

import random
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from tests.faults import stored
from tests.faults.killed_commands import done, refused
from tests.faults.load import Load, awaited
from tests.faults.rows import Row
from webapp.config import sqlite_url

UNDER = "Pages of the database file are overwritten under the server"
BEFORE = "Pages of the database file are overwritten before a start"
PAGE_BYTES = 4096
MOST_PAGES = 8
CLICKS = 40
MORE_SECONDS = 3.0
DAMAGED = "damaged"
ENGLISH = {"Accept-Language": "en"}


def overwrite_under_server(folder: Path, times: int, seed: int) -> Row:
    """Return how often damage under a running server was named, or did no harm."""
    return _overwrite(folder, UNDER, times, seed, is_running=True)


def overwrite_before_start(folder: Path, times: int, seed: int) -> Row:
    """Return how often damage before a start was named, or did no harm."""
    return _overwrite(folder, BEFORE, times, seed, is_running=False)


def _overwrite(folder: Path, fault: str, times: int, seed: int, *, is_running: bool) -> Row:
    dice = random.Random(seed)
    damage: list[str] = []
    silent = named = 0
    for number in range(times):
        place = folder / str(number)
        place.mkdir()
        load = Load(place)
        backup = place / "study.backup"
        load.clicked(CLICKS)
        done(load.server, "backup", backup)
        kept = stored.found(load.url)
        load.server.start()
        with load.clicking():
            load.await_clicks(CLICKS)
            if is_running:
                _spoil(load.sqlite_file, dice, number)
                _read(load)
                awaited(lambda: False, MORE_SECONDS)
        load.server.stop()
        if not is_running:
            _spoil(load.sqlite_file, dice, number)
            damage += _started(load)
        damage += _wrong_answers(load)
        checked = refused(load.server, "check")
        if checked:
            named += 1
            damage += [] if DAMAGED in checked and "Traceback" not in checked else [checked]
        elif lost := _lost(load):
            silent += 1
            damage.append(f"{lost}, and `relevansi check` says nothing of it")
        if told := refused(load.server, "restore", backup, "--replace"):
            damage.append(told)
        elif stored.found(load.url) != kept:
            damage.append("the backup did not come back")
    return Row(
        fault=fault,
        database="SQLite",
        made=f"{times} times up to {MOST_PAGES} pages, {named} times named, else without harm",
        acknowledged=times,
        found=times - silent,
        missing=silent,
        damage=tuple(dict.fromkeys(damage)),
    )


def _spoil(file: Path, dice: random.Random, number: int) -> None:
    """Overwrite a few pages, one of them the first page of the file every third time."""
    pages = file.stat().st_size // PAGE_BYTES
    chosen = {dice.randrange(pages) for _ in range(dice.randint(1, MOST_PAGES))}
    with file.open("r+b") as opened:
        for page in chosen | ({0} if number % 3 == 0 else set()):
            opened.seek(page * PAGE_BYTES)
            opened.write(dice.randbytes(PAGE_BYTES))


def _started(load: Load) -> list[str]:
    """Start on the damaged file and look around; return what is not in plain words."""
    try:
        load.server.start()
    except AssertionError:
        told = load.server.faults()
        return [] if DAMAGED in told and len(told.splitlines()) == 1 else [told]
    with load.clicking():
        _read(load)
        awaited(lambda: False, MORE_SECONDS)
    load.server.stop()
    return []


def _read(load: Load) -> None:
    """Ask for pages: each comes, or says that the file is damaged."""
    run = f"/runs/{load.run_id}"
    for path in ("/", "/runs/", run, f"{run}/queries/1", f"{run}/metrics.json", f"{run}/export.csv",
                 "/history/", "/healthz"):  # fmt: skip
        asked = Request(f"{load.server.url}{path}", headers=ENGLISH)
        try:
            with urlopen(asked, timeout=60) as answer:
                answer.read()
        except HTTPError as failure:
            text = failure.read().decode()
            if failure.code != 503 or DAMAGED not in text:
                load.damage.append(f"{path}: {failure.code}: {text[-300:]}")


def _wrong_answers(load: Load) -> list[str]:
    """Return what clickers and the log heard that is not in plain words."""
    load.said(503, words="The database file is damaged")
    wrong = [line for clicker in load.clickers for line in clicker.wrong]
    _, traceback, told = load.server.faults().partition("Traceback")
    if traceback:
        wrong.append(told[:3000])
    return [*load.damage, *wrong]


def _lost(load: Load) -> str:
    """Return what was acknowledged and is not there as it was said."""
    found = stored.found(sqlite_url(load.sqlite_file))
    if lost := load.ids() - set(found.events):
        return f"{len(lost)} acknowledged clicks are gone"
    for clicker in load.clickers:
        for place, said in clicker.standing().items():
            if found.standing.get(place) != said:
                return f"{place}: {clicker.name} said {said} last"
    return ""
