"""Property cards read out of a chatbot's markdown, and written back into it.

What counts as a card: a numbered item (``1.`` or ``1)``) that has a link in its title or at
least one detail line (place, price, rooms, ...). A bold item that has neither is a card with
nothing but a title when the bold title is all there is on its line (``1. **Rumah Cemara**``);
with words behind it or a colon at its end it is a remark (``1. **Saran:** naikkan anggaran``).
A plain item without either is a remark, and so is a numbered heading. An item that only holds
deeper items is a heading over them; a remark listed inside an item leaves the item as it is.
Bulleted bold remarks are never cards.

An item ends at the next item, at a heading, and at words that start at the margin behind an
empty line. The rank of a card is its position in the whole answer, whatever number is printed.
The heading above a card and the lines of it that fill no field are read beside it. All other
text is the answer's prose.

The text is read line by line, each line once, by patterns that never go back over what they
have read, so the time taken grows with the length of the text and no faster.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct, field

from webapp.importers.runs.card_details import MARKER, Fields, read_details, says_more
from webapp.importers.runs.card_markdown import Style, render
from webapp.importers.runs.links import find_bare_url, find_link, slug_of, source_of
from webapp.records import Card, ListedText

__all__ = ["Style", "parse", "prose", "read", "render"]

_NUMBERED = re.compile(r"(?P<heading>#{1,6} ?)?(?P<bold>\*\*|__)?[0-9]{1,4}[.)](?: |(?=[*_\[])|$)")
_DECORATION = re.compile(r"[^\w\s*\[\\(\"'\u201c]{1,8} ?(?=\*\*|\[)")
_BOLD = re.compile(r"(\*\*|__)(?P<title>(?:\\.|(?!\1)[^\\])*+)\1")
_BARE_TAIL = re.compile(rf"{MARKER.pattern}|https?://", re.IGNORECASE)
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_INVISIBLE = "\ufeff\u200b\u200e\u200f\u2060"
_BULLETS = "-*+\u2022\u2013> "
_SEPARATORS = " -\u2013\u2014:|,;\u00b7\u2022"
_LINK = re.compile(r"\[([^\[\]]{0,300})\]\([^()\s]{0,500}\)")
_MOST_LINES = 40
_RULE = re.compile(r"[-*_=\s]*$")
_LONGEST_LINE = 1000
"""Characters that are kept of each other line of a card; no answer has more."""


class _Item(Struct):
    """One numbered item while its lines are being read."""

    title: str
    indent: int
    stands_alone: bool
    fields: Fields = field(default_factory=dict)
    detailed: bool = False
    is_heading: bool = False
    section: str = ""
    lines: list[str] = field(default_factory=list)
    source: list[str] = field(default_factory=list)

    def keep(self, line: str) -> None:
        """Add a line, or the rest of one, that fills no field."""
        text = _unmarked(line)
        if text and len(self.lines) < _MOST_LINES:
            self.lines.append(text)

    def add(self, fields: Fields) -> None:
        """Add the fields of a detail line; a field that has a value keeps it."""
        self.detailed = True
        self.fields = fields | self.fields

    @property
    def speaks_for_itself(self) -> bool:
        """Whether the lines read so far already make it a card."""
        return (self.detailed or self.stands_alone) and bool(self.title or "url" in self.fields)

    def card(self) -> Card:
        url = self.fields.get("url")
        slug = slug_of(url) if url else None
        known: Fields = {"slug": slug, "source": source_of(url) if url else None}
        known |= self.fields
        return Card(title=self.title or slug or url or "", **known)

    def text(self) -> ListedText:
        """The text around the card: the heading above it and its other lines."""
        return ListedText(self.section, tuple(self.lines))


def parse(response: str) -> tuple[Card, ...]:
    """The property cards of a chatbot's answer in rank order (see the module's rules).

    Any text at all is read without error; one without cards gives an empty tuple.
    """
    return tuple(card for card, _ in read(response))


def read(response: str) -> tuple[tuple[Card, ListedText], ...]:
    """The cards that ``parse`` finds, each with the answer's other words on it."""
    found = (item for item in _items(response) if item.speaks_for_itself)
    return tuple((item.card(), item.text()) for item in found)


def prose(response: str) -> tuple[str, str]:
    """The text of an answer that is no listing: before its first card, and after it.

    Headings over cards are not in it, and neither are lines drawn between them.
    """
    before: list[str] = []
    after: list[str] = []
    texts, headings = before, list[str]()
    for part in _parts(response):
        if isinstance(part, _Item) and part.speaks_for_itself:
            texts, headings = after, []
            continue
        for line in part.source if isinstance(part, _Item) else [part]:
            if line.lstrip().startswith("#"):
                headings.append(line)
            elif not _RULE.match(line):
                texts += [*headings, line]
                headings = []
    return "\n".join(before).strip(), "\n".join(after).strip()


