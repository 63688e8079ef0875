from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

VECTORS = {"rumah": [1.0, 0.0], "ruko": [0.0, 1.0], "keduanya": [3.0, 4.0]}


class Endpoint(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        decoded = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server: Any = self.server
        server.asked.append((self.path, self.headers.get("Authorization"), decoded))
        data = [
            {"index": n, "embedding": VECTORS.get(text, [1.0, 1.0])}
            for n, text in enumerate(decoded["input"])
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


def of(*vectors: object) -> bytes:
    """An endpoint's answer with these vectors."""
    data = [{"index": n, "embedding": vector} for n, vector in enumerate(vectors)]
    return json.dumps({"data": data}).encode()
