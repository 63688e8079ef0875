"""A client of chatbots over HTTP: one question, one answer, or a ``CallFailed``.

Safe in threads: a client stores nothing between two questions.
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
from relevansi.chatbot.answers import Answer, Message, detail, excerpt, parse
from relevansi.chatbot.failures import (
    CHATBOT,
    FINAL,
    MAX_EXCERPT,
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
"""Bytes of an answer; a larger one is refused, and the rest of it is not read."""

BUSY = {429, 502, 503, 504}
"""Statuses after which the same request may succeed."""

Read = TypeVar("Read")
NOT_FOUND = "404"


class UnusableAddress(Refused, ValueError):
    """The argument is not an http or https address."""

    message = mark("%(name)s is not an http or https address")
    remedy = mark("It begins with http:// or https://, then the name of a server.")


class SecretInAddress(Refused, ValueError):
    """An address has a user or a password; the argument is the address without them."""

    message = mark("The address %(name)s must be without a user and password")
    remedy = mark("Programs and logs show addresses: put the secret into the environment.")


class Patience(Struct, frozen=True):
    """The time limit of an answer, the number of tries, and the pauses between, all in seconds.

    The pauses double from ``first_pause`` to ``longest_pause``, plus up to ``jitter`` at random. A
    pause that the chatbot asks for replaces them, up to ``longest_wait``.
    """

    seconds: float = 120.0
    tries: int = 3
    first_pause: float = 1.0
    longest_pause: float = 30.0
    jitter: float = 1.0
    longest_wait: float = 300.0


PATIENT = Patience()


class ChatbotReply(NamedTuple, Generic[Read]):
    """The value read from an answer, the milliseconds of the successful try, and the tries."""

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
        """Return what `read` makes of the answer; raises `CallFailed` when every try failed."""
        for attempt in retries(self.patience):
            with attempt:
                try:
                    value, milliseconds = self._try(body, headers, read)
                    return ChatbotReply(value, milliseconds, attempt.num)
                except CallFailed as failure:
                    failure.tries, failure.who = attempt.num, self.who
                    raise
        raise AssertionError(self.patience)  # the last attempt raises

    def _try(
        self, body: object, headers: dict[str, str], read: Callable[[object], Read]
    ) -> tuple[Read, int]:
        """Return the value and the milliseconds of one try; raises `CallFailed`."""
        started = perf_counter()
        seconds, limit = self.patience.seconds, self.limit
        status, data, fields = asyncio.run(_post(self.address, body, headers, seconds, limit))
        milliseconds = round((perf_counter() - started) * 1000)
        if 200 <= status < 300:
            return read(parse(data)), milliseconds
        # Not followed: a key in the headers would reach a server that nobody named.
        if 300 <= status < 400:
            raise CallFailed("redirected", status=status, address=fields.get("Location", "-"))
        if status != 429 and status < 500:
            raise CallFailed("question_refused", status=status, detail=detail(data))
        pause, longest = _seconds(fields.get("Retry-After")), self.patience.longest_wait
        if pause is not None and pause > longest:
            raise CallFailed("pause_too_long", status=status, seconds=pause, limit=longest)
        code = "too_many_requests" if status == 429 else "server_failed"
        raise CallFailed(code, pause=pause, status=status, detail=detail(data))


class Chatbot(Struct, frozen=True):
    """A chatbot at an address, spoken to by a mapping; raises ``UnusableAddress``."""

    address: str
    mapping: Mapping = CONTRACT
    patience: Patience = Patience()

    def __post_init__(self) -> None:
        force_setattr(self, "address", full_address(self.address, self.mapping.path))

    def ask(self, message: Message) -> Answer:
        """Return the answer to one question; raises a `CallFailed` when every try failed.

        All tries are in the same session. After a 404 the question goes to `other_address` too.
        Raises ``MissingKey`` before anything is sent.
        """
        try:
            return self._ask_at(self.address, message)
        except CallFailed as failed:
            second_address = self.other_address
            if second_address is None or failed.values.get("status") != NOT_FOUND:
                raise
            try:
                return self._ask_at(second_address, message)
            except CallFailed as failed_again:
                if failed_again.values.get("status") != NOT_FOUND:
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
        """The address with the mapping's root in it; ``None`` without a root, or if it has it."""
        path, root = self.mapping.path, self.mapping.root
        parts = urlsplit(self.address)
        parent = parts.path.rstrip("/").removesuffix(path)
        if not root or parent.endswith(root):
            return None
        return urlunsplit(parts._replace(path=f"{parent}{root}{path}"))

    def _ask_at(self, address: str, message: Message) -> Answer:
        reply = Endpoint(address, self.patience).ask(
            self.mapping.body(message),
            mappings.filled(self.mapping.headers),
            lambda document: self.mapping.read(document, message),
        )
        return replace(reply.value, address=address, latency_ms=reply.latency_ms, tries=reply.tries)


