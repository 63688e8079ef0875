"""From where a request comes: this machine, one of our pages, or elsewhere.

A request that changes anything is accepted only from our own pages (``Sec-Fetch-Site``, else
``Origin``). A link that stores something is followed only from our pages, or when the user typed
the address or opened a bookmark.
"""

from __future__ import annotations

import hashlib
import hmac
from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

from flask import current_app, request
from werkzeug.sansio.utils import get_host

from relevansi.chatbot import client

SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}
FORWARDING = (
    *("HTTP_FORWARDED", "HTTP_VIA", "HTTP_X_REAL_IP", "HTTP_X_FORWARDED_FOR"),
    *("HTTP_X_FORWARDED_HOST", "HTTP_X_FORWARDED_PROTO", "HTTP_X_FORWARDED_SERVER"),
)
"""The headers that proxies add, by their names in the server's environ."""


class OpenedElsewhere(Exception):
    """A page that would store something was opened by another site's link, or only to look."""


def need_our_page() -> None:
    """Raise ``OpenedElsewhere`` for a link that stores something unless our page led to it.

    A person who types the address or opens a bookmark counts too; a browser that only looks
    ahead, or asks for the headers alone, does not.
    """
    if request.method not in SAFE_METHODS:  # held against the same rule already
        return
    looks_ahead = "prefetch" in request.headers.get("Sec-Purpose", "")
    if looks_ahead or request.method != "GET" or not is_from_our_pages():
        raise OpenedElsewhere
    # Over plain http browsers send no Sec-Fetch-Site, but do name the page before this one.
    page_before = request.headers.get("Referer")
    host = request.host if page_before is None else urlsplit(page_before[:300]).netloc
    if "Sec-Fetch-Site" not in request.headers and host != request.host:
        raise OpenedElsewhere


@lru_cache(maxsize=1024)
def is_loopback(host: str | None) -> bool:
    """Whether `host` (a name or an address, with or without port) is this machine."""
    return client.is_loopback(f"//{host or ''}")


def is_from_here() -> bool:
    """Whether the request came straight from this machine, by its name, through no proxy."""
    address = request.environ.get("REMOTE_ADDR")
    is_straight = address is None or is_loopback(f"[{address}]" if ":" in address else address)
    is_forwarded = any(map(request.environ.__contains__, FORWARDING))
    return is_straight and is_loopback(request.host) and not is_forwarded


def source() -> str:
    """Return the machine that sends the request, to count its failures: an address or a /64."""
    try:
        address = ip_address(request.remote_addr or "")
    except ValueError:
        return "unknown"
    if isinstance(address, IPv6Address):
        return str(ip_network((address, 64), strict=False))
    return str(address)


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
    return origin is None or origin == f"{request.scheme}://{request.host}"


def is_host(text: str) -> bool:
    """Whether `text` is a host name or address, with or without a port, that routing can take.

    >>> is_host("rate.example.org:8800"), is_host("[::1]:80"), is_host("a..b"), is_host("a b")
    (True, True, False, False)
    """
    try:
        return bool(get_host("http", text).encode("idna"))
    except UnicodeError:  # a part of it is empty or too long
        return False
