"""Two server processes on one PostgreSQL database are one product to those who use them."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from relevansi.db.engine import Database
from relevansi.db.migrations import HEAD
from relevansi.db.tables.judging import Event, Judgment
from relevansi.db.tables.people import Rater
from relevansi.db.tables.study import Study
from relevansi.importers.runs import json_runs
from relevansi.services.judging import stored_summaries
from relevansi.services.people import sign_in, tries
from relevansi.services.study import studies
from tests.browser.server import HYBRID, Server
from tests.conftest import NOW
from tests.services.other_database import address, on_postgres
from tests.services.runs.runs import store
from tests.stored_studies import open_study
from tests.web.conftest import count
from tests.web.visitors import PASSWORD, lock

CLICKS = 20
NAME = "two_processes"


class Process(Server):
    """One ``relevansi serve`` of several on one database, its instance folder its own."""

    def __init__(self, instance: Path, database_url: str) -> None:
        super().__init__(instance)
        self.database_url = database_url

    def environment(self) -> dict[str, str]:
        secret = "the same on both, as long as it must be"
        shared = {"RELEVANSI_DATABASE_URL": self.database_url, "RELEVANSI_SECRET_KEY": secret}
        return super().environment() | shared

    def request(self, method: str, path: str, cookie: str = "", **fields: str) -> httpx.Response:
        headers = {"Cookie": cookie}
        return httpx.request(method, self.url + path, data=fields, headers=headers, timeout=60)


@pytest.fixture(name="shared", scope="module")
def _shared(postgres: Database) -> Iterator[Database]:
    database = on_postgres(postgres, NAME)
    with database.engine.begin() as connection:
        connection.exec_driver_sql("DROP SCHEMA public CASCADE")
        connection.exec_driver_sql("CREATE SCHEMA public")
    yield database
    database.close()


@pytest.fixture(name="processes", scope="module")
def _processes(
    shared: Database, postgres: Database, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Process, Process]]:
    """Two processes, started at once, which both find the database new."""
    assert shared.version() is None
    folder = tmp_path_factory.mktemp("processes")
    url = address(postgres, NAME)
    pair = (Process(folder / "a", url), Process(folder / "b", url))
    with ThreadPoolExecutor(2) as at_once:
        list(at_once.map(Process.start, pair))
    yield pair
    for process in pair:
        process.stop()


def test_both_start_on_a_new_database(shared: Database, processes: tuple[Process, Process]) -> None:
    assert [each.request("GET", "/healthz").status_code for each in processes] == [200, 200]
    assert shared.version() == HEAD
    assert (count(shared, Study), count(shared, Rater)) == (1, 1)


def test_an_impossible_name_is_not_found(processes: tuple[Process, Process]) -> None:
    assert processes[0].request("GET", "/runs/a%00b").status_code == 404


def test_all_clicks_at_both_are_kept(shared: Database, processes: tuple[Process, Process]) -> None:
    """Every click goes to both processes, as a proxy that repeats requests would send it."""
    with open_study(shared) as (session, study):
        read = json_runs.read("a.json", HYBRID.read_bytes())
        run_id = store(session, study, read).id

    def click(number: int) -> int:
        process = processes[number % 2]
        event = number // 2
        fields = {"relevance": str(event % 2), "event_id": f"e{event}"}
        path = f"/runs/{run_id}/queries/1/results/{event % 3 + 1}/judgment"
        return process.request("POST", path, **fields).status_code

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(click, range(2 * CLICKS)))

    assert set(answers) == {303}
    assert count(shared, Event) == CLICKS
    assert count(shared, Judgment) == 3
    with shared.reading() as session:
        assert stored_summaries.check(session) == []


@pytest.fixture(name="locked")
def _locked(shared: Database, processes: tuple[Process, Process]) -> Iterator[None]:
    assert processes
    lock(shared)
    yield
    with shared.writing() as session:
        sign_in.set_password(session, studies.open_or_make(session, NOW), None, NOW)
        session.commit()


@pytest.mark.usefixtures("locked")
def test_who_signed_in_at_one_is_known_at_the_other_and_tries_count_together(
    processes: tuple[Process, Process],
) -> None:
    first, second = processes
    response = first.request("POST", "/sign-in", password=PASSWORD)
    cookie = response.headers["Set-Cookie"].partition(";")[0]

    assert second.request("GET", "/runs/").status_code == 303
    assert second.request("GET", "/runs/", cookie).status_code == 200
    wrong = [
        processes[number % 2].request("POST", "/sign-in", password="wrong" * 4).status_code
        for number in range(tries.TRIES + 1)
    ]
    assert wrong[-1] == 429
    assert 429 not in wrong[:-1]