def retries(patience: Patience) -> Iterable[Attempt]:
    """Yield attempts, with pauses between, until one succeeds or its failure is ``FINAL``."""
    import stamina  # noqa: PLC0415 - for callers of an endpoint alone

    def pause(failure: Exception) -> bool | float:
        """Return whether to try again, or the seconds after which."""
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


async def _post(
    address: str, body: object, headers: dict[str, str], seconds: float, limit: int
) -> tuple[int, bytes, httpx.Headers]:
    """Return status, content and headers of the answer to a POST."""
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
            data, fields = bytearray(), response.headers
            async for chunk in response.aiter_raw():
                data += chunk
                if len(data) > limit:
                    kilobytes = limit // 1024
                    beginning = excerpt(bytes(data[: 4 * MAX_EXCERPT]))
                    raise CallFailed("answer_too_large", limit=kilobytes, excerpt=beginning)
    if response.is_success and fields.get("Content-Encoding", "identity") != "identity":
        raise NotTheContract(mark("it is compressed, though that was declined"))
    return response.status_code, bytes(data), fields


def request(
    method: str,
    address: str,
    *,
    token: str = "",
    patience: Patience = PATIENT,
    **content: Any,
) -> httpx.Response:
    """Return a server's answer, of any status, to a request that is safe to repeat.

    It is repeated without an answer, and after 429, 502, 503 and 504. `token` is sent as a bearer
    token; `content` is as ``httpx.request`` takes it. Raises ``CallFailed`` when every try failed,
    and ``SecretInAddress``.
    """
    import httpx  # noqa: PLC0415 - a sixth of a second

    if urlsplit(address).username is not None:
        raise SecretInAddress(public_address(address))
    headers = {"User-Agent": "relevansi"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    for attempt in retries(patience):
        with attempt:
            with (
                _named_failures(SERVER, patience.seconds),
                httpx.Client(
                    verify=_certificates(),
                    headers=headers,
                    timeout=patience.seconds,
                    trust_env=not is_loopback(address),
                ) as client,
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
    """Turn errors of the network on the way to `who` and back into ``CallFailed``."""
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
    """Return `address` with `path` appended unless it ends so; raises `UnusableAddress`.

    >>> full_address("http://127.0.0.1:8000", "/chat")
    'http://127.0.0.1:8000/chat'
    >>> full_address("https://bot.example/v1/chat", "/chat")
    'https://bot.example/v1/chat'
    """
    import httpx  # noqa: PLC0415 - a sixth of a second

    try:
        parts = urlsplit(address)
        is_usable = parts.scheme in {"http", "https"} and httpx.URL(address).host
        _ = parts.port  # raises ValueError for a port that is no number
    except (ValueError, httpx.InvalidURL):
        is_usable = False
    if not is_usable or any(character.isspace() for character in address):
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
    """Return the seconds in a Retry-After header, which has a number or a date."""
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
    """Return why the network failed, from the innermost error that the system explains."""
    inner: BaseException = failure
    while inner.__cause__ is not None or inner.__context__ is not None:
        inner = inner.__cause__ or inner.__context__ or inner
        if isinstance(inner, OSError) and inner.strerror:
            # asyncio has its own messages; the resolver's numbers are below 0, not the system's.
            number = inner.errno or 0
            return os.strerror(number) if number > 0 else inner.strerror
    return str(failure) or type(failure).__name__
