"""Ways of writing that there is nothing to say, the same in every file that is read."""

from __future__ import annotations

_SIGNS = frozenset({"-", "--", "–", "—", "−", "?", "n/a", "na", "n.a.", "nan", "null"})
_BLANKS = _SIGNS | {"", "nil", "none", "tidak ada", "kosong"}


def said(text: str) -> str:
    """`text` without the blanks around it, or empty where it only says that there is nothing.

    >>> said(" tidak ada datanya "), said("Tidak Ada"), said("N/A"), said("-")
    ('tidak ada datanya', '', '', '')
    """
    words = text.strip()
    return "" if " ".join(words.casefold().split()) in _BLANKS else words


def says_nothing(value: object) -> bool:
    """Whether `value` is a text that only says that there is nothing.

    >>> says_nothing("-"), says_nothing(""), says_nothing("0"), says_nothing(None)
    (True, True, False, False)
    """
    return isinstance(value, str) and not said(value)


def is_blank_sign(value: object) -> bool:
    """Whether `value` is only a blank sign, in a field that may hold a whole answer.

    "Tidak ada" and "none" can be the answer to a question, and an empty text is one.

    >>> is_blank_sign(" - "), is_blank_sign("N/A"), is_blank_sign("Tidak ada"), is_blank_sign("")
    (True, True, False, False)
    """
    return isinstance(value, str) and value.strip().casefold() in _SIGNS
