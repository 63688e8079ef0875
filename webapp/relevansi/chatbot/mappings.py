"""Mappings of chatbots: the JSON to send, and where an answer has its text, items and session.

The usual contract is the mapping ``CONTRACT``; others come from a small JSON file
(docs/chatbots.md), OpenAI-compatible endpoints from `openai`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping as Values
from types import MappingProxyType
from typing import Annotated

from msgspec import DecodeError, Meta, Struct, field
from msgspec.json import decode
from msgspec.structs import asdict

from relevansi import json_text
from relevansi.chatbot.answers import Answer, Message
from relevansi.chatbot.failures import CallFailed, NotTheContract
from relevansi.config import UnusableSetting, secret
from relevansi.failures import Conflict, Refused
from relevansi.i18n import gettext, mark

KEY_VARIABLE = "RELEVANSI_CHATBOT_KEY"
PLACES = ("message", "session_id", "user_id", "method", "messages")
LARGEST_FILE = 64 * 2**10
_PLACE = re.compile(r"\{([^{}]*)\}")
_NOTHING = object()


class UnusableMapping(Refused, ValueError):
    """A mapping file that cannot be used: ``why`` at a ``place`` in it."""

    message = mark("%(name)s is not a usable mapping: %(place)s: %(why)s")
    remedy = mark("docs/chatbots.md shows one.")


class MissingKey(Conflict):
    """An environment variable that a header needs is not set, or has characters no header can."""

    message = mark("The environment variable %(name)s holds no key that can be sent")
    remedy = mark("Nothing was asked. Set it where the server is started, and start it again.")


class Mapping(Struct, frozen=True):
    """The requests to a chatbot, and how its answers are read.

    ``send`` is the JSON to post, with the ``PLACES`` in braces to be filled. The paths (``text``
    and so on) are names and positions joined by points: "choices.0.message.content". ``item``
    maps names of the contract to paths inside each item. ``path`` is appended to an address that
    ends without it; ``root`` is the path below which such chatbots often have it.
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

    def body(self, message: Message) -> object:
        """Return the JSON to post for a message."""
        return _filled(self.send, message)

    def read(self, document: object, message: Message) -> Answer:
        """Return the answer in a document; raises a `CallFailed`."""
        text = _at(document, self.text)
        if not isinstance(text, str):
            excerpt = json.dumps(document, ensure_ascii=False)
            if not isinstance(document, dict):
                raise NotTheContract(mark("it is JSON, but not an object"), excerpt=excerpt)
            what = mark('it has no text at "%(path)s", only: %(known)s')
            keys = ", ".join(map(str, list(document)[:8])) or "-"
            raise NotTheContract(what, path=self.text, known=keys, excerpt=excerpt)
        session_id = _session_id(_at(document, self.session))
        # An answer of another session would be judged in a conversation that it is not of.
        if session_id and message.session_id and session_id != message.session_id:
            ours = message.session_id
            raise CallFailed("other_session", excerpt=text, ours=ours, theirs=session_id)
        items = _at(document, self.items)
        if not (items is _NOTHING or items is None or isinstance(items, list)):
            what = mark('"%(path)s" in it is not a list')
            raise NotTheContract(what, path=self.items, excerpt=text)
        model = _at(document, self.model)
        metadata, usage = _at(document, self.metadata), _at(document, self.usage)
        return Answer(
            text=text,
            properties=tuple(map(self._property, items)) if isinstance(items, list) else None,
            session_id=session_id,
            model=model if isinstance(model, str) and model else None,
            metadata=metadata if isinstance(metadata, dict) else {},
            usage=usage if isinstance(usage, dict) and usage else None,
        )

    def _property(self, item: object) -> object:
        if not isinstance(item, dict):
            return item
        fields = {name: _at(item, path) for name, path in self.item.items()}
        return item | {name: value for name, value in fields.items() if value is not _NOTHING}


def _session_id(value: object) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    return str(value) or None


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


