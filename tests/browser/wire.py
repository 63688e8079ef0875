"""A wire between one person's browser and the server that keeps every byte of the answers."""

from __future__ import annotations

import socket
from contextlib import suppress
from threading import Lock, Thread

CHUNK = 65_536


class Wire:
    """Passes bytes on, both ways, and keeps those that come from the server.

    Nothing may come compressed, neither for a page nor for its service worker: on the way to the
    server the only compression that it knows gets a name that it does not.
    """

    def __init__(self, port: int) -> None:
        self._server = ("127.0.0.1", port)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._received: list[bytearray] = []
        self._lock = Lock()
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        Thread(target=self._accept, daemon=True).start()

    def received(self) -> bytes:
        with self._lock:
            return b"\n".join(self._received)

    def close(self) -> None:
        self._listening.close()

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                browser, _ = self._listening.accept()
                server = socket.create_connection(self._server)
                copy = bytearray()
                with self._lock:
                    self._received.append(copy)
                for ends in ((browser, server, None), (server, browser, copy)):
                    Thread(target=self._pass_on, args=ends, daemon=True).start()

    def _pass_on(self, source: socket.socket, to: socket.socket, copy: bytearray | None) -> None:
        with suppress(OSError):
            source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while data := source.recv(CHUNK):
                if copy is None:
                    data = data.replace(b"gzip", b"none")
                else:
                    with self._lock:
                        copy += data
                to.sendall(data)
        for end in (source, to):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
