"""The demo chatbot over HTTP: POST /chat, as the chatbots in use have it."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Annotated, Any, Literal

import click
from msgspec import DecodeError, Meta, Struct, json
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.serving import BaseWSGIServer, make_server
from werkzeug.wrappers import Request, Response

from relevansi.cli.frame.output import say
from relevansi.cli.frame.serving import LOOPBACK, listen
from relevansi.config import resource
from relevansi.i18n import gettext
from relevansi.services.collecting.demo_chatbot import DemoBot

PORT = 8810
PATH = "/chat"
LARGEST_BODY = 64 * 2**10
_log = logging.getLogger(__name__)


class ChatBody(Struct):
    """The body of a POST to /chat; further keys are ignored."""

    message: Annotated[str, Meta(min_length=1, max_length=2000)]
    session_id: Annotated[str, Meta(max_length=200)] | None = None
    user_id: Annotated[str, Meta(max_length=200)] | None = None
    method: Literal["hybrid", "api_only", "vector_only"] = "hybrid"


@contextmanager
def running() -> Iterator[None]:
    """Run the chatbot where the demo's phase 3 asks it, unless the port is taken already."""
    try:
        listener = listen(LOOPBACK, PORT)
    except click.ClickException:  # most likely by `relevansi chatbot`
        yield
        return
    say(gettext("The demo chatbot is at %(address)s", address=address(listener)))
    with listener:
        server = server_on(listener)
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()


def server_on(listener: socket.socket) -> BaseWSGIServer:
    """Return the server of the demo chatbot, which answers once it serves."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # it would log each request
    listener.listen()
    host, port = listener.getsockname()[:2]
    bot = application(DemoBot(resource("seeds")))
    return make_server(host, port, bot, threaded=True, fd=listener.fileno())


def address(listener: socket.socket) -> str:
    """Return the address at which the demo chatbot is asked."""
    host, port = listener.getsockname()[:2]
    return f"http://{host}:{port}{PATH}"


def application(bot: DemoBot) -> Callable[..., Any]:
    """Return the WSGI application: 200, 422 for bad input, 500 with ``detail`` on failure."""

    @Request.application
    def chat(request: Request) -> Response:
        if request.path.rstrip("/") != PATH:
            return _json(404, {"detail": "Not Found"})
        if request.method != "POST":
            return _json(405, {"detail": "Method Not Allowed"})
        request.max_content_length = LARGEST_BODY
        try:
            body = json.decode(request.get_data(), type=ChatBody)
        except RequestEntityTooLarge:
            return _json(413, {"detail": "Request Entity Too Large"})
        except (DecodeError, UnicodeDecodeError, RecursionError) as wrong:
            return _json(422, {"detail": [{"msg": str(wrong)}]})
        try:
            reply = bot.answer(body.message, body.method, body.session_id)
            return _json(200, reply)
        except Exception as failure:  # noqa: BLE001 (reported to the client, and logged)
            _log.exception("the demo chatbot failed")
            return _json(500, {"detail": f"{type(failure).__name__}: {failure}"})

    return chat


def _json(status: int, value: object) -> Response:
    return Response(json.encode(value), status, content_type="application/json; charset=utf-8")
