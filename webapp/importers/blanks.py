"""Ways of writing that there is nothing to say, the same in every file that is read."""

from __future__ import annotations

_BLANKS = frozenset(
    {
        *("", "-", "--", "–", "—", "−", "?", "n/a", "na", "n.a.", "nan", "null", "nil", "none"),
        *("tidak ada", "kosong"),
    }
)


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
