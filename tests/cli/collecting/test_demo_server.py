"""The demo chatbot over HTTP: 200, 422 for bad input, 500 with the reason; beside the demo too."""

from __future__ import annotations

import socket
from typing import Any

import httpx
import pytest
from werkzeug.test import Client

from relevansi.cli.collecting import demo_server
from relevansi.cli.collecting.demo_server import application
from relevansi.config import resource
from relevansi.services.collecting.demo_chatbot import DemoBot
from seeds.making.phase_3 import SETTINGS


@pytest.fixture(name="chat", scope="module")
def _chat() -> Client:
    return Client(application(DemoBot(resource("seeds"))))


def test_an_answer_has_the_keys_of_the_contract(chat: Client) -> None:
    body = {"message": "rumah di johor", "session_id": "s1", "user_id": "u", "method": "api_only"}
    answer = chat.post("/chat", json=body)
    json: Any = answer.json

    assert answer.status_code == 200
    assert answer.content_type == "application/json; charset=utf-8"
    assert list(json) == ["response", "properties", "session_id", "metadata"]
    assert json["session_id"] == "s1"
    assert set(json["metadata"]) == {"total_found", "returned", "method_used", "has_more"}
    keys = {"id", "title", "price", "price_formatted", "location", "city", "url"}
    assert keys <= set(json["properties"][0])


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"message": "r" * 2000}, 200),
        ({"message": "r" * 2001}, 422),
        ({}, 422),
        ({"message": ""}, 422),
        ({"message": 5}, 422),
        ({"message": "rumah", "method": "magic"}, 422),
        ({"message": "rumah", "session_id": 5}, 422),
        ([], 422),
        ({"message": " " * 100_000}, 413),
    ],
)
def test_bad_input_is_422_and_says_where(chat: Client, body: Any, status: int) -> None:
    answer = chat.post("/chat", json=body)
    json: Any = answer.json

    assert answer.status_code == status
    assert status != 422 or json["detail"][0]["msg"]


def test_what_is_no_question_is_told(chat: Client) -> None:
    assert chat.post("/chat", data=b"{").status_code == 422
    assert chat.post("/").status_code == 404
    assert chat.get("/chat").status_code == 405


def test_a_failure_is_500_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    bot = DemoBot(resource("seeds"))
    monkeypatch.setattr(bot, "answer", lambda *_: 1 / 0)

    answer = Client(application(bot)).post("/chat", json={"message": "rumah"})

    assert answer.status_code == 500
    assert answer.json == {"detail": "ZeroDivisionError: division by zero"}


def test_beside_the_demo_it_answers_where_phase_3_asks_unless_one_runs_already(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert SETTINGS.endpoint == f"http://127.0.0.1:{demo_server.PORT}{demo_server.PATH}"
    monkeypatch.setattr(demo_server, "PORT", 0)
    with demo_server.running():
        address = capsys.readouterr().out.split()[-1]
        answer = httpx.post(address, json={"message": "rumah di johor"}, timeout=60)
    assert answer.json()["properties"]
    with socket.create_server(("127.0.0.1", 0)) as listener:
        monkeypatch.setattr(demo_server, "PORT", listener.getsockname()[1])
        with demo_server.running():
            pass
    assert capsys.readouterr().out == ""
