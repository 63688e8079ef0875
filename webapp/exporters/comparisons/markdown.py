"""A comparison as Markdown, in the layout of the original phase reports."""

from __future__ import annotations

import re
from collections.abc import Iterator

from webapp.exporters.frame.tables import Document, Section, Table
from webapp.printable import printable_line

# The characters that Markdown could take for markup: a bracket makes a link only before one
# of ( [ : an underscore between letters is a letter, and "&" alone begins no entity.
_MARKUP = re.compile(r"[\\|*`<~$]|&(?=#?\w+;)|\](?=[(\[:])|(?<![^\W_])_|_(?![^\W_])")
_BLOCK = re.compile(r"^(#|>|\+|-|=|\d+(?=[.)]))")


def markdown(found: Document) -> bytes:
    """Return a document as Markdown."""
    parts = [f"# {escaped(found.title)}", f"**{escaped(found.subtitle)}**"]
    for section in found.sections:
        parts += _section(section)
    return ("\n\n".join(parts) + "\n").encode()


def inline(text: str) -> str:
    r"""Return `text` on one line, with what Markdown would read as markup escaped.

    >>> inline("a|b location_simple _x_ <b> [0.5; 1.0] [x](y)")
    'a\\|b location_simple \\_x\\_ \\<b> [0.5; 1.0] [x\\](y)'
    >>> inline("A & B &amp; &#39;")
    'A & B \\&amp; \\&#39;'
    """
    return _MARKUP.sub(lambda found: f"\\{found[0]}", printable_line(text))


def escaped(text: str) -> str:
    r"""Return `text` as ``inline`` does, where it begins a line and could begin a block.

    >>> escaped("# no heading"), escaped("1. no list")
    ('\\# no heading', '1\\. no list')
    """
    return _BLOCK.sub(_literal, inline(text))


def _literal(found: re.Match[str]) -> str:
    """The start of a list or heading, escaped: the mark after a number, else the mark itself."""
    return f"{found[0]}\\" if found[0].isdigit() else f"\\{found[0]}"


def _section(section: Section) -> Iterator[str]:
    yield f"## {escaped(section.title)}"
    if section.sentences:
        yield "\n".join(f"- {escaped(sentence)}" for sentence in section.sentences)
    for table in section.tables:
        yield f"### {escaped(table.title)}"
        yield _table(table)
        if table.notes:
            yield "\n>\n".join(f"> {escaped(note)}" for note in table.notes)


def _table(table: Table) -> str:
    header = [inline(column.heading) for column in table.columns]
    rule = ["---:" if column.numeric else "---" for column in table.columns]
    rows = ([inline(cell.text) for cell in row] for row in table.rows)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, rule, *rows))
