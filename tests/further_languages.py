"""Two languages that nobody speaks, as whole catalogues: what each adds is one ``messages.po``.

Every message is in them, longer than in English and between brackets, so that a text of the pages
that is in no catalogue is outside the brackets.
"""

from __future__ import annotations

import re
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import write_po

import webapp
from tests.test_translations import catalogue

LONG, RIGHT_TO_LEFT = "eo", "he"
OPENED, CLOSED = "⟦", "⟧"
ACCENTED = str.maketrans("aceinosuyAEOU", "áçéíñóšúýÀÉÖÜ")
HEBREW = str.maketrans(
    "abcdefghijklmnopqrstuvwxyz" + "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "אבגדהופרחטיכלמנסעפצקרשתבגדזחטכ"[:26] * 2,
)
KEPT = re.compile(r"%\(\w+\)s|%%|<[^>]+>|&#?\w+;|\{\w*\}|\s+")
"""Places, markup and spaces: they are the same in every language."""


def package(folder: Path) -> Path:
    """Return `folder`, which holds the product with two more catalogues and nothing else new."""
    original, own = Path(webapp.__file__).parent, folder / "webapp"
    own.mkdir(parents=True)
    for path in original.iterdir():
        if path.name != "translations":
            (own / path.name).symlink_to(path)
    (own / "translations").mkdir()
    (own / "translations" / "id").symlink_to(original / "translations" / "id")
    for code in (LONG, RIGHT_TO_LEFT):
        place = own / "translations" / code
        place.mkdir()
        with (place / "messages.po").open("wb") as file:
            write_po(file, invented(code))
    return folder


def invented(code: str) -> Catalog:
    """Return a catalogue that has every message of the product."""
    made = Catalog(locale=code)
    for message in catalogue():
        if isinstance(message.id, tuple):
            made.add(message.id, (in_other_words(message.id[1], code),) * made.num_plurals)
        elif message.id:
            made.add(message.id, in_other_words(str(message.id), code))
    return made


def in_other_words(text: str, code: str) -> str:
    """Return `text` with other letters, two fifths longer, between brackets.

    >>> in_other_words("Save %(n)s notes", "eo")
    '⟦Sávééé %(n)s ñótéšéé⟧'
    """
    return OPENED + "".join(_piece(piece, code) for piece in _pieces(text)) + CLOSED


def _pieces(text: str) -> list[str]:
    at, found = 0, []
    for kept in KEPT.finditer(text):
        found += [text[at : kept.start()], kept[0]]
        at = kept.end()
    return [*found, text[at:]]


def _piece(piece: str, code: str) -> str:
    if not piece or KEPT.fullmatch(piece) or not any(map(str.isalpha, piece)):
        return piece
    vowels = [letter for letter in piece if letter in "aeiou"] or [piece[-1]]
    longer = piece + vowels[-1] * round(len(piece) * 0.4)
    return longer.translate(HEBREW if code == RIGHT_TO_LEFT else ACCENTED)
