"""A chatbot is asked over HTTP; whatever it does, the outcome is an answer or a named failure."""

from __future__ import annotations

import gzip
import json
import socket
import time
import tracemalloc
from email.utils import formatdate
from functools import partial
from itertools import count

import pytest
from msgspec.structs import replace

from relevansi.chatbot.answers import Message
from relevansi.chatbot.client import LARGEST_ANSWER, Chatbot, UnusableAddress, full_address
from relevansi.chatbot.failures import CallFailed
from relevansi.i18n import speaking
from tests.chatbot import bots
from tests.chatbot.bots import AT_ONCE, Behaviour, good, raw, serving, status

ASKED = Message("Rumah di Johor?", "s1", "u1", "hybrid")
IMPATIENT = replace(AT_ONCE, seconds=0.15, tries=1)


def failure(*behaviours: Behaviour, patience: object = AT_ONCE) -> tuple[CallFailed, int]:
    """The failure that a question ends in, and how often the chatbot was asked."""
    with serving(*behaviours) as bot:
        chatbot = Chatbot(bot.address, patience=patience)  # type: ignore[arg-type]
        with pytest.raises(CallFailed) as failed:
            chatbot.ask(ASKED)
        return failed.value, len(bot.asked)


def message_of(failed: CallFailed) -> str:
    with speaking("en"):
        return str(failed)


def test_an_answer_comes_with_all_that_the_chatbot_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relevansi.chatbot.client.perf_counter", partial(next, count(step=2)))
    with serving(good) as bot:
        answer = Chatbot(bot.address).ask(ASKED)

    assert bot.asked == [
        {"message": "Rumah di Johor?", "session_id": "s1", "user_id": "u1", "method": "hybrid"}
    ]
    assert answer.text.startswith("Rumah di Johor?")
    assert answer.properties is not None
    assert len(answer.properties) == 1
    assert answer.session_id == "s1"
    assert answer.metadata == {"returned": 1}
    assert answer.usage == {"prompt_tokens": 11, "completion_tokens": 5}
    assert answer.latency_ms == 2000  # asked at tick 0, answered at tick 2
    assert answer.tries == 1


@pytest.mark.parametrize(
    ("behaviour", "code", "words"),
    [
        (status(500, {"detail": "no index"}), "server_failed", "failed (500): no index"),
        (status(503, {"error": {"message": "down"}}), "server_failed", "failed (503): down"),
        (status(429, {"detail": "slow down"}), "too_many_requests", "(429): slow down"),
        (bots.cut, "connection_cut", "cut before the answer was complete"),
        (bots.huge, "answer_too_large", "larger than 1024 kB"),
        (bots.other_session, "other_session", '"somebody-else"'),
        (raw(b"<!doctype html><p>Hi"), "not_the_contract", "HTML, not JSON"),
        (raw(b'{"response": "Beri'), "not_the_contract", "not readable JSON"),
        (raw(b""), "not_the_contract", "it is empty"),
        (raw(b'{"response": "Ya", "response": "Bukan"}'), "not_the_contract", "not readable JSON"),
        (raw(b"[]"), "not_the_contract", "not an object"),
        (raw(b'{"answer": "Halo"}'), "not_the_contract", 'no text at "response", only: answer'),
        (raw(b'{"response": "Halo", "properties": "x"}'), "not_the_contract", "is not a list"),
        (raw(b'{"response": "\xff"}'), "not_the_contract", "not in UTF-8"),
        (raw(b"[" * 100_000), "not_the_contract", "deep"),
        (raw(b'{"response": "", "p": ' + b"[" * 40 + b"]" * 40 + b"}"), "not_the_contract", "deep"),
        (
            raw(gzip.compress(b" " * 10**8), Content_Encoding="gzip"),
            "not_the_contract",
            "compressed",
        ),
    ],
)
def test_a_transient_failure_is_tried_three_times(
    behaviour: Behaviour, code: str, words: str
) -> None:
    failed, n_calls = failure(behaviour)

    assert (failed.code, n_calls, failed.tries) == (code, 3, 3)
    assert len(failed.excerpt) <= 2000
    assert words in message_of(failed)
    assert "\n" not in message_of(failed)


