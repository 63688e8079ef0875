"""A chatbot's markdown as HTML that is safe to show, cut where it is too long."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import nh3
from markupsafe import Markup

from relevansi.printable import printable, printable_line

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

MOST_SHOWN = 20_000
MOST_RENDERED = 100_000
"""Characters; cleaning takes time that grows with the square of a text's length."""
MOST_IN_A_LINE = 300
TAGS = {
    *("p", "br", "hr", "strong", "em", "s", "code", "pre", "blockquote"),
    *("ul", "ol", "li", "h2", "h3", "h4", "h5", "h6", "a"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
ATTRIBUTES = {"a": {"href", "title"}, "img": {"src", "alt", "title"}}
ALWAYS = {"a": {"target": "_blank"}, "img": {"loading": "lazy", "referrerpolicy": "no-referrer"}}
REL = "noopener noreferrer nofollow ugc"


def line(text: str | None) -> str:
    """Return `text` as one line that fits a card: printable, cut between two words when endless.

    It is for what comes from outside; a sentence of ours is shown whole.
    """
    return shortened(printable_line((text or "")[: MOST_IN_A_LINE * 4]), MOST_IN_A_LINE)


def shortened(words: str, most: int) -> str:
    """Return words of at most `most` characters, cut between two of them; a single one inside.

    >>> shortened("tidak ada kartu", 9), shortened("tidak ada", 9), shortened("panjangsekali", 7)
    ('tidak …', 'tidak ada', 'panjang…')
    """
    if len(words) <= most:
        return words
    beginning, blank, _ = words[: most - 1].rpartition(" ")
    return f"{beginning} …" if blank else f"{words[:most]}…"


def is_long(text: str) -> bool:
    return len(text) > MOST_SHOWN


def render(text: str, *, pictures: bool = False, uncut: bool = False, under: int = 3) -> Markup:
    """Return chatbot markdown as HTML without scripts, styles or anything that loads.

    Links open in a new tab and send no referrer. Pictures load only where the study's owner
    wants them, over https. `under` is the level of the heading above the text.
    All of a text that is longer than any answer is shown as it was written.
    """
    visible = printable(text if uncut else text[:MOST_SHOWN])
    if len(visible) > MOST_RENDERED:
        return Markup("<pre>{}</pre>").format(visible)
    return _rendered(visible, pictures=pictures, under=under)


@lru_cache(maxsize=64)  # a rater sees the same answer before and after each of its cards
def _rendered(visible: str, *, pictures: bool, under: int) -> Markup:
    html = _parser(pictures=pictures).render(visible)
    levels = sorted(set(re.findall(r"<h([1-6])>", html)))
    lowered = {level: min(place, 6) for place, level in enumerate(levels, start=under + 1)}
    cleaned = nh3.clean(
        re.sub(r"(</?h)([1-6])>", lambda m: f"{m[1]}{lowered.get(m[2], m[2])}>", html),
        tags=TAGS | {"img"} if pictures else TAGS,
        attributes=ATTRIBUTES,
        url_schemes={"http", "https"},
        link_rel=REL,
        set_tag_attribute_values=ALWAYS,
    )
    return Markup(cleaned)  # noqa: S704 - cleaned by nh3


def link(url: str | None) -> str | None:
    """Return `url` if it leads to a web page, else ``None``."""
    text = printable_line(url or "")
    try:
        parts = urlsplit(text)
    except ValueError:
        return None
    return text if parts.scheme in {"http", "https"} and parts.netloc else None


def picture(url: str | None) -> str | None:
    """Return `url` if a picture may be loaded from it, else ``None``."""
    address = link(url)
    return address if address and address.startswith("https:") else None


@cache
def _parser(*, pictures: bool) -> MarkdownIt:
    from markdown_it import MarkdownIt  # noqa: PLC0415 - 60 modules that the first page need not pay for

    parser = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable("table")
    return parser if pictures else parser.disable("image")
