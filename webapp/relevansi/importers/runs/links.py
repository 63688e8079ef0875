"""Links in markdown, and what a listing's address says: its slug and its source."""

from __future__ import annotations

import re
from typing import NamedTuple

_SOURCES = {"properti": "listing", "proyek": "project"}

_TARGET = r"(?P<target>\]\( ?<?)(?=https?://|/|www\.|properti/|proyek/)"
_ANY_TARGET = re.compile(_TARGET, re.IGNORECASE)
# One pass over escapes, brackets and the start of an address, so that titles may hold both.
_TOKEN = re.compile(rf"\\.|{_TARGET}|[\[\]]", re.IGNORECASE)
# What most links are, without any of these within: one step instead of a walk.
_SIMPLE = re.compile(r"\[([^][()\\]*)\]\((https?://[^\s()<>]+)\)")
_STOP = re.compile(r"[() ]")
_BARE = re.compile(r"https?://[^\s<>\[\]]+|(?<!\S)/(?:properti|proyek)/[^\s<>\[\]]+", re.IGNORECASE)


class MarkdownLink(NamedTuple):
    """A markdown link and the text around it."""

    before: str
    label: str
    url: str
    after: str


def find_link(text: str) -> MarkdownLink | None:
    """Return the first markdown link in `text` that leads to a page; an image is none."""
    if simple := _SIMPLE.match(text):
        return MarkdownLink("", simple[1], simple[2], text[simple.end() :])
    # A million brackets need no walk, and most lines no pattern.
    if "](" not in text or _ANY_TARGET.search(text) is None:
        return None
    opened: list[int] = []
    for token in _TOKEN.finditer(text):
        if token["target"]:
            start = opened[0] if opened else 0 if text.startswith("[") else None
            if start is None or text[start - 1 : start] == "!":
                return None
            url, end = _target(text, token.end())
            return MarkdownLink(text[:start], text[start + 1 : token.start()], url, text[end:])
        if token[0] == "[":
            opened.append(token.start())
        elif token[0] == "]" and opened:
            opened.pop()
    return None


def find_url(text: str) -> str | None:
    """Return the address in `text`: of its first link, else without one; ``None`` where none is."""
    link = find_link(text)
    return link.url if link else find_bare_url(text)


def find_bare_url(text: str) -> str | None:
    """Return the first address in `text` that no link holds, without punctuation behind it."""
    address = _BARE.search(text)
    if address is None:
        return None
    url = address[0]
    return url.rstrip(".,;:!?*'\"") if "(" in url else url.rstrip(".,;:!?*'\")")


def slug_and_source(url: str) -> tuple[str | None, str | None]:
    """Return what an address says of its listing; of each ``None`` where it says nothing.

    The slug is the last segment of the path, without query and fragment. The source is "listing"
    below /properti/ and "project" below /proyek/.

    >>> slug_and_source("https://x.id/properti/rumah-6f31/?utm=1"), slug_and_source("https://x.id/")
    (('rumah-6f31', 'listing'), (None, None))
    """
    path = url.split("#", 1)[0].split("?", 1)[0]
    _, scheme, behind_scheme = path.partition("://")
    if scheme or path.startswith("www."):
        path = (behind_scheme or path).partition("/")[2]
    segment = source = None
    for segment in filter(None, path.split("/")):
        source = source or _SOURCES.get(segment)
    return None if segment in _SOURCES else segment, source


def _target(text: str, start: int) -> tuple[str, int]:
    depth = 0
    for stop in _STOP.finditer(text, start):
        if stop[0] == "(":
            depth += 1
        elif stop[0] == ")" and depth:
            depth -= 1
        elif stop[0] == ")":
            return text[start : stop.start()].rstrip(">"), stop.end()
        else:  # A blank ends the address; a quoted title may follow it.
            close = text.find(")", stop.end())
            return text[start : stop.start()].rstrip(">"), close + 1 if close >= 0 else len(text)
    return text[start:].rstrip("*_>"), len(text)
