"""Cosines from an embeddings endpoint, which is run here, and from a package."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import ModuleType
from typing import Any

import pytest

from webapp.i18n import speaking
from webapp.services import embedders
from webapp.services.embedders import EmbedderUnusable

VECTORS = {"rumah": [1.0, 0.0], "ruko": [0.0, 1.0], "keduanya": [3.0, 4.0]}


class Endpoint(BaseHTTPRequestHandler):
    """What an OpenAI-compatible endpoint does; the server keeps what it was asked."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server: Any = self.server
        server.asked.append((self.path, self.headers.get("Authorization"), asked))
        data = [
            {"index": n, "embedding": VECTORS.get(text, [1.0, 1.0])}
            for n, text in enumerate(asked["input"])
        ]
        body = server.body or json.dumps({"data": data[::-1]}).encode()
        self.send_response(server.status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serving(status: int = 200, body: bytes = b"") -> Iterator[tuple[str, list[Any]]]:
    """The address of an endpoint that runs, and what it was asked."""
    server: Any = HTTPServer(("127.0.0.1", 0), Endpoint)
    server.asked, server.status, server.body = [], status, body
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", server.asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_an_endpoint_gives_the_cosine_of_each_pair_and_is_asked_once_for_a_text() -> None:
    pairs = [("rumah", "keduanya"), ("ruko", "keduanya"), ("rumah", "ruko"), ("rumah", " ")]
    with serving() as (url, asked):
        embedder = embedders.endpoint(url, "tiny", "secret")

        assert embedder.cosines(pairs, []) == pytest.approx([0.6, 0.8, 0, 0])
        assert embedder.cosines([("rumah", "ruko")], []) == [0]
        assert embedder.name == f"tiny ({url}/embeddings)"
    assert asked == [
        (
            "/v1/embeddings",
            "Bearer secret",
            {"model": "tiny", "input": ["rumah", "keduanya", "ruko"]},
        )
    ]


def test_without_a_key_none_is_sent() -> None:
    with serving() as (url, asked):
        embedders.endpoint(f"{url}/embeddings/", "tiny").cosines([("rumah", "ruko")], [])

    assert asked[0][:2] == ("/v1/embeddings", None)


@pytest.mark.parametrize(
    ("status", "body", "why"),
    [
        (401, b"", "HTTP 401"),
        (200, b"no json", "holds no vectors"),
        (200, b'{"data": []}', "holds no vectors"),
        (200, b'{"data": [{"index": 0, "embedding": [1]}, {"index": 1}]}', "holds no vectors"),
        (200, b"[]", "holds no vectors"),
    ],
)
def test_an_endpoint_that_gives_no_vectors_is_named_with_the_reason(
    status: int, body: bytes, why: str
) -> None:
    with serving(status, body) as (url, _), speaking("en"):
        with pytest.raises(EmbedderUnusable) as unusable:
            embedders.endpoint(url, "tiny").cosines([("rumah", "ruko")], [])

        assert url in str(unusable.value)
        assert why in str(unusable.value)


def test_an_endpoint_that_is_not_there_is_named() -> None:
    with serving() as (url, _):
        pass
    with pytest.raises(EmbedderUnusable, match="cannot be used"), speaking("en"):
        embedders.endpoint(url, "tiny").cosines([("rumah", "ruko")], [])


def test_without_the_package_the_remedy_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, embedders.PACKAGE, None)  # as if it were not installed
    with pytest.raises(EmbedderUnusable, match=r"Install relevansi\[embeddings\]"), speaking("en"):
        embedders.packaged()


def test_the_package_s_model_makes_the_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package is large and optional; a module of its shape stands in for it."""

    class Model:
        def encode(self, texts: list[str]) -> list[list[float]]:
            return [VECTORS[text] for text in texts]

    module: Any = ModuleType(embedders.PACKAGE)
    module.load_model = Model
    monkeypatch.setitem(sys.modules, embedders.PACKAGE, module)

    assert embedders.packaged().cosines([("rumah", "keduanya")], []) == pytest.approx([0.6])
