"""Text that others wrote, fit to be shown: it moves no cursor and turns no text around."""

from __future__ import annotations

import logging
import re
import unicodedata

_LINE_END = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
# Control characters, marks that reorder the text around them, halves of characters, and two code
# points that are none: neither pages, XML, LaTeX nor a terminal has a place for these.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f"
    "\ud800-\udfff\ufffe\uffff]"
)

_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Letters and marks without a shape, beside the characters that only format."""
_FORMATTING = {"Cc", "Cf", "Cs"}
"""Unicode's categories of control and format characters and of halves of characters."""
_GREEK = str.maketrans("ΑΒΕΖΗΙͿΚΜΝΟΡΤΥΧαγηικνορτυχωϳ", "ABEZHIJKMNOPTYXaynikvoptuxwj")
_CYRILLIC = str.maketrans(
    "АВЕЅІЈКМНОРСТУҮХԚԜӀаесѕіјкорухһԁԛԝѵӏ", "ABESIJKMHOPCTYYXQWIaecsijkopyxhdqwvl"
)
_LATIN = _GREEK | _CYRILLIC  # the Latin letter that a Greek or Cyrillic one looks like


def printable(text: str, *, instead: str = "") -> str:
    r"""`text` without control characters, direction marks and halves of characters.

    Lines and tabs stay, and every line ends with LF. `instead` is put in the place of each
    character that is taken out.

    >>> printable("rumah\u202e murah\x00\r\n\x1b[2J", instead="?")
    'rumah? murah?\n?[2J'
    """
    if text.isprintable():
        return text
    return _UNPRINTABLE.sub(instead, _LINE_END.sub("\n", text))


def printable_line(text: str, *, instead: str = "") -> str:
    """`text` as `printable` returns it, on one line, with single blanks."""
    return " ".join(printable(text, instead=instead).split())


LONGEST_LABEL = 200


def label_line(text: str) -> str:
    """`text` as the label of a run: as `printable_line` returns it, cut with an ellipsis."""
    line = printable_line(text)
    return line if len(line) <= LONGEST_LABEL else f"{line[: LONGEST_LABEL - 1]}…"


def name_line(text: str) -> str:
    """`text` as a name: on one line, with single blanks, without characters that nobody sees."""
    visible = _INVISIBLE.sub("", " ".join(text.split()))
    letters = (letter for letter in visible if unicodedata.category(letter) not in _FORMATTING)
    return " ".join("".join(letters).split())


def look_alike(name: str, second: str) -> bool:
    r"""Whether readers would confuse two names: but for capitals, width or script the same.

    >>> look_alike("Owner", "\N{CYRILLIC CAPITAL LETTER O}wn\N{CYRILLIC SMALL LETTER IE}r\u200b")
    True
    >>> look_alike("Ani", "Ana")
    False
    """
    return name.casefold() == second.casefold() or _skeleton(name) == _skeleton(second)


def _skeleton(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name_line(name))  # é is an e and its accent
    return plain.translate(_LATIN).casefold()


def json_escaped(document: str) -> str:
    """A JSON `document` that means the same, its unprintable characters written as escapes."""
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", document)


class LogLineFormatter(logging.Formatter):
    """Formats a record as one line, and a traceback below it, that terminals only show."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - as logging calls it
        """Return the line of a record, whatever names and addresses are in it."""
        return printable_line(super().formatMessage(record), instead="\N{REPLACEMENT CHARACTER}")

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record with its traceback."""
        return printable(super().format(record), instead="\N{REPLACEMENT CHARACTER}")
