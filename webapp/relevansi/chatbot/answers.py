"""Messages to a chatbot, its answers, and the reading of these from bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from relevansi import json_text
from relevansi.chatbot.failures import MAX_EXCERPT, NotTheContract, one_line
from relevansi.i18n import mark
from relevansi.json_text import MAX_DEPTH
from relevansi.records import LARGEST_INTEGER, CollectedAnswer


class Message(Struct, frozen=True):
    """One message in one conversation; ``earlier`` are its (question, answer) pairs so far.

    Chatbots that store their sessions get the session's id alone; those that do not (any
    OpenAI-compatible endpoint) get the earlier turns.
    """

    message: str
    session_id: str
    user_id: str
    method: str
    earlier: tuple[tuple[str, str], ...] = ()


class Answer(Struct, frozen=True):
    """The chatbot's answer: the text, and the rest as the JSON values the chatbot sent.

    ``session_id`` and ``model`` are those that the answer names, if any. ``latency_ms`` is the
    duration of the successful try, ``address`` the one that answered.
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


def with_answer(question: CollectedAnswer, answer: Answer) -> CollectedAnswer:
    """Return a collected question with its answer, as a run file has them.

    ``results_count`` is the number that the chatbot states, else that of the results it lists.
    """
    count = answer.metadata.get("returned")
    # By its exact type: to isinstance True is an int.
    if type(count) is not int or not 0 <= count <= LARGEST_INTEGER:
        count = None if answer.properties is None else len(answer.properties)
    return replace(
        question,
        response=answer.text,
        results_count=count,
        latency_ms=answer.latency_ms,
        tries=answer.tries,
        usage=answer.usage,
        metadata=answer.metadata,
        properties=answer.properties,
    )


def parse(data: bytes) -> object:
    """Return the JSON value in an answer, null for NaN and infinities; raises `NotTheContract`."""
    beginning = excerpt(data)
    if not data.strip():
        raise NotTheContract(mark("it is empty"))
    try:
        value: object = json_text.decode(data.decode("utf-8-sig"), depth=MAX_DEPTH // 2)
    except UnicodeDecodeError as wrong:
        raise NotTheContract(mark("it is not in UTF-8"), excerpt=beginning) from wrong
    except RecursionError as wrong:
        what = mark("its JSON is nested too deep")
        raise NotTheContract(what, excerpt=beginning) from wrong
    except ValueError as wrong:
        is_page = beginning.lstrip().startswith("<")
        what = mark("it is HTML, not JSON") if is_page else mark("it is not readable JSON")
        raise NotTheContract(what, excerpt=beginning) from wrong
    return value


def excerpt(data: bytes) -> str:
    """Return the beginning of an answer as text."""
    return data[: 4 * MAX_EXCERPT].decode("utf-8", "replace")[:MAX_EXCERPT]


def detail(data: bytes) -> str:
    """Return a server's text on its failure: ``detail`` or the like, else the body; "-" if none."""
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        text = excerpt(data)
        return mark("an HTML page") if text.lstrip().startswith("<") else one_line(text) or "-"
    if isinstance(body, dict):
        for key in ("detail", "error", "message"):
            if key in body:
                body = body[key]
                break
    # OpenAI-compatible servers answer {"error": {"message": ...}}.
    if isinstance(body, dict) and isinstance(body.get("message"), str):
        body = body["message"]
    text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
    return one_line(text) or "-"
