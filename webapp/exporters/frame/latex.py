"""A comparison as LaTeX with booktabs: compiles by itself, and can be put into a thesis."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from webapp.exporters.frame.tables import Column, Document, Section, Table
from webapp.i18n import gettext
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


MOST_ROWS = 14
"""A table with more rows may break over pages, which a float may not."""

LINE, SMALL_LINE = 118, 138
"""The letters that fill a line at a table's size, and at the smaller one, gaps included."""

GAP = 1.5
"""The gap between two columns, in letters."""

ROOM = 1.25
"""How much wider than its letters a column may be, as capitals and digits are wider than most."""

LONG_WORD, WIDEST = 14, 40
"""Words longer than the first may break after "_"; no column gets more letters than the second."""


PACKAGES = ("array", "booktabs", "longtable")

# \@nodocument is \relax once a document has begun, so the frame is skipped by \input.
BEGINNING = r"""\expandafter\ifx\csname @nodocument\endcsname\relax\else
\documentclass[a4paper,10pt]{article}
\usepackage[T1]{fontenc}
\usepackage{textcomp}
\usepackage{PACKAGES}
\usepackage[margin=2cm]{geometry}
\def\wholedocument{\end{document}}
\begin{document}
\fi"""
END = r"""\ifdefined\wholedocument\expandafter\wholedocument\fi"""


def latex(found: Document) -> bytes:
    r"""Return a document as LaTeX that compiles by itself and can be put into another."""
    packages = ",".join(PACKAGES)
    parts = [
        f"% \\input needs \\usepackage{{{packages}}} in the preamble.",
        BEGINNING.replace("PACKAGES", packages),
        OTHER_SCRIPTS,
        *_body(found),
        END,
    ]
    return ("\n".join(parts) + "\n").encode()


def _body(found: Document) -> Iterator[str]:
    yield rf"\section*{{{escaped(found.title)}}}"
    yield rf"\noindent {escaped(found.subtitle)}"
    for section in found.sections:
        yield from _section(section)


def _section(section: Section) -> Iterator[str]:
    yield ""
    yield rf"\subsection*{{{escaped(section.title)}}}"
    if section.sentences:
        yield r"\begin{itemize}"
        for sentence in section.sentences:
            yield rf"  \item {escaped(sentence)}"
        yield r"\end{itemize}"
    for table in section.tables:
        yield ""
        yield from _long(table) if len(table.rows) > MOST_ROWS else _float(table)


def _float(table: Table) -> Iterator[str]:
    yield r"\begin{table}[!htbp]"
    yield rf"\centering{_size(table)}"
    yield rf"\caption{{{escaped(table.title)}}}\label{{{_label(table)}}}"
    yield rf"\begin{{tabular}}{{{_columns(table)}}}"
    yield r"\toprule"
    yield _row(column.heading for column in table.columns)
    yield r"\midrule"
    yield from _rows(table)
    yield r"\bottomrule"
    yield r"\end{tabular}"
    yield from _notes(table)
    yield r"\end{table}"


def _long(table: Table) -> Iterator[str]:
    header = _row(column.heading for column in table.columns)
    yield rf"{{{_size(table)}"
    yield rf"\begin{{longtable}}{{{_columns(table)}}}"
    yield rf"\caption{{{escaped(table.title)}}}\label{{{_label(table)}}}\\"
    yield rf"\toprule {header}\midrule\endfirsthead"
    yield rf"\toprule {header}\midrule\endhead"
    yield rf"\midrule\multicolumn{{{len(table.columns)}}}{{r}}{{{_continued()}}}\\\endfoot"
    yield r"\bottomrule\endlastfoot"
    yield from _rows(table)
    yield r"\end{longtable}"
    yield from _notes(table)
    yield "}"


def _continued() -> str:
    return escaped(gettext("continued on the next page"))


def _rows(table: Table) -> Iterator[str]:
    for row in table.rows:
        yield _row(cell.text for cell in row)


def _row(texts: Iterator[str]) -> str:
    return " & ".join(map(escaped, texts)) + r" \\"


def _notes(table: Table) -> Iterator[str]:
    for note in table.notes:
        yield rf"\par\smallskip\noindent\parbox{{\linewidth}}{{\scriptsize {escaped(note)}}}"


def _line(table: Table) -> int:
    words = sum(_letters(table, place)[0] + GAP for place in range(len(table.columns)))
    return LINE if words <= LINE else SMALL_LINE


def _size(table: Table) -> str:
    size = r"\footnotesize" if _line(table) == LINE else r"\scriptsize"
    return rf"{size}\setlength{{\tabcolsep}}{{3pt}}"


def _columns(table: Table) -> str:
    words, texts = zip(
        *(_letters(table, place) for place in range(len(table.columns))), strict=True
    )
    gaps = GAP * len(words)
    widths = [text * ROOM for text in texts]
    if max(texts) >= WIDEST or sum(widths) + gaps > _line(table):
        widths = _filling(words, texts, _line(table) - gaps)
    line = max(_line(table), sum(widths) + gaps)
    shares = ((width + GAP) / line for width in widths)
    return "@{}" + "".join(map(_column, table.columns, shares)) + "@{}"


def _filling(words: Sequence[int], texts: Sequence[int], line: float) -> list[float]:
    rest = max(0.0, line - sum(words))
    longer = sum(texts) - sum(words)
    return [
        word + rest * (text - word) / longer if longer else float(word)
        for word, text in zip(words, texts, strict=True)
    ]


def _letters(table: Table, place: int) -> tuple[int, int]:
    """How many letters the longest word of a column has, and its longest text.

    A cell of a column of numbers counts as one word: it reads badly in two lines.
    """
    heading = table.columns[place].heading
    cells = [row[place].text for row in table.rows]
    whole = cells if table.columns[place].numeric else []
    words = [word for text in (heading, *cells) for word in _words(text)]
    word = min(WIDEST, max(len(text) for text in (*words, *whole)) + 1)
    text = min(WIDEST, max(len(text) for text in (heading, *cells)) + 1)
    return word, max(word, text)


def _words(text: str) -> Iterator[str]:
    yield ""
    for word in text.split():
        yield from word.split("_") if len(word) > LONG_WORD else [word]


def _column(column: Column, share: float) -> str:
    side = "raggedleft" if column.numeric else "raggedright"
    width = rf"\dimexpr{share:.4f}\linewidth-2\tabcolsep\relax"
    return rf">{{\{side}\arraybackslash}}p{{{width}}}"


def _label(table: Table) -> str:
    return "tab:comparison-" + table.name.replace("_", "-")
