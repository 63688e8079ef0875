"""POST /chat of the demo chatbot: 200, 422 for bad input, 500 with the reason."""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.test import Client, TestResponse

from webapp.cli.collecting.demo_server import application
from webapp.config import resource
from webapp.services.collecting.demo_chatbot import DemoBot


@pytest.fixture(name="chat", scope="module")
def _chat() -> Client:
    return Client(application(DemoBot(resource("seeds"))))


def post(chat: Client, body: Any) -> TestResponse:
    return chat.post("/chat", json=body)


def said(answer: TestResponse) -> Any:
    return answer.json


def test_an_answer_has_the_keys_of_the_contract(chat: Client) -> None:
    answer = post(
        chat,
        {"message": "rumah di johor", "session_id": "s1", "user_id": "u", "method": "api_only"},
    )

    assert answer.status_code == 200
    assert answer.content_type == "application/json; charset=utf-8"
    assert list(said(answer)) == ["response", "properties", "session_id", "metadata"]
    assert said(answer)["session_id"] == "s1"
    assert set(said(answer)["metadata"]) == {"total_found", "returned", "method_used", "has_more"}
    assert {"id", "title", "price", "price_formatted", "location", "city", "url"} <= set(
        said(answer)["properties"][0]
    )


def test_the_longest_message_is_taken(chat: Client) -> None:
    assert post(chat, {"message": "r" * 2000}).status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"message": ""},
        {"message": "r" * 2001},
        {"message": 5},
        {"message": "rumah", "method": "magic"},
        {"message": "rumah", "session_id": 5},
        [],
    ],
)
def test_bad_input_is_422_and_says_where(chat: Client, body: Any) -> None:
    answer = post(chat, body)

    assert answer.status_code == 422
    assert said(answer)["detail"][0]["msg"]


def test_what_is_no_json_is_422(chat: Client) -> None:
    assert chat.post("/chat", data=b"{").status_code == 422


def test_another_address_or_verb_is_told(chat: Client) -> None:
    assert chat.post("/").status_code == 404
    assert chat.get("/chat").status_code == 405


def test_a_body_beyond_the_limit_is_not_read(chat: Client) -> None:
    assert chat.post("/chat", data=b" " * 100_000).status_code == 413


def test_a_failure_is_500_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    bot = DemoBot(resource("seeds"))
    monkeypatch.setattr(bot, "answer", lambda *_: 1 / 0)

    answer = post(Client(application(bot)), {"message": "rumah"})

    assert answer.status_code == 500
    assert answer.json == {"detail": "ZeroDivisionError: division by zero"}