@pytest.mark.parametrize(
    ("behaviour", "code", "words"),
    [
        (status(422, {"detail": [{"msg": "too long"}]}), "question_refused", "too long"),
        (status(422, {"detail": "\x1b[2Jgone\u202e\n"}), "question_refused", "(422): [2Jgone"),
        (status(401, {"detail": "no key"}), "question_refused", "refused the question (401)"),
        (status(302, {}, Location="/login"), "redirected", "leads on to /login (302)"),
        (status(429, {}, Retry_After="4000"), "pause_too_long", "asks to wait 4000 seconds"),
    ],
)
def test_a_final_failure_is_not_retried(behaviour: Behaviour, code: str, words: str) -> None:
    failed, n_calls = failure(behaviour)

    assert (failed.code, n_calls) == (code, 1)
    assert words in message_of(failed)


@pytest.mark.parametrize("behaviour", [bots.silent, bots.dripping_answer, bots.dripping_head])
def test_the_time_limit_ends_whatever_takes_longer(behaviour: Behaviour) -> None:
    failed, _ = failure(behaviour, patience=IMPATIENT)

    assert failed.code == "no_answer_in_time"
    assert "within 0.15 seconds" in message_of(failed)


def test_an_address_without_a_server_is_not_reached() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]

    with pytest.raises(CallFailed) as failed:
        Chatbot(f"http://127.0.0.1:{port}", patience=AT_ONCE).ask(ASKED)

    assert failed.value.code == "not_reached"
    assert "could not be reached" in message_of(failed.value)


@pytest.mark.parametrize("dated", [False, True])
def test_the_retry_after_of_a_busy_chatbot_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, *, dated: bool
) -> None:
    waited = 3600 if dated else 7
    retry_after = formatdate(time.time() + waited, usegmt=True) if dated else str(waited)
    pauses: list[float] = []
    monkeypatch.setattr("tenacity.nap.time.sleep", pauses.append)
    with serving(status(429, {}, Retry_After=retry_after), good) as bot:
        patience = replace(AT_ONCE, longest_wait=4000)
        Chatbot(bot.address, patience=patience).ask(ASKED)

    assert pauses == [pytest.approx(waited, abs=600 if dated else 0)]


def test_pauses_double_from_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("tenacity.nap.time.sleep", pauses.append)
    with serving(status(500, {})) as bot:
        patience = replace(AT_ONCE, tries=4, first_pause=1, longest_pause=3)
        with pytest.raises(CallFailed):
            Chatbot(bot.address, patience=patience).ask(ASKED)

    assert pauses == [1, 2, 3]  # 1, 2, 4 cut to the longest


def test_a_huge_answer_does_not_fill_the_memory() -> None:
    with serving(bots.huge) as bot:
        chatbot = Chatbot(bot.address, patience=replace(AT_ONCE, tries=1))
        tracemalloc.start()
        with pytest.raises(CallFailed):
            chatbot.ask(ASKED)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()

    assert peak < 5 * LARGEST_ANSWER


def test_nan_and_infinity_are_null() -> None:
    body = b'{"response": "Halo", "properties": [{"a": NaN, "b": 1e999, "c": 1.5}]}'
    with serving(raw(body)) as bot:
        answer = Chatbot(bot.address).ask(ASKED)

    assert answer.properties == ({"a": None, "b": None, "c": 1.5},)
    json.dumps(answer.properties, allow_nan=False)


@pytest.mark.parametrize(
    "address",
    ["", "chat", "ftp://bot.example", "http://", "http://a:b:c/", "http://exa mple/", "http://:80"],
)
def test_an_unusable_address_is_refused(address: str) -> None:
    with pytest.raises(UnusableAddress):
        full_address(address, "/chat")
