"""The guides of ``docs/`` as pages, in the reader's language.

A guide without a translation is shown in English. The page of measures explains every figure.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from flask import Blueprint, Response, redirect, render_template, send_from_directory, url_for
from markupsafe import Markup
from werkzeug.exceptions import NotFound

from relevansi.config import resource
from relevansi.i18n import language
from relevansi.web.frame.markdown import REL

if TYPE_CHECKING:
    from markdown_it.token import Token

blueprint = Blueprint("guides", __name__, url_prefix="/help")

NAME = re.compile(r"[a-z][a-z0-9-]*")
OTHER_LANGUAGE = re.compile(r"^\[[^\]]+\]\(\.\./\w+/[\w-]+\.md\)\n", re.MULTILINE)
TO_GUIDE = re.compile(rf"(?:\.\./)?(?:\w\w/)?({NAME.pattern})\.md(#.*)?")
TO_PICTURE = re.compile(r"(?:\.\./)?screenshots/([\w-]+\.(?:png|svg))")
MOST_COLUMNS = 4  # A phone shows each row of a table with more columns as a block
TALLEST = 448  # pixels: a picture that is higher is shown smaller


@blueprint.get("/", endpoint="index", defaults={"name": "index"})
@blueprint.get("/<name>")
def show(name: str) -> str:
    """Show a guide, in English where the reader's language has none."""
    source = _source(name)
    if source is None:
        raise NotFound
    spoken = source.parent.name if source.parent.name != "docs" else "en"
    title, parts, lead, text = _rendered(source.read_text("utf-8"))
    return render_template(
        "frame/guides/page.html",
        name=name,
        title=title,
        parts=parts,
        lead=lead,
        text=text,
        spoken=spoken,
    )


@blueprint.get("/figures")
def figures() -> Response:
    """Lead to the page that explains every figure, which is in each language."""
    return redirect(url_for("measures.show"))  # type: ignore[return-value]


@blueprint.get("/screenshots/<name>")
def picture(name: str) -> Response:
    return send_from_directory(resource("docs") / "screenshots", name)


def _source(name: str) -> Path | None:
    folder = resource("docs")
    places = (folder / language() / f"{name}.md", folder / f"{name}.md")
    return next((path for path in places if NAME.fullmatch(name) and path.is_file()), None)


def _rendered(source: str) -> tuple[str, dict[str, str], Markup, Markup]:
    """Return the heading of a guide, the headings below it by their ids, and its text as HTML.

    The text is its first paragraph, then the rest.
    """
    from markdown_it import MarkdownIt  # noqa: PLC0415 - 60 modules that the first page need not pay for

    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(OTHER_LANGUAGE.sub("", source, count=1))
    title, below = tokens[1].content, tokens[3:]  # after the heading's begin, words and end
    parts: dict[str, str] = {}
    columns: list[str] = []
    for token, words in pairwise(below):
        if token.attrs.pop("style", None) == "text-align:right":  # styles the policy forbids
            token.attrSet("class", "n")
        if token.type == "heading_open":
            # The name of a heading in an address, as in the links of the files.
            anchor = re.sub(r"[^\w -]", "", words.content.lower()).replace(" ", "-")
            token.attrSet("id", anchor)
            if token.tag == "h2":
                parts[anchor] = _text_of(words)
        elif token.type == "table_open":
            table, columns = token, []
            table.attrSet("tabindex", "0")  # wider than a phone, it is scrolled by keys too
        elif token.type == "tr_open":
            names = iter(columns)
        elif token.type == "th_open":
            columns.append(_text_of(words))
            if len(columns) > MOST_COLUMNS:
                table.attrSet("class", "blocks")
        elif token.type == "td_open" and len(columns) > MOST_COLUMNS:
            token.attrSet("data-label", next(names))
        _point_to_pages(words.children or ())
    end = 3 if below and below[0].type == "paragraph_open" else 0  # after begin, words and end
    lead, text = (
        # Our own files, and no HTML in them is taken over.
        Markup(parser.renderer.render(tokens, parser.options, {}))  # noqa: S704
        for tokens in (below[:end], below[end:])
    )
    return title, parts, lead, text


def _text_of(words: Token) -> str:
    return "".join(part.content for part in words.children or ())


def _point_to_pages(words: Iterable[Token]) -> None:
    """Let links and pictures between files lead to our pages; a link to no page is mere text."""
    is_link = True
    for token in words:
        if token.type == "image" and (picture := TO_PICTURE.fullmatch(str(token.attrs["src"]))):
            token.attrs["src"] = url_for("guides.picture", name=picture[1])
            token.attrs |= _size(picture[1])
        elif token.type == "link_open":
            address = _address(str(token.attrs["href"]))
            is_link = address is not None
            token.attrs = {} if address is None else {"href": address, "rel": REL}
        if token.type in {"link_open", "link_close"}:
            token.tag = "a" if is_link else "span"


def _size(picture: str) -> dict[str, str | int | float]:
    """Return the size at which a PNG is shown, so that the text does not move while it is read."""
    if not picture.endswith(".png"):
        return {}
    with (resource("docs") / "screenshots" / picture).open("rb") as file:
        width, height = struct.unpack(">16x2L", file.read(24))
    scale = min(1, TALLEST / height)
    return {"width": round(width * scale), "height": round(height * scale)}


def _address(target: str) -> str | None:
    """Return where a link of a file leads on our pages, ``None`` if there is nothing."""
    if target.startswith(("#", "http://", "https://")):
        return target
    guide = TO_GUIDE.fullmatch(target)
    if guide is None or _source(guide[1]) is None:
        return None
    return url_for("guides.show", name=guide[1]) + (guide[2] or "")
