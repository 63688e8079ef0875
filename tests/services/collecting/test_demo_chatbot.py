"""The demo chatbot answers the sample's questions as recorded, others by a search."""

from __future__ import annotations

import json

import pytest

from relevansi.config import resource
from relevansi.services.collecting.demo_chatbot import METHODS, MOST_SESSIONS, DemoBot, Reply


@pytest.fixture(name="sample", scope="module")
def _sample() -> DemoBot:
    return DemoBot(resource("seeds"))


@pytest.fixture(name="bot")
def _bot(sample: DemoBot) -> DemoBot:
    """The chatbot, holding no conversation."""
    sample._conversations.clear()
    return sample


def values(reply: Reply, name: str) -> set[object]:
    return {listing[name] for listing in reply.properties}


@pytest.mark.parametrize("method", METHODS)
def test_the_samples_questions_are_answered_as_recorded(bot: DemoBot, method: str) -> None:
    run = json.loads((resource("seeds") / "runs" / method / "test_results.json").read_text("utf-8"))

    replies = [bot.answer(record["question"], method, "s") for record in run["results"]]

    differing = [
        record["query_id"]
        for record, reply in zip(run["results"], replies, strict=True)
        if (record["response"], record.get("properties"), record.get("metadata"))
        != (reply.response, reply.properties, reply.metadata)
    ]
    assert differing == [record["query_id"] for record in run["results"] if not record["success"]]
    assert all(replies[query_id - 1].properties for query_id in differing)  # a search answers


def test_a_question_is_answered_by_what_shares_its_words(bot: DemoBot) -> None:
    reply = bot.answer("rumah dijual di ringroad", "hybrid", "s")
    near = bot.answer("cari sewa dekat usu", "hybrid", "s")
    with_cctv = bot.answer("rumah yang ada cctv", "hybrid", "s")

    assert values(reply, "property_type") == {"house"}
    assert values(reply, "listing_type") == {"sale"}
    assert near.properties
    assert values(near, "listing_type") == {"rent"}
    assert with_cctv.properties
    assert all("CCTV" in listing["facilities"] for listing in with_cctv.properties)


def test_more_shows_others_until_there_are_none(bot: DemoBot) -> None:
    urls: list[str] = []
    reply = bot.answer("rumah dijual di ringroad", "hybrid", "s")
    while reply.properties:
        urls += [listing["url"] for listing in reply.properties]
        reply = bot.answer("pilihan lain", "hybrid", "s")

    assert len(urls) == len(set(urls)) > 5
    assert reply.metadata["has_more"] is False
    assert "tidak ada" in reply.response


def test_the_conversation_that_is_silent_longest_is_forgotten_first(bot: DemoBot) -> None:
    for number in range(MOST_SESSIONS + 1):
        bot.answer("halo", "api_only", f"s{number}")

    assert len(bot._conversations) == MOST_SESSIONS
    assert "s0" not in bot._conversations
