from __future__ import annotations

import io
from typing import Any

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.services.evaluations.scored_files import ANSWERS, CHUNKS, JSON_SET, document, lines

DATA = {"answers": lines(*ANSWERS), "chunks": lines(*CHUNKS), "json-v2": document(JSON_SET)}


def send(client: FlaskClient, kind: str, data: bytes, **more: Any) -> TestResponse:
    form = {"kind": kind, "file": (io.BytesIO(data), "some.jsonl"), **more}
    return client.post("/evaluations/", data=form, content_type="multipart/form-data")


def scored(client: FlaskClient, kind: str, data: bytes | None = None) -> str:
    answer = send(client, kind, DATA[kind] if data is None else data)
    assert answer.status_code == 303, answer.text
    return answer.headers["Location"]
