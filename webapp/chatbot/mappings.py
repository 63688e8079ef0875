"""How a chatbot is spoken to: where the message goes, where text, items and session come from.

The contract of the chatbots in use is the mapping ``CONTRACT``; others come from a small
JSON file (docs/chatbots.md), OpenAI-compatible endpoints from `openai`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping as Values
from types import MappingProxyType

from msgspec import Struct, field
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from webapp.chatbot.answers import Answer, Message
from webapp.chatbot.failures import NotTheContract, OtherSession
from webapp.failures import Conflict, Refused
from webapp.i18n import mark

KEY_VARIABLE = "RELEVANSI_CHATBOT_KEY"
PLACES = ("message", "session_id", "user_id", "method", "messages")
LARGEST_FILE = 64 * 2**10
_PLACE = re.compile(r"\{([^{}]*)\}")
_NOTHING = object()


class UnusableMapping(Refused, ValueError):
    """A mapping file that cannot be followed: ``why`` at a ``place`` in it."""

    message = mark("%(name)s is not a usable mapping: %(place)s: %(why)s")
    remedy = mark("docs/chatbots.md shows one.")


class MappingTooLarge(UnusableMapping):
    """A mapping file of more than ``limit`` kB."""

    message = mark("%(name)s is larger than %(limit)s kB")


class UnknownPlace(UnusableMapping):
    """A mapping that sends a ``place`` which is none of ``places``."""

    message = mark("%(name)s: {%(place)s} is not a place that can be filled")
    remedy = mark("There are %(places)s.")


class MessageGoesNowhere(UnusableMapping):
    """A mapping that sends no message."""

    message = mark("%(name)s: the message goes nowhere")
    remedy = mark("Put {message} into send.")


class MissingKey(Conflict):
    """An environment variable that a header needs is not set, or no header can hold it."""

    message = mark("The environment variable %(name)s holds no key that can be sent")
    remedy = mark("Nothing was asked. Set it where the server is started, and start it again.")


class Mapping(Struct, frozen=True):
    """One way to speak to a chatbot.

    ``send`` is the JSON to post, with the ``PLACES`` in braces to be filled. The paths
    (``text`` and so on) are names and positions joined by points: "choices.0.message.content";
    "" is for a part that such a chatbot does not send. ``item`` maps names of the contract to
    paths inside each item. ``assigns_sessions`` is for chatbots that name their sessions
    themselves. ``path`` is appended to an address that ends without it; ``root`` is
    where such chatbots often have it.
    """

    send: object
    text: str
    items: str = ""
    session: str = ""
    model: str = ""
    usage: str = ""
    metadata: str = ""
    item: Values[str, str] = field(default_factory=dict)
    headers: Values[str, str] = field(default_factory=dict)
    assigns_sessions: bool = False
    path: str = ""
    root: str = ""

    def body(self, asked: Message) -> object:
        """The JSON that asks."""
        return _filled(self.send, asked)

    def read(self, document: object, asked: Message) -> Answer:
        """The answer in a document; raises `NotTheContract` or `OtherSession`."""
        text = _at(document, self.text)
        if not isinstance(text, str):
            raise _without_text(self.text, document)
        theirs = _session_id(_at(document, self.session))
        if theirs and asked.session_id and theirs != asked.session_id:
            raise OtherSession(excerpt=text, ours=asked.session_id, theirs=theirs)
        return Answer(
            text=text,
            properties=self._properties(document),
            session_id=theirs,
            model=_at_text(document, self.model) or None,
            metadata=_object(_at(document, self.metadata)),
            usage=_object(_at(document, self.usage)) or None,
        )

    def _properties(self, document: object) -> tuple[object, ...] | None:
        found = _at(document, self.items)
        if found is _NOTHING or found is None:
            return None
        if not isinstance(found, list):
            what = mark('"%(path)s" in it is not a list')
            raise NotTheContract(what, path=self.items, excerpt=_at_text(document, self.text))
        return tuple(self._property(item) for item in found)

    def _property(self, item: object) -> object:
        if not isinstance(item, dict):
            return item
        named = {ours: _at(item, theirs) for ours, theirs in self.item.items()}
        return item | {name: value for name, value in named.items() if value is not _NOTHING}


CONTRACT = Mapping(
    send={
        "message": "{message}",
        "session_id": "{session_id}",
        "user_id": "{user_id}",
        "method": "{method}",
    },
    text="response",
    items="properties",
    session="session_id",
    usage="usage",
    metadata="metadata",
    path="/chat",
    root="/api/v1",
)


def openai(
    model: str | None,
    environ: Values[str, str] = os.environ,
    settings: Values[str, object] = MappingProxyType({}),
) -> Mapping:
    """The mapping for an OpenAI-compatible chat endpoint; the earlier turns travel along.

    Without a `model` the endpoint takes its own. `settings` (temperature and the like) go out
    with every question. The key is taken from ``RELEVANSI_CHATBOT_KEY``; without it none is
    sent.
    """
    named = {} if model is None else {"model": model}
    return Mapping(
        send={**named, **settings, "messages": "{messages}"},
        text="choices.0.message.content",
        model="model",
        usage="usage",
        headers=bearer(KEY_VARIABLE, environ),
        path="/chat/completions",
    )


class _OfFile(BaseModel):
    # Built when a file is read, which a server that starts need not wait for.
    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)


class _Read(_OfFile):
    text: str = Field(min_length=1)
    items: str = ""
    session: str = ""
    usage: str = ""
    metadata: str = ""


class _File(_OfFile):
    send: dict[str, object]
    read: _Read
    item: dict[str, str] = {}
    headers: dict[str, str] = {}
    assigns_sessions: bool = False


def read(name: str, data: bytes) -> Mapping:
    """The mapping in the file `name`; raises `UnusableMapping`."""
    if len(data) > LARGEST_FILE:
        raise MappingTooLarge(name, limit=LARGEST_FILE // 1024)
    try:
        file = _File.model_validate_json(data)
    except ValidationError as wrong:
        first = wrong.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "JSON"
        raise UnusableMapping(name, place=place, why=first["msg"]) from wrong
    _check_places(name, file.send)
    return Mapping(
        send=file.send,
        item=file.item,
        headers=file.headers,
        assigns_sessions=file.assigns_sessions,
        **file.read.model_dump(),
    )


def bearer(variable: str, environ: Values[str, str] = os.environ) -> dict[str, str]:
    """The header that sends the key in `variable`, to be filled; none where it is not set."""
    return {"Authorization": f"Bearer {{env:{variable}}}"} if environ.get(variable) else {}


def headers(mapping: Mapping, environ: Values[str, str] = os.environ) -> dict[str, str]:
    """The headers of `mapping` with ``{env:NAME}`` filled; raises `MissingKey`."""
    return filled_headers(mapping.headers, environ)


def filled_headers(
    templates: Values[str, str], environ: Values[str, str] = os.environ
) -> dict[str, str]:
    """`templates` with ``{env:NAME}`` filled; raises `MissingKey`."""

    def value(place: re.Match[str]) -> str:
        kind, _, variable = place[1].partition(":")
        key = environ.get(variable, "").strip() if kind == "env" else ""
        # Checked here: a later error about a wrong character would print the key.
        if not key or not key.isascii() or not key.isprintable():
            raise MissingKey(variable or place[0])
        return key

    return {name: _PLACE.sub(value, text) for name, text in templates.items()}


def _check_places(name: str, send: object) -> None:
    places = set(_PLACE.findall(json.dumps(send)))
    if unknown := sorted(place for place in places if re.fullmatch(r"\w+", place)):
        unknown = [place for place in unknown if place not in PLACES]
    if unknown:
        known = ", ".join(f"{{{place}}}" for place in PLACES)
        raise UnknownPlace(name, place=unknown[0], places=known)
    if not places & {"message", "messages"}:
        raise MessageGoesNowhere(name)


def _filled(template: object, asked: Message) -> object:
    match template:
        case str():
            return _filled_text(template, asked)
        case dict():
            return {key: _filled(value, asked) for key, value in template.items()}
        case list():
            return [_filled(value, asked) for value in template]
        case _:
            return template


def _filled_text(template: str, asked: Message) -> object:
    if template == "{messages}":
        return _messages(asked)
    if template == "{session_id}":
        return asked.session_id or None
    return _PLACE.sub(
        lambda place: str(getattr(asked, place[1])) if place[1] in PLACES[:4] else place[0],
        template,
    )


def _messages(asked: Message) -> list[dict[str, str]]:
    turns = [
        {"role": role, "content": text}
        for turn in asked.earlier
        for role, text in zip(("user", "assistant"), turn, strict=True)
    ]
    return [*turns, {"role": "user", "content": asked.message}]


def _at(document: object, path: str) -> object:
    if not path:
        return _NOTHING
    for part in path.split("."):
        if isinstance(document, dict) and part in document:
            document = document[part]
        elif isinstance(document, list) and part.isdecimal() and int(part) < len(document):
            document = document[int(part)]
        else:
            return _NOTHING
    return document


def _at_text(document: object, path: str) -> str:
    found = _at(document, path)
    return found if isinstance(found, str) else ""


def _session_id(found: object) -> str | None:
    if isinstance(found, bool) or not isinstance(found, str | int):
        return None
    return str(found) or None


def _object(found: object) -> Values[str, object]:
    return found if isinstance(found, dict) else {}


def _without_text(path: str, document: object) -> NotTheContract:
    excerpt = json.dumps(document, ensure_ascii=False)
    if not isinstance(document, dict):
        return NotTheContract(mark("it is JSON, but not an object"), excerpt=excerpt)
    what = mark('it has no text at "%(path)s", only: %(known)s')
    known = ", ".join(map(str, list(document)[:8])) or "-"
    return NotTheContract(what, path=path, known=known, excerpt=excerpt)
