"""A page as a test reads it: parsed, and asked by CSS selectors, words, forms, links, tables."""

from __future__ import annotations

from functools import cache, cached_property
from typing import Any

from flask.testing import FlaskClient
from lxml import etree, html  # type: ignore[import-untyped]
from lxml.cssselect import CSSSelector  # type: ignore[import-untyped]
from werkzeug.test import TestResponse

PARSER = html.HTMLParser(encoding="utf-8", remove_comments=True, huge_tree=True)
SEEN = etree.XPath("descendant::text()[not(parent::script or parent::style)]", smart_strings=False)
UNSENT = {"submit", "button", "reset", "image", "file"}


class Page:
    """A page, a part of one or an element in it.

    Words are what stands between tags, with one space wherever there is a tag or white space.
    """

    def __init__(self, answer: TestResponse | str, element: Any = None) -> None:
        self.source = answer if isinstance(answer, str) else answer.text
        self.element = element
        if element is None:
            data = (self.source or "<p>").encode(errors="replace")
            self.element = html.document_fromstring(data, parser=PARSER)

    @property
    def is_part(self) -> bool:
        """Whether it was sent to be put into a page that is open already."""
        return "<html" not in self.source

    @cached_property
    def text(self) -> str:
        """All words but those of scripts and styles."""
        return _words(SEEN(self.element))

    @property
    def before(self) -> str:
        """The words of the element that stands before this one beside it; empty without one."""
        neighbour = self.element.getprevious()
        return Page(self.source, neighbour).text if neighbour is not None else ""

    @property
    def content(self) -> str:
        """The text as it is, of a script or a text area too."""
        return "".join(self.element.itertext())

    @property
    def markup(self) -> str:
        return str(html.tostring(self.element, encoding="unicode"))

    def __contains__(self, words: str) -> bool:
        return words in self.text

    def __getitem__(self, attribute: str) -> str:
        return str(self.element.attrib[attribute])

    def get(self, attribute: str) -> str | None:
        response: str | None = self.element.get(attribute)
        return response

    def __repr__(self) -> str:
        return f"Page({self.text!r})"

    def all(self, css: str) -> list[Page]:
        return [Page(self.source, result) for result in _selector(css)(self.element)]

    def one(self, css: str) -> Page:
        result = self.all(css)
        assert len(result) == 1, f"{len(result)} elements are {css!r}"
        return result[0]

    def has(self, css: str) -> bool:
        return bool(self.all(css))

    def count(self, css: str) -> int:
        return len(self.all(css))

    def texts(self, css: str) -> list[str]:
        return [page.text for page in self.all(css)]

    def values(self, css: str, attribute: str = "value") -> list[str]:
        """The values of an attribute, of elements that have it."""
        return [page[attribute] for page in self.all(css) if attribute in page.element.attrib]

    def links(self, css: str = "a") -> list[str]:
        return self.values(css, "href")

    def link(self, words: str) -> str:
        """Where the one link of these words leads."""
        result = {page["href"] for page in self.all("a[href]") if page.text == words}
        assert len(result) == 1, f"{len(result)} links say {words!r}"
        return result.pop()

    def rows(self, css: str) -> list[list[str]]:
        """The words of the cells in each row of a table."""
        return [row.texts("th, td") for row in self.one(css).all("tr")]

    def fields(self, css: str) -> dict[str, Any]:
        """What a browser would send of a form, without its buttons; several values are a list."""
        result: dict[str, list[str]] = {}
        for field in self.one(css).all("[name]:not([disabled])"):
            result.setdefault(field["name"], []).extend(_values_of(field.element))
        return {
            name: values if values[1:] else values[0] for name, values in result.items() if values
        }

    def submit(self, client: FlaskClient, css: str, **changed: str) -> TestResponse:
        """Send a form with the method "post", some of its fields filled in otherwise."""
        return client.post(self.one(css)["action"], data=self.fields(css) | changed)

    @property
    def partials(self) -> dict[str, Page]:
        """The parts that htmx puts in their places, by the selectors of the places."""
        return {page["hx-target"]: page for page in self.all("hx-partial")}


@cache
def _selector(css: str) -> Any:
    return CSSSelector(css, translator="html")


def _words(texts: Any) -> str:
    return " ".join(" ".join(texts).split())


def _values_of(field: Any) -> list[str]:
    if field.tag == "textarea":
        return ["".join(field.itertext()).removeprefix("\n")]
    if field.tag == "select":
        options = [option for option in field.iter("option") if "selected" in option.attrib]
        chosen = options or ([] if "multiple" in field.attrib else [*field.iter("option")][:1])
        return [option.get("value", _words(option.itertext())) for option in chosen]
    kind = field.get("type", "text")
    if field.tag != "input" or kind in UNSENT:
        return []
    if kind in {"checkbox", "radio"}:
        return [field.get("value", "on")] if "checked" in field.attrib else []
    return [field.get("value", "")]
