"""Work beside the requests is begun at once, and nothing more once the process ends."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flask import Flask

from tests.services.workers import pieces
from tests.services.workers.pieces import DONE, WAITING, PieceWork
from webapp.db.engine import Database
from webapp.web.frame.workers import workers

WAIT = 60


@pytest.fixture(autouse=True)
def _pieces(web_database: Database) -> Iterator[None]:
    with pieces.made(web_database, 2):
        yield


def test_woken_work_is_done_beside_the_requests(app: Flask, web_database: Database) -> None:
    with app.test_request_context("/"):
        workers().wake(PieceWork())

    assert workers(app).is_idle(WAIT)
    assert pieces.outcomes(web_database) == [(n, DONE, 1, "answer") for n in (1, 2)]


def test_after_the_end_nothing_is_begun(app: Flask, web_database: Database) -> None:
    assert workers(app).finish(WAIT)
    workers(app).wake(PieceWork())

    assert workers(app).is_idle(WAIT)
    assert [state for _, state, _, _ in pieces.outcomes(web_database)] == [WAITING] * 2


def test_a_server_on_a_new_database_has_nothing_to_go_on_with(app: Flask) -> None:
    workers(app).serve()

    assert workers(app).is_idle(0)
