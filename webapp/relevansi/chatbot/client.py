"""The chatbot asked over HTTP: one question, one answer, or a failure that is named.

Safe in threads: a client keeps nothing between two questions.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import ssl
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from functools import cache
from ipaddress import ip_address
from time import perf_counter
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar
from urllib.parse import urlsplit, urlunsplit

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from relevansi.chatbot import mappings
from relevansi.chatbot.answers import Answer, Message, detail, excerpt, parsed
from relevansi.chatbot.failures import (
    CHATBOT,
    FINAL,
    LONGEST_EXCERPT,
    SERVER,
    CallFailed,
    NotTheContract,
)
from relevansi.chatbot.mappings import CONTRACT, Mapping
from relevansi.failures import Refused
from relevansi.i18n import mark

if TYPE_CHECKING:
    import httpx
    from stamina import Attempt

LARGEST_ANSWER = 2**20
"""Bytes; of a larger answer the rest is not read."""

BUSY = {429, 502, 503, 504}
"""Answers after which the same request may fare better."""

Read = TypeVar("Read")
NOTHING_THERE = "404"


class UnusableAddress(Refused, ValueError):
    """An address that is not an http or https address; it is the argument."""

    message = mark("%(name)s is not an http or https address")
    remedy = mark("It begins with http:// or https://, then the name of a server.")


class SecretInAddress(Refused, ValueError):
    """An address with a user or a password in it; the address without them is the argument."""

    message = mark("The address %(name)s must be without a user and password")
    remedy = mark("Programs and logs show addresses: put the secret into the environment.")


class Patience(Struct, frozen=True):
    """How long an answer may take, how often a question is tried, and the pauses between.

    The pauses (seconds) double from ``first_pause`` to ``longest_pause``, with as much as
    ``jitter`` by chance. A chatbot that asks for a wait gets it, up to ``longest_wait``.
    """

    seconds: float = 120.0
    tries: int = 3
    first_pause: float = 1.0
    longest_pause: float = 30.0
    jitter: float = 1.0
    longest_wait: float = 300.0


PATIENT = Patience()


class ChatbotReply(NamedTuple, Generic[Read]):
    """The value read from an answer, and how long the try took that was answered."""

    value: Read
    latency_ms: int
    tries: int


class Endpoint(Struct, frozen=True):
    """An address that answers JSON with JSON; ``who`` names it, ``limit`` is in bytes."""

    address: str
    patience: Patience = Patience()
    who: str = CHATBOT
    limit: int = LARGEST_ANSWER

    def ask(
        self, body: object, headers: dict[str, str], read: Callable[[object], Read]
    ) -> ChatbotReply[Read]:
        """The value that `read` finds in the answer; raises `CallFailed` when every try failed."""
        for attempt in retries(self.patience):
            with attempt:
                try:
                    return ChatbotReply(*self._try(body, headers, read), attempt.num)
                except CallFailed as failure:
                    failure.tries, failure.who = attempt.num, self.who
                    raise
        raise AssertionError(self.patience)

    def _try(
        self, body: object, headers: dict[str, str], read: Callable[[object], Read]
    ) -> tuple[Read, int]:
        started = perf_counter()
        seconds, limit = self.patience.seconds, self.limit
        status, data, about = asyncio.run(_posted(self.address, body, headers, seconds, limit))
        milliseconds = round((perf_counter() - started) * 1000)
        if 200 <= status < 300:
            return read(parsed(data)), milliseconds
        if 300 <= status < 400:
            raise CallFailed("redirected", status=status, address=about.get("Location", "-"))
        if status != 429 and status < 500:
            raise CallFailed("question_refused", status=status, detail=detail(data))
        pause, longest = _seconds(about.get("Retry-After")), self.patience.longest_wait
        if pause is not None and pause > longest:
            raise CallFailed("pause_too_long", status=status, seconds=pause, limit=longest)
        code = "too_many_requests" if status == 429 else "server_failed"
        raise CallFailed(code, pause=pause, status=status, detail=detail(data))


class Chatbot(Struct, frozen=True):
    address: str
    mapping: Mapping = CONTRACT
    patience: Patience = Patience()

    def __post_init__(self) -> None:
        force_setattr(self, "address", full_address(self.address, self.mapping.path))

    def ask(self, message: Message) -> Answer:
        """Return the answer to one question; raises a `CallFailed` when every try failed.

        The tries go to the same session. Where nothing is at the address (404), the question
        goes to `other_address` once more. Raises ``MissingKey`` before anything is sent.
        """
        try:
            return self._asked_at(self.address, message)
        except CallFailed as failed:
            second_address = self.other_address
            if second_address is None or failed.values.get("status") != NOTHING_THERE:
                raise
            try:
                return self._asked_at(second_address, message)
            except CallFailed as again:
                if again.values.get("status") != NOTHING_THERE:
                    raise
                raise CallFailed(
                    "nothing_there",
                    address=public_address(self.address),
                    other=public_address(second_address),
                    status=failed.values["status"],
                    detail=failed.values["detail"],
                ) from failed

    @property
    def other_address(self) -> str | None:
        """The address below the root at which such chatbots are found; ``None`` without one."""
        path, root = self.mapping.path, self.mapping.root
        parts = urlsplit(self.address)
        above = parts.path.rstrip("/").removesuffix(path)
        if not root or above.endswith(root):
            return None
        return urlunsplit(parts._replace(path=f"{above}{root}{path}"))

    def _asked_at(self, address: str, message: Message) -> Answer:
        reply = Endpoint(address, self.patience).ask(
            self.mapping.body(message),
            mappings.filled(self.mapping.headers),
            lambda document: self.mapping.read(document, message),
        )
        return replace(reply.value, address=address, latency_ms=reply.latency_ms, tries=reply.tries)


def retries(patience: Patience) -> Iterable[Attempt]:
    """Yield attempts, with pauses, until one raises no ``CallFailed`` that may pass."""
    import stamina  # noqa: PLC0415 - for callers of an endpoint alone

    def pause(failure: Exception) -> bool | float:
        if not isinstance(failure, CallFailed) or failure.code in FINAL:
            return False
        return True if failure.pause is None else failure.pause

    # The caller reports retries; without a handler they would appear on stderr.
    logging.getLogger("stamina").addHandler(_SILENT)
    return stamina.retry_context(
        on=pause,
        attempts=patience.tries,
        timeout=None,
        wait_initial=patience.first_pause,
        wait_max=patience.longest_pause,
        wait_jitter=patience.jitter,
    )


async def _posted(
    address: str, body: object, headers: dict[str, str], seconds: float, limit: int
) -> tuple[int, bytes, httpx.Headers]:
    import httpx  # noqa: PLC0415 - a sixth of a second

    with _named_failures(CHATBOT, seconds):
        async with (
            # One limit for the whole call: httpx's own starts anew with every byte.
            asyncio.timeout(seconds),
            httpx.AsyncClient(
                timeout=None,  # noqa: S113
                verify=_certificates(),
                trust_env=not is_loopback(address),
            ) as client,
            client.stream(
                "POST",
                address,
                content=json.dumps(body).encode(),
                # Compressed, a small answer could unfold to one that fills the memory.
                headers={
                    "Accept": "application/json",
                    "Content-Type": "application/json",
                    "User-Agent": "relevansi",
                    **headers,
                    "Accept-Encoding": "identity",
                },
            ) as response,
        ):
            data, about = bytearray(), response.headers
            async for chunk in response.aiter_raw():
                data += chunk
                if len(data) > limit:
                    kilobytes = limit // 1024
                    beginning = excerpt(bytes(data[: 4 * LONGEST_EXCERPT]))
                    raise CallFailed("answer_too_large", limit=kilobytes, excerpt=beginning)
    if response.is_success and about.get("Content-Encoding", "identity") != "identity":
        raise NotTheContract(mark("it is compressed, though that was declined"))
    return response.status_code, bytes(data), about


def request(
    method: str,
    address: str,
    *,
    token: str = "",
    patience: Patience = PATIENT,
    **content: Any,
) -> httpx.Response:
    """Return a server's answer, whatever it says, to a request that may be sent again.

    `token` goes along as its bearer; `content` is as ``httpx.request`` takes it. Sent again is what
    got no answer, 429, 502, 503 or 504. Raises ``CallFailed`` when every try failed, and
    ``SecretInAddress``.
    """
    import httpx  # noqa: PLC0415 - a sixth of a second

    if urlsplit(address).username is not None:
        raise SecretInAddress(public_address(address))
    headers = {"User-Agent": "relevansi"} | ({"Authorization": f"Bearer {token}"} if token else {})
    how: dict[str, Any] = {"timeout": patience.seconds, "trust_env": not is_loopback(address)}
    for attempt in retries(patience):
        with attempt:
            with (
                _named_failures(SERVER, patience.seconds),
                httpx.Client(verify=_certificates(), headers=headers, **how) as client,
            ):
                response = client.request(method, address, **content)
            if response.status_code not in BUSY:
                return response
            pause = min(_seconds(response.headers.get("Retry-After")) or 0, patience.longest_wait)
            raise CallFailed(
                "server_failed",
                pause=pause or None,
                who=SERVER,
                status=response.status_code,
                detail=detail(response.content),
            )
    raise AssertionError(patience)


@contextmanager
def _named_failures(who: str, seconds: float) -> Iterator[None]:
    """Raise a ``CallFailed`` for what goes wrong on the way to `who` and back."""
    import httpx  # noqa: PLC0415 - a sixth of a second

    try:
        yield
    except (TimeoutError, httpx.TimeoutException) as late:
        raise CallFailed("no_answer_in_time", who=who, seconds=seconds) from late
    except (httpx.ConnectError, httpx.ProxyError, httpx.UnsupportedProtocol) as failure:
        raise CallFailed("not_reached", who=who, why=_reason(failure)) from failure
    except httpx.TransportError as failure:
        raise CallFailed("connection_cut", who=who, why=_reason(failure)) from failure


def full_address(address: str, path: str = "") -> str:
    """`address` with `path` behind it unless it ends so; raises `UnusableAddress`.

    >>> full_address("http://127.0.0.1:8000", "/chat")
    'http://127.0.0.1:8000/chat'
    >>> full_address("https://bot.example/v1/chat", "/chat")
    'https://bot.example/v1/chat'
    """
    import httpx  # noqa: PLC0415 - a sixth of a second

    try:
        parts = urlsplit(address)
        usable = parts.scheme in {"http", "https"} and httpx.URL(address).host
        _ = parts.port  # raises where it is none
    except (ValueError, httpx.InvalidURL):
        usable = False
    if not usable or any(character.isspace() for character in address):
        raise UnusableAddress(address)
    base = parts.path.rstrip("/")
    return urlunsplit(parts._replace(path=parts.path if base.endswith(path) else f"{base}{path}"))


def public_address(address: str) -> str:
    """`address` without its parts that may be secret: user, password, query.

    >>> public_address("https://me:secret@bot.example:8443/chat?key=1")
    'https://bot.example:8443/chat'
    """
    parts = urlsplit(address)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def is_loopback(address: str) -> bool:
    """Whether the address is this machine's own, which no proxy can reach."""
    try:
        host = urlsplit(address).hostname or ""
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


_SILENT = logging.NullHandler()


@cache
def _certificates() -> ssl.SSLContext:
    import httpx  # noqa: PLC0415 - a sixth of a second

    return httpx.create_ssl_context()


def _seconds(retry_after: str | None) -> float | None:
    if not retry_after:
        return None
    if retry_after.strip().isdecimal():
        return float(retry_after)
    try:
        until = parsedate_to_datetime(retry_after).timestamp()
    except (ValueError, OverflowError):
        return None
    return max(0.0, until - time.time())


def _reason(failure: Exception) -> str:
    inner: BaseException = failure
    while inner.__cause__ is not None or inner.__context__ is not None:
        inner = inner.__cause__ or inner.__context__ or inner
        if isinstance(inner, OSError) and inner.strerror:
            # asyncio has its own messages; the resolver's numbers are below 0, not the system's.
            number = inner.errno or 0
            return os.strerror(number) if number > 0 else inner.strerror
    return str(failure) or type(failure).__name__
