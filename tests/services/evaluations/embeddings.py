"""An OpenAI-compatible embeddings endpoint that is run on this machine, whole or broken."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import MappingProxyType
from typing import Any

VECTORS = {"rumah": [1.0, 0.0], "ruko": [0.0, 1.0], "keduanya": [3.0, 4.0]}


class Endpoint(BaseHTTPRequestHandler):
    """An endpoint as OpenAI-compatible ones answer; the server keeps the requests it got."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server: Any = self.server
        server.asked.append((self.path, self.headers.get("Authorization"), asked))
        server.silence.wait(server.seconds)
        data = [
            {"index": n, "embedding": VECTORS.get(text, [1.0, 1.0])}
            for n, text in enumerate(asked["input"])
        ]
        body = server.body or json.dumps({"data": data[::-1]}).encode()
        self.send_response(server.status)
        self.send_header("Content-Length", str(len(body) + server.promised))
        for name, value in server.headers.items():
            self.send_header(name, value)
        self.end_headers()
        with suppress(ConnectionError):  # the other side need not read all of it
            for start in range(0, len(body), server.piece or len(body)):
                self.wfile.write(body[start : start + (server.piece or len(body))])
                server.silence.wait(server.pause)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serving(
    status: int = 200,
    body: bytes = b"",
    *,
    seconds: float = 0,
    promised: int = 0,
    piece: int = 0,
    pause: float = 0,
    headers: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[tuple[str, list[Any]]]:
    """The address of an endpoint that runs, and what it was asked.

    It is silent for `seconds` first, and promises more bytes than it gives. After every `piece`
    of so many bytes it waits for `pause` seconds.
    """
    server: Any = HTTPServer(("127.0.0.1", 0), Endpoint)
    server.asked, server.status, server.body = [], status, body
    server.silence, server.seconds, server.promised = threading.Event(), seconds, promised
    server.piece, server.pause, server.headers = piece, pause, headers
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", server.asked
    finally:
        server.silence.set()
        server.shutdown()
        server.server_close()
        thread.join()


def of(*vectors: object) -> bytes:
    """An endpoint's answer with these vectors."""
    data = [{"index": n, "embedding": vector} for n, vector in enumerate(vectors)]
    return json.dumps({"data": data}).encode()


BROKEN = [
    (401, b"", 0, "it refuses the key (HTTP 401)"),
    (404, b"", 0, "no such address or model (HTTP 404)"),
    (503, b"", 0, "HTTP 503"),
    (200, b"<html>", 0, "it is HTML, not JSON"),
    (200, b'{"data": []}', 0, "it gave 0 vectors for 2 texts"),
    (200, of([1.0]), 0, "it gave 1 vectors for 2 texts"),
    (200, of([1], [1], [1]), 0, "it gave 3 vectors for 2 texts"),
    (200, of([1.0], [1.0, 2.0]), 0, "different lengths: 1, 2"),
    (200, of([1.0], None), 0, "holds no vectors"),
    (200, of([], []), 0, "is empty or not of numbers"),
    (200, of([1.0], [float("nan")]), 0, "empty or not of numbers"),
    (200, b"[]", 0, "holds no vectors"),
    (200, b'{"error": "overloaded"}', 0, "holds no vectors"),
    (200, of([1.0], [1.0]), 10, "the connection broke off"),
    (200, b'{"data": ' + b"[" * 40 + b"]" * 40 + b"}", 0, "its JSON is nested too deep"),
    (200, b'{"data": [' + b" " * 2**24 + b"]}", 0, "its answer is larger than 16384 kB"),
    (302, b"", 0, "HTTP 302"),
]
"""Status, body and bytes that were promised beyond it, with what is said of it."""
