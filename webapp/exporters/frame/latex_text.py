"""Any text as LaTeX that prints it and runs nothing, in pdfLaTeX, LuaLaTeX and XeLaTeX."""

from __future__ import annotations

import re
import unicodedata

from webapp.printable import printable_line

OTHER_SCRIPTS = r"""\providecommand{\otherscript}[1]{\ifdefined\directlua#1\else
  \ifdefined\XeTeXversion#1\else[?]\fi\fi}"""
"""pdfLaTeX has letters of Latin only and stops at others; it prints [?] for those."""

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_\allowbreak{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"$<$",
    ">": r"$>$",
    "|": r"$|$",
    "−": r"$-$",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "`": r"\textasciigrave{}",
    '"': r"\char34{}",
    "[": "{[}",  # after the end of a row or \item a bracket would open an option
    "]": "{]}",
    "*": "{*}",
    "…": r"\ldots{}",
    "\u00a0": "~",
}
_LIGATURES = re.compile(r"(?<=[-,'])(?=[-,'])")
_RAISED = dict(zip("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789", strict=True))
_TOKENS = re.compile(
    "(?P<raised>[" + "".join(_RAISED) + r"]+)"
    r"|(?P<plain>[A-Za-z0-9 .:;,()+\-/=!?@']+)"
    r"|(?P<other>.)",
    re.DOTALL,
)
LATIN = 0x17F
UNKNOWN = frozenset("\u0126\u0127\u0138\u013f\u0140\u0149\u0166\u0167\u017f")
"""Of the letters up to ``LATIN``, those that LaTeX's files for the T1 encoding leave out."""
QUOTES_AND_DASHES = frozenset("\u2013\u2014\u2018\u2019\u201c\u201d\u20ac")


def escaped(text: str) -> str:
    r"""Return `text` on one line as LaTeX prints it.

    >>> print(escaped("50% of a_b & c"), escaped("9,5 × 10⁻⁷"), escaped(r"\input{x}"))
    50\% of a\_\allowbreak{}b \& c 9,5 $\times$ 10$^{-7}$ \textbackslash{}input\{x\}
    """
    line = printable_line(unicodedata.normalize("NFC", text))
    return "".join(map(_token, _TOKENS.finditer(line)))


def _token(found: re.Match[str]) -> str:
    if found["raised"]:
        return "$^{" + "".join(_RAISED[digit] for digit in found["raised"]) + "}$"
    if found["plain"]:
        return _LIGATURES.sub("{}", found["plain"])
    letter = found["other"]
    if letter in _SPECIAL:
        return _SPECIAL[letter]
    known = (ord(letter) <= LATIN and letter not in UNKNOWN) or letter in QUOTES_AND_DASHES
    return letter if known else rf"\otherscript{{{letter}}}"
