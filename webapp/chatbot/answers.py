"""A question to the chatbot under test, and the answer it gave."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from webapp.records import LARGEST_INTEGER, CollectedAnswer


class Message(Struct, frozen=True):
    """One message in one conversation; ``earlier`` are its (question, answer) pairs so far.

    Chatbots that remember their sessions are given the session alone; those that do not
    (any OpenAI-compatible endpoint) get the earlier turns.
    """

    message: str
    session_id: str
    user_id: str
    method: str
    earlier: tuple[tuple[str, str], ...] = ()


class Answer(Struct, frozen=True):
    """The chatbot's answer: the text, and the rest as the JSON values the chatbot sent.

    ``properties`` is ``None`` where the chatbot lists none beside its text. ``session_id``
    and ``model`` are those the answer names, if any. ``latency_ms`` is the duration of the try
    that was answered, ``tries`` how many it took,
    ``address`` the one that answered.
    """

    text: str
    properties: tuple[object, ...] | None = None
    session_id: str | None = None
    model: str | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)
    usage: Mapping[str, object] | None = None
    latency_ms: int = 0
    tries: int = 1
    address: str = ""


def results_count(answer: Answer) -> int | None:
    """How many results the chatbot says it returned, else how many it lists."""
    returned = answer.metadata.get("returned")
    if type(returned) is int and 0 <= returned <= LARGEST_INTEGER:
        return returned
    return None if answer.properties is None else len(answer.properties)


def answered(asked: CollectedAnswer, answer: Answer) -> CollectedAnswer:
    """A question that was `asked`, with the answer as a run file keeps it."""
    return replace(
        asked,
        response=answer.text,
        results_count=results_count(answer),
        latency_ms=answer.latency_ms,
        tries=answer.tries,
        usage=answer.usage,
        metadata=answer.metadata,
        properties=answer.properties,
    )
