"""Other chatbots are spoken to by a mapping: what is sent, and where the answer is."""

from __future__ import annotations

import json

import pytest

from relevansi.chatbot import mappings
from relevansi.chatbot.answers import Message
from relevansi.chatbot.client import Chatbot
from relevansi.chatbot.mappings import KEY_VARIABLE, MissingKey, UnusableMapping
from relevansi.i18n import speaking
from tests.chatbot.bots import AT_ONCE, raw, serving

ASKED = Message("Lagi?", "s1", "u1", "hybrid", (("Rumah?", "Ini rumah."),))
MAPPING = {
    "send": {"q": "{message}", "chat": {"id": "{session_id}"}, "mode": "cari-{method}", "top": 5},
    "read": {"text": "data.answer", "items": "data.hits", "session": "chat", "usage": "cost"},
    "item": {"title": "judul", "url": "links.0"},
    "headers": {"X-Key": "k-{env:BOT_KEY}"},
}


def mapping(**changed: object) -> mappings.Mapping:
    return mappings.read("peta.json", json.dumps(MAPPING | changed).encode())


def test_a_mapping_shapes_the_request_and_reads_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOT_KEY", "rahasia")
    hit = {"judul": "Ruko", "links": ["https://listing.example/ruko"], "harga": 5}
    body = {"data": {"answer": "Ini", "hits": [hit]}, "chat": "s1", "cost": {"tokens": 3}}
    with serving(raw(json.dumps(body).encode())) as bot:
        answer = Chatbot(bot.address, mapping(), AT_ONCE).ask(ASKED)

    assert bot.asked == [{"q": "Lagi?", "chat": {"id": "s1"}, "mode": "cari-hybrid", "top": 5}]
    assert bot.headers[0]["X-Key"] == "k-rahasia"
    assert answer.text == "Ini"
    assert answer.properties == (hit | {"title": "Ruko", "url": "https://listing.example/ruko"},)
    assert answer.usage == {"tokens": 3}


def test_an_openai_endpoint_gets_the_earlier_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "sk-1")
    body = {
        "choices": [{"message": {"role": "assistant", "content": "Masih ada."}}],
        "usage": {"prompt_tokens": 20, "completion_tokens": 4},
    }
    with serving(raw(json.dumps(body).encode())) as bot:
        chatbot = Chatbot(bot.address.removesuffix("/chat"), mappings.openai("gpt"), AT_ONCE)
        answer = chatbot.ask(ASKED)

    assert chatbot.address.endswith("/chat/completions")
    assert bot.asked == [
        {
            "model": "gpt",
            "messages": [
                {"role": "user", "content": "Rumah?"},
                {"role": "assistant", "content": "Ini rumah."},
                {"role": "user", "content": "Lagi?"},
            ],
        }
    ]
    assert bot.headers[0]["Authorization"] == "Bearer sk-1"
    assert (answer.text, answer.properties) == ("Masih ada.", None)
    assert answer.usage == {"prompt_tokens": 20, "completion_tokens": 4}


@pytest.mark.parametrize("key", ["", " ", "two\nlines", "kunci-\u00e9"])
def test_a_key_that_cannot_be_sent_is_refused_by_its_variable_alone(
    monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("BOT_KEY", key)
    with pytest.raises(MissingKey) as missing:
        mappings.filled(mapping().headers)

    assert missing.value.args == ("BOT_KEY",)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (
            b'{"send":\n}',
            "peta.json is not a usable mapping: JSON: Expecting value: line 2 column 1",
        ),
        (b"[]", "peta.json is not a usable mapping"),
        (b'{"send": {"q": "{message}"}}', "Object missing required field `read`"),
        (b'{"send": {"q": "{message}"}, "read": {}}', "read: Object missing required field `text`"),
        (
            b'{"send": {"q": "{message}"}, "read": {"text": 5}}',
            "read.text: Expected `str`, got `int`",
        ),
        (b'{"send": {"q": "{pesan}"}, "read": {"text": "a"}}', "{pesan} is not one of {message}"),
        (b'{"send": {"q": "halo"}, "read": {"text": "a"}}', "{message} is not in it"),
        (b" " * 100_000, "larger than 64 kB"),
    ],
)
def test_an_unusable_mapping_is_refused_with_a_reason(data: bytes, words: str) -> None:
    with speaking("en"), pytest.raises(UnusableMapping) as refused:
        mappings.read("peta.json", data)

    with speaking("en"):
        assert words in str(refused.value)
