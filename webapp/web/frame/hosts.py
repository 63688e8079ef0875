"""Requests that name no host, or come from below a path of a proxy, are refused in one line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import AddressValueError, IPv6Address
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

LONGEST = 253
LONGEST_WITH_PORT = LONGEST + len(".:65535")
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"(?P<name>{_LABEL}(?:\.{_LABEL})*)\.?(?::[0-9]{{1,5}})?", re.IGNORECASE)
_IPV6 = re.compile(r"\[(?P<address>[0-9a-f:.]{2,45})\](?::[0-9]{1,5})?", re.IGNORECASE)


def is_host(text: str) -> bool:
    """Whether `text` is a host name or address, with or without a port (RFC 9110, 7.2).

    >>> is_host("rate.example.org:8800"), is_host("[::1]:80"), is_host("a..b"), is_host("[1:2]")
    (True, True, False, False)
    """
    if len(text) > LONGEST_WITH_PORT:
        return False
    if found := _IPV6.fullmatch(text):
        try:
            IPv6Address(found["address"])
        except AddressValueError:
            return False
        return True
    named = _NAME.fullmatch(text)
    return named is not None and len(named["name"]) <= LONGEST


def refuse_others(answer: WSGIApplication) -> WSGIApplication:
    """Return `answer`, asked only by requests for a host as a whole.

    They name the host, or none as HTTP/1.0 may, and no path before the addresses of the pages.
    """

    def answered(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        why = _why_refused(environ)
        if why is None:
            return answer(environ, start)
        start("400 Bad Request", [("Content-Type", "text/plain; charset=utf-8")])
        return [why]

    return answered


def _why_refused(environ: WSGIEnvironment) -> bytes | None:
    if not is_host(environ.get("HTTP_HOST", "localhost")):
        return b"The Host header does not name a host.\n"
    if environ.get("HTTP_X_FORWARDED_PREFIX", "").strip(" /"):
        return (
            b"Relevansi cannot be served below a path (X-Forwarded-Prefix). Let the proxy serve it "
            b"under a host name or a port of its own: docs/operations.md.\n"
        )
    return None
