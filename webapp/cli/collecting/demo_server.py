"""The demo chatbot's HTTP face: POST /chat, as the chatbots in use have it."""

from __future__ import annotations

import json
import logging
import socket
from collections.abc import Callable
from typing import Any, Literal

from msgspec import to_builtins
from pydantic import BaseModel, Field, ValidationError
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.wrappers import Request, Response

from webapp.config import resource
from webapp.services.collecting.demo_chatbot import DemoBot

PORT = 8810
PATH = "/chat"
LARGEST_BODY = 64 * 2**10

WsgiApplication = Callable[..., Any]
_log = logging.getLogger(__name__)


class ChatBody(BaseModel):
    """The body of a POST to /chat; further keys are ignored."""

    message: str = Field(min_length=1, max_length=2000)
    session_id: str | None = Field(default=None, max_length=200)
    user_id: str | None = Field(default=None, max_length=200)
    method: Literal["hybrid", "api_only", "vector_only"] = "hybrid"


def made(listener: socket.socket, sockets: dict[int, Any] | None = None) -> Any:
    """Return waitress's server of the demo chatbot; it listens, and answers once it is run.

    `sockets` is the map of its sockets, for a loop of the caller's own.
    """
    from waitress.server import create_server

    return create_server(
        application(DemoBot(resource("seeds"))),
        map={} if sockets is None else sockets,
        sockets=[listener],
        ident="relevansi",
        max_request_body_size=LARGEST_BODY,
    )


def address(listener: socket.socket) -> str:
    """Return the address at which questions are put."""
    host, port = listener.getsockname()[:2]
    return f"http://{host}:{port}{PATH}"


def application(bot: DemoBot) -> WsgiApplication:
    """Return the WSGI application: 200, 422 for bad input, 500 with ``detail`` on failure."""

    @Request.application
    def chat(request: Request) -> Response:
        if request.path.rstrip("/") != PATH:
            return _told(404, "Not Found")
        if request.method != "POST":
            return _told(405, "Method Not Allowed")
        request.max_content_length = LARGEST_BODY
        try:
            return _answer(bot, request.get_data())
        except RequestEntityTooLarge:
            return _told(413, "Request Entity Too Large")
        except Exception as failure:  # noqa: BLE001 (reported to the client, and logged)
            _log.exception("the demo chatbot failed")
            return _told(500, f"{type(failure).__name__}: {failure}")

    return chat


def _answer(bot: DemoBot, body: bytes) -> Response:
    try:
        asked = ChatBody.model_validate_json(body)
    except ValidationError as wrong:
        return _told(422, json.loads(wrong.json(include_url=False, include_context=False)))
    reply = bot.answer(asked.message, asked.method, asked.session_id)
    return _json(200, to_builtins(reply))


def _told(status: int, detail: object) -> Response:
    return _json(status, {"detail": detail})


def _json(status: int, value: object) -> Response:
    text = json.dumps(value, ensure_ascii=False)
    return Response(text, status, content_type="application/json; charset=utf-8")
