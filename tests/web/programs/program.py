"""A program at the addresses of an application: its token, its requests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from threading import Thread
from typing import Any

from flask import Flask
from sqlalchemy import select
from werkzeug.serving import make_server
from werkzeug.test import TestResponse

from relevansi.db.tables.people import Rater
from relevansi.services.people import raters, tokens
from relevansi.services.people.tokens import Scope
from relevansi.web.frame import access
from tests.stored_studies import open_study


def token(app: Flask, *scopes: Scope, rater: str | None = None, days: int = 1) -> str:
    """Return a new token of a rater, who is added if need be; of the owner if none is named."""
    with open_study(app.extensions["database"]) as (session, study):
        holder = session.scalar(select(Rater).where(Rater.name == rater))
        if holder is None:
            owner, now = raters.owner(session, study), access.now()
            holder = raters.add(session, study, rater, now) if rater else owner
        return tokens.make(session, holder, "", scopes, access.now(), days=days).token


class Program:
    """A test client that sends a token, and nothing a browser would."""

    def __init__(self, app: Flask, *scopes: Scope, rater: str | None = None) -> None:
        self.client = app.test_client()
        secret = token(app, *scopes or ("everything",), rater=rater)
        self.headers = {"Authorization": f"Bearer {secret}"}

    def ask(self, method: str, path: str, **options: Any) -> TestResponse:
        address = f"/api/v1{path}"
        return self.client.open(address, method=method, headers=self.headers, **options)

    def get(self, path: str, **query: Any) -> Any:
        response = self.ask("GET", path, query_string=query)
        assert response.status_code == 200, response.text
        return response.json

    def post(self, path: str, *, status: int = 200, **body: Any) -> Any:
        response = self.ask("POST", path, json=body)
        assert response.status_code == status, response.text
        return response.json

    def send(self, *files: tuple[str, bytes], status: int = 201, **fields: Any) -> Any:
        """Send files to be imported."""
        response = self.upload("/runs", *files, **fields)
        assert response.status_code == status, response.text
        return response.json

    def upload(self, path: str, *files: tuple[str, bytes], **fields: Any) -> TestResponse:
        form = {**fields, "files": [(BytesIO(data), name) for name, data in files]}
        return self.ask("POST", path, data=form, content_type="multipart/form-data")


@contextmanager
def served(app: Flask) -> Iterator[str]:
    """Serve an application to other processes and threads; yield the address of its API."""
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/api/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
