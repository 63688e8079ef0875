"""A rater who looks at the demo, and the pages that are reached by clicks from a first one."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

from flask import Flask
from flask.testing import FlaskClient
from werkzeug.exceptions import HTTPException

from tests.page import Page
from tests.web.conftest import in_english

CLICKS = 5  # the pages of few studies are under More


def as_rater(demo: Flask) -> FlaskClient:
    client = in_english(demo)
    client.post("/sign-in/as", data={"rater": "2"})
    return client


def reached(client: FlaskClient, begin: str) -> dict[str, str]:
    """Return an address of each endpoint that clicks lead to, by its name."""
    addresses: dict[str, str] = {}
    for endpoint, address, _ in opened(client, begin):
        addresses.setdefault(endpoint, address)
    return addresses


def opened(client: FlaskClient, begin: str) -> Iterator[tuple[str, str, Page | None]]:
    """Yield endpoint, address and page of what clicks lead to, the nearest first, each part once.

    Files are not opened: they have no page.
    """
    urls = client.application.url_map.bind("")
    visited = set()
    level = [begin]
    for clicks in range(CLICKS + 1):
        following: list[str] = []
        for address in level:
            path, query = urlsplit(address)[2:4]
            try:
                endpoint, _ = urls.match(path)
            except HTTPException:
                continue
            part = endpoint, *parse_qs(query).get("part", ())
            if part in visited:
                continue
            visited.add(part)
            if "." in path:
                yield endpoint, address, None
                continue
            response = client.get(address, follow_redirects=True)
            assert response.status_code == 200, address
            page = Page(response)
            yield endpoint, address, page
            if clicks < CLICKS:
                following += page.links("[href^='/']")
                following += page.values("form[method=get][action^='/']", "action")
        level = following
