"""Where a request comes from: this machine or another, one of our pages or another site's."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from functools import lru_cache
from ipaddress import AddressValueError, IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

from flask import current_app, request

from webapp.web.frame import session_cookie

SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}
FORWARDING = (
    *("HTTP_FORWARDED", "HTTP_VIA", "HTTP_X_REAL_IP", "HTTP_X_FORWARDED_FOR"),
    *("HTTP_X_FORWARDED_HOST", "HTTP_X_FORWARDED_PROTO", "HTTP_X_FORWARDED_SERVER"),
)
"""The headers that proxies add, by their names in the server's environ."""


@lru_cache(maxsize=1024)
def is_loopback(host: str | None) -> bool:
    """Whether `host` (a name or an address, with or without port) is this machine."""
    try:
        name = urlsplit(f"//{host or ''}").hostname or ""
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False


def is_from_here() -> bool:
    """Whether the request came straight from this machine, by its name, through no proxy."""
    address = request.environ.get("REMOTE_ADDR")
    is_straight = address is None or is_loopback(f"[{address}]" if ":" in address else address)
    is_forwarded = any(map(request.environ.__contains__, FORWARDING))
    return is_straight and is_loopback(request.host) and not is_forwarded


def source() -> str:
    """Return the machine that sends the request, to count its failures: an address or a /64.

    Behind a proxy on this machine it is the last address the proxy adds, the only one that
    the sender cannot make up.
    """
    address = request.remote_addr or ""
    forwarded = request.headers.get("X-Forwarded-For", "")
    if forwarded and is_loopback(f"[{address}]" if ":" in address else address):
        address = forwarded.rpartition(",")[2].strip()
    try:
        found = ip_address(address)
    except ValueError:
        return "unknown"
    if isinstance(found, IPv6Address):
        return str(ip_network((found, 64), strict=False))
    return str(found)


def origin() -> str:
    """Return the name that is stored for the sending machine beside what guests do."""
    secret = str(current_app.secret_key).encode()
    return hmac.new(secret, f"origin/{source()}".encode(), hashlib.sha256).hexdigest()[:32]


def is_from_our_pages() -> bool:
    """Whether one of our pages, or no browser at all, made the request."""
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        return site in {"same-origin", "none"}
    origin = request.headers.get("Origin")
    return origin is None or origin == f"{session_cookie.scheme()}://{request.host}"


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


def why_refused(environ: Mapping[str, str]) -> bytes | None:
    """Return why a request is refused that names no host, or a path before all addresses."""
    if not is_host(environ.get("HTTP_HOST", "localhost")):
        return b"The Host header does not name a host.\n"
    if environ.get("HTTP_X_FORWARDED_PREFIX", "").strip(" /"):
        return (
            b"Relevansi cannot be served below a path (X-Forwarded-Prefix). Let the proxy serve it "
            b"under a host name or a port of its own: docs/operations.md.\n"
        )
    return None
