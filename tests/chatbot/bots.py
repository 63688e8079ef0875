"""Chatbots that misbehave, each answering on a real port of this machine."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

from relevansi.chatbot.client import Patience

AT_ONCE = Patience(seconds=5, tries=3, first_pause=0, longest_pause=0, jitter=0)
"""The usual tries, without any pause between them."""


class Handler(BaseHTTPRequestHandler):
    """Answers each question with the next behaviour of its bot; the last one stays."""

    server: Bot
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        is_json = self.headers.get("Content-Type") == "application/json"
        self.server.asked.append(json.loads(body) if is_json else body)
        self.server.methods.append(self.command)
        self.server.headers.append(dict(self.headers))
        self.server.paths.append(self.path)
        place = min(len(self.server.asked), len(self.server.behaviours)) - 1
        with suppress(OSError):  # the client has gone
            self.server.behaviours[place](self, self.server.asked[-1])
        self.close_connection = True

    do_GET = do_PUT = do_POST  # noqa: N815 - the names that the library calls

    def log_message(self, *_: object) -> None:
        """Say nothing."""


Behaviour = Callable[[Handler, Any], None]


class Bot(ThreadingHTTPServer):
    """A server with what it was asked; ``released`` ends whatever it lets people wait for."""

    daemon_threads = True

    def __init__(self, behaviours: tuple[Behaviour, ...]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.behaviours = behaviours
        self.asked: list[Any] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.methods: list[str] = []
        self.waiting, self.released = Event(), Event()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/chat"

    def handle_error(self, *_: object) -> None:
        """A client that leaves is not an error here."""


@contextmanager
def serving(*behaviours: Behaviour) -> Iterator[Bot]:
    """A bot that shows `behaviours`, one for each question, the last for all that follow."""
    bot = Bot(behaviours)
    thread = Thread(target=bot.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield bot
    finally:
        bot.released.set()
        bot.shutdown()
        bot.server_close()
        thread.join()


def send(handler: Handler, status: int, body: bytes, **headers: str) -> None:
    handler.send_response(status)
    all_headers = {"Content_Type": "application/json", "Content_Length": str(len(body)), **headers}
    for name, value in all_headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(body)


def status(code: int, body: object, **headers: str) -> Behaviour:
    """Answer with a status and a JSON body."""
    return lambda handler, _question: send(handler, code, json.dumps(body).encode(), **headers)


def below(path: str, behaviour: Behaviour) -> Behaviour:
    """Behave so at one path, and answer 404 at every other."""
    nothing = status(404, {"detail": "Not Found"})
    return lambda handler, question: (behaviour if handler.path == path else nothing)(
        handler, question
    )


def raw(body: bytes, **headers: str) -> Behaviour:
    """Answer 200 with these very bytes."""
    return lambda handler, _question: send(handler, 200, body, **headers)


def good(handler: Handler, question: Any) -> None:
    """Answer as the contract has it, with one property."""
    text = f"1. **[Rumah](https://listing.example/properti/rumah-{len(handler.server.asked)})**"
    answer = {
        "response": f"{question['message']}\n\n{text}",
        "properties": [
            {
                "id": 7,
                "title": "Rumah",
                "floors": 2,
                "url": f"https://listing.example/properti/rumah-{len(handler.server.asked)}",
            }
        ],
        "session_id": question["session_id"],
        "metadata": {"returned": 1},
        "usage": {"prompt_tokens": 11, "completion_tokens": 5},
    }
    send(handler, 200, json.dumps(answer).encode())


def other_session(handler: Handler, _question: Any) -> None:
    """Answer for a conversation that nobody has with us."""
    body = {"response": "Halo", "properties": [], "session_id": "somebody-else"}
    send(handler, 200, json.dumps(body).encode())


def silent(handler: Handler, _question: Any) -> None:
    """Never answer."""
    handler.server.waiting.set()
    handler.server.released.wait()


def cut(handler: Handler, _question: Any) -> None:
    """Begin an answer and cut the connection hard."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"response": "Beri')
    handler.wfile.flush()
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()


def huge(handler: Handler, _question: Any) -> None:
    """Answer with ten million bytes."""
    handler.send_response(200)
    handler.send_header("Content-Length", "10000000")
    handler.end_headers()
    for _ in range(100):
        handler.wfile.write(b" " * 100_000)


def dripping_answer(handler: Handler, _question: Any) -> None:
    """Send a byte of the answer now and then, without end."""
    handler.send_response(200)
    handler.end_headers()
    while not handler.server.released.wait(0.02):
        handler.wfile.write(b" ")
        handler.wfile.flush()


def dripping_head(handler: Handler, _question: Any) -> None:
    """Send a byte of the headers now and then, without end."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while not handler.server.released.wait(0.02):
        handler.wfile.write(b"a")
        handler.wfile.flush()
