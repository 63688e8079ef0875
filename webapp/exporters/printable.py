"""Text as every printed form can hold it."""

from __future__ import annotations

import re

# Neither XML nor LaTeX nor a reader has a place for these.
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def printable(text: str) -> str:
    r"""Return `text` on one line, without what cannot be printed.

    >>> printable("a\x07 b\n c")
    'a b c'
    """
    return " ".join(_CONTROLS.sub("", text).split())