def openai(model: str | None, settings: Values[str, object] = MappingProxyType({})) -> Mapping:
    """Return the mapping of an OpenAI-compatible chat endpoint, which gets the earlier turns too.

    `settings` (temperature and the like) are sent with every question.
    """
    model_field = {} if model is None else {"model": model}
    return Mapping(
        send={**model_field, **settings, "messages": "{messages}"},
        text="choices.0.message.content",
        model="model",
        usage="usage",
        headers=bearer(KEY_VARIABLE),
        path="/chat/completions",
    )


class _Read(Struct, forbid_unknown_fields=True):
    text: Annotated[str, Meta(min_length=1)]
    items: str = ""
    session: str = ""
    usage: str = ""
    metadata: str = ""


class _File(Struct, forbid_unknown_fields=True):
    send: dict[str, object]
    read: _Read
    item: dict[str, str] = {}
    headers: dict[str, str] = {}
    assigns_sessions: bool = False


def read(name: str, data: bytes) -> Mapping:
    """Return the mapping in the file `name`; raises `UnusableMapping`."""
    if len(data) > LARGEST_FILE:
        why = gettext("it is larger than %(limit)s kB", limit=LARGEST_FILE // 1024)
        raise UnusableMapping(name, place="JSON", why=why)
    try:
        # First by our own reader, whose errors name the line.
        json_text.decode(data.decode("utf-8-sig"))
        file = decode(data, type=_File)
    except (DecodeError, ValueError, RecursionError) as wrong:
        why, _, place = str(wrong).partition(" - at ")
        raise UnusableMapping(name, place=place.strip("`$.") or "JSON", why=why) from wrong
    places = set(_PLACE.findall(json.dumps(file.send)))
    # Braces around anything but a word are JSON or text of the chatbot's own.
    unknown = sorted(p for p in places if re.fullmatch(r"\w+", p) and p not in PLACES)
    if unknown:
        choices = ", ".join(f"{{{place}}}" for place in PLACES)
        why = gettext("{%(place)s} is not one of %(places)s", place=unknown[0], places=choices)
        raise UnusableMapping(name, place="send", why=why)
    if not places & {"message", "messages"}:
        raise UnusableMapping(name, place="send", why=gettext("{message} is not in it"))
    return Mapping(
        send=file.send,
        item=file.item,
        headers=file.headers,
        assigns_sessions=file.assigns_sessions,
        **asdict(file.read),
    )


def bearer(variable: str) -> dict[str, str]:
    """Return the header that sends the key in `variable`, to be filled; none if it is not set."""
    return {"Authorization": f"Bearer {{env:{variable}}}"} if secret(variable) else {}


def filled(headers: Values[str, str]) -> dict[str, str]:
    """Return `headers` with ``{env:NAME}`` filled from the environment; raises `MissingKey`."""

    def value(place: re.Match[str]) -> str:
        kind, _, variable = place[1].partition(":")
        try:
            key = secret(variable).strip() if kind == "env" else ""
        except UnusableSetting:
            raise MissingKey(f"{variable}_FILE") from None
        # Checked here: a later error about a wrong character would print the key.
        if not key or not key.isascii() or not key.isprintable():
            raise MissingKey(variable or place[0])
        return key

    return {name: _PLACE.sub(value, text) for name, text in headers.items()}


def _filled(template: object, message: Message) -> object:
    match template:
        case str():
            return _filled_text(template, message)
        case dict():
            return {key: _filled(value, message) for key, value in template.items()}
        case list():
            return [_filled(value, message) for value in template]
        case _:
            return template


def _filled_text(template: str, message: Message) -> object:
    if template == "{messages}":
        messages = []
        for question, answer in message.earlier:
            messages.append({"role": "user", "content": question})
            messages.append({"role": "assistant", "content": answer})
        return [*messages, {"role": "user", "content": message.message}]
    # A first question has no session yet: null, not an empty text.
    if template == "{session_id}":
        return message.session_id or None
    return _PLACE.sub(
        lambda place: str(getattr(message, place[1])) if place[1] in PLACES[:4] else place[0],
        template,
    )


def _at(document: object, path: str) -> object:
    """Return the value at a path of a document, ``_NOTHING`` if there is none."""
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
