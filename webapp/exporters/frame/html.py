"""A document as one HTML file: it prints well, and asks nothing of any network."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from markupsafe import Markup

from webapp import notation
from webapp.config import resource
from webapp.exporters.frame.tables import Document
from webapp.i18n import direction, gettext, language
from webapp.printable import printable_line

if TYPE_CHECKING:
    from jinja2 import Template


UNBROKEN = re.compile(
    r"\[[^\[\]]+; [^\[\]]+\]|\b[nKp] = |\bHolm (?=\d)|W\+ / W−|^[\d.,]+ (?:\w+|/) [\d.,]+$"
)
"""Parts that stay on one line: an interval, the value of n, K or p, W+ / W−, two numbers."""

READ_FIRST = "summary"
"""The section whose tables a phone shows at once; it folds those of the others."""

FEW_SENTENCES = 3
"""So many a phone shows; it folds the others where they are several."""

NOTHING_ELSE = "default-src 'none'; style-src 'unsafe-inline'"
"""The content policy of the file: it may use its own style and load nothing."""


def html(found: Document) -> bytes:
    """Return a document with its pictures as one HTML file: for screen, phone and paper."""
    written = _template().render(
        document=found,
        language=language(),
        direction=direction(),
        policy=NOTHING_ELSE,
        read_first=READ_FIRST,
        few=FEW_SENTENCES,
        pictured=lambda title: gettext("Picture: %(title)s", title=title),
        more=lambda n: gettext("and %(n)s more", n=notation.number(n)),
        unbroken=_unbroken,
        style=_style(),
    )
    return f"{written}\n".encode()


@cache
def _style() -> Markup:
    style = resource("static").joinpath("comparisons", "report.css")
    return Markup(style.read_text("utf-8"))  # noqa: S704 - a file of our own


@cache
def _template() -> Template:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(resource("templates")),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters["line"] = printable_line
    return environment.get_template("comparisons/report.html")


def _unbroken(text: str) -> str:
    r"""A text in which no interval, n, K or p is broken between two lines.

    >>> _unbroken("0.76 [0.60; 0.90] n = 25").split(" ")
    ['0.76', '[0.60;\xa00.90]', 'n\xa0=\xa025']
    >>> _unbroken("changes in 2 of 3; K = 1, K = 3").split(" ")
    ['changes', 'in', '2', 'of', '3;', 'K\xa0=\xa01,', 'K\xa0=\xa03']
    >>> _unbroken("p = 0.0162, Holm 0.0486").split(" ")
    ['p\xa0=\xa00.0162,', 'Holm\xa00.0486']
    >>> _unbroken("12 of 25"), _unbroken("0.80 / 1.00")
    ('12\xa0of\xa025', '0.80\xa0/\xa01.00')
    """
    return UNBROKEN.sub(lambda held: held[0].replace(" ", "\N{NBSP}"), printable_line(text))