def _items(response: str) -> Iterator[_Item]:
    return (part for part in _parts(response) if isinstance(part, _Item))


def _parts(response: str) -> Iterator[_Item | str]:
    """The items of an answer, and every line that is in none, in their order."""
    item: _Item | None = None
    section = ""
    for indent, line, source in _lines(response):
        new = _read_item(line, indent)
        if new and (not item or new.speaks_for_itself or indent < item.indent + 2):
            if item and (item.detailed or indent <= item.indent):
                yield item
            if item and item.is_heading and not item.speaks_for_itself:
                section = item.title
            new.section = section
            item = new
        elif item and (ended := _ends(item, line, at_margin=source[0] == "\n" and indent == 0)):
            yield ended
            item = None
        if item:
            item.source.append(source)
        else:
            yield source
            if line.startswith("#"):
                section = _unmarked(line.lstrip("#"))
    if item:
        yield item


def _ends(item: _Item, line: str, *, at_margin: bool) -> _Item | None:
    """`item` if `line` is beyond it; else ``None``, after the line was added to it."""
    if line.startswith("#"):
        return item
    text = _unlisted(line)
    details = read_details(text)
    if details is None and at_margin:
        return item
    if details is not None:
        item.add(details)
    if details is None or says_more(text):
        item.keep(text)
    return None


def _lines(response: str) -> Iterator[tuple[int, str, str]]:
    """Every line with text: its indentation, its text with blanks as a page shows them, its source.

    The source begins with a line break where empty lines are before it.
    """
    blank = ""
    for line in response.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        visible = line.lstrip(_INVISIBLE)
        text = " ".join(visible.split()).removesuffix("\\").rstrip()
        if text:
            yield len(visible) - len(visible.lstrip()), text, blank + visible
        blank = "" if text else "\n"


def _unlisted(line: str) -> str:
    """`line` without the bullet or number before it."""
    number = _NUMBERED.match(line)
    return line[number.end() :] if number else line.lstrip(_BULLETS)


def _read_item(line: str, indent: int) -> _Item | None:
    """The item that begins on `line`; ``None`` where none does."""
    number = _NUMBERED.match(line)
    if number is None:
        return None
    text = (number["bold"] or "") + line[number.end() :].strip()
    decoration = _DECORATION.match(text)
    text = text[decoration.end() :] if decoration else text
    if MARKER.match(text):
        return None
    item, tail = _read_title(text, indent)
    if number["heading"]:
        item.stands_alone, item.is_heading = False, True
    tail = tail.strip(_SEPARATORS)
    tail_details = read_details(tail) if tail else None
    if tail_details is not None:
        item.add(tail_details)
    if tail and (tail_details is None or says_more(tail)):
        item.keep(tail)
    return item


def _read_title(text: str, indent: int) -> tuple[_Item, str]:
    """The item with its title, and the rest of the line behind it."""
    body = text.lstrip("*_")
    link = find_link(body)
    if link and not link.before:
        item = _Item(_clean(link.label), indent, stands_alone=False)
        item.add({"url": link.url})
        return item, link.after.lstrip("*_")
    bold = _BOLD.match(text)
    if bold:
        title, tail = bold["title"], text[bold.end() :]
        alone = not tail.strip(_SEPARATORS + "*_") and not title.rstrip().endswith(":")
        return _Item(_clean(title), indent, alone and ":" not in tail), tail
    title, tail = _split_plain(text)
    return _Item(_clean(title), indent, stands_alone=False), tail


def _split_plain(text: str) -> tuple[str, str]:
    """A title that is not set off, up to its first link or marker, and the rest."""
    link = find_link(text)
    marker = _BARE_TAIL.search(text)
    cut = min(len(link.before) if link else len(text), marker.start() if marker else len(text))
    if cut == len(text) or not (marker or (link and source_of(link.url)) or find_bare_url(text)):
        return text, ""
    return text[:cut].rstrip(_SEPARATORS), text[cut:]


def _clean(title: str) -> str:
    """`title` as a page shows it: without emphasis around it and backslashes inside it."""
    title = title.strip()
    for mark in ("**", "__", "*", "_"):
        inner = title[len(mark) : -len(mark)]
        if inner and title == mark + inner + mark and not inner.endswith("\\"):
            title = inner.strip()
    return _ESCAPED.sub(r"\1", title)


def _unmarked(line: str) -> str:
    """`line` as a page shows it, without emphasis and with the words of its links alone."""
    words = _LINK.sub(r"\1", line[:_LONGEST_LINE])
    return _ESCAPED.sub(r"\1", words.replace("**", "").replace("__", "")).strip(" *_")
