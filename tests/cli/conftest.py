"""A judged run, made once by the commands themselves, and a server that answers."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from relevansi.records import Relevance
from relevansi.services.judging import judgments
from relevansi.services.runs import reports
from relevansi.services.study import studies
from tests.cli.judged_runs import HYBRID
from tests.cli.relevansi import document, relevansi
from tests.services.runs.runs import click
from tests.stored_studies import study_in


@pytest.fixture(name="judged", scope="session")
def _judged(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    instance = tmp_path_factory.mktemp("judged")
    imported = document(relevansi(instance, "import", HYBRID / "test_results.json", "--json"))
    run_id: str = imported["runs"][0]["id"]
    with study_in(instance) as (session, study):
        rater = studies.raters(session, study)[0]
        rows = reports.report(session, study, run_id, reports.of_rater(rater)).rows
        for rank in range(1, rows[0].summary.results_count + 1):
            verdict = Relevance.RELEVANT if rank in {2, 7} else Relevance.NOT_RELEVANT
            judgments.judge(session, rater, run_id, 1, rank, verdict, click(f"e{rank}"))
    return instance, run_id


@pytest.fixture(name="run_id")
def _run_id(judged: tuple[Path, str], tmp_path: Path) -> str:
    shutil.copytree(judged[0], tmp_path, dirs_exist_ok=True)
    return judged[1]


class Healthy(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None: ...


@pytest.fixture(name="healthy_port", scope="session")
def _healthy_port() -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Healthy)
    Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()
