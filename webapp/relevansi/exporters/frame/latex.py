"""A report as LaTeX with booktabs: compiles by itself, and can be put into a thesis."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from relevansi.exporters.frame.canvas import Picture
from relevansi.exporters.frame.tables import Cell, Column, Document, Table
from relevansi.i18n import gettext
from relevansi.printable import printable_line

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
LAST_LATIN = 0x17F
"""The last letter of Unicode's Latin Extended-A, which pdfLaTeX has letters of."""
MISSING_LATIN = frozenset("\u0126\u0127\u0138\u013f\u0140\u0149\u0166\u0167\u017f")
"""Those before it that LaTeX's files for the T1 encoding leave out."""
QUOTES_AND_DASHES = frozenset("\u2013\u2014\u2018\u2019\u201c\u201d\u20ac")


def escaped(text: str) -> str:
    """Return `text` on one line as LaTeX prints it."""
    line = printable_line(unicodedata.normalize("NFC", text))
    return "".join(map(_token, _TOKENS.finditer(line)))


def _token(match: re.Match[str]) -> str:
    # What LaTeX could read as a command, a ligature or a letter that its font lacks, is replaced.
    if match["raised"]:
        return "$^{" + "".join(_RAISED[digit] for digit in match["raised"]) + "}$"
    if match["plain"]:
        return _LIGATURES.sub("{}", match["plain"])
    letter = match["other"]
    if letter in _SPECIAL:
        return _SPECIAL[letter]
    is_latin = ord(letter) <= LAST_LATIN and letter not in MISSING_LATIN
    if is_latin or letter in QUOTES_AND_DASHES:
        return letter
    return rf"\otherscript{{{letter}}}"


MOST_ROWS = 14  # a table with more rows may break over pages, which a float may not
LINE, SMALL_LINE = 118, 138  # the letters of a line at a table's size, and at the smaller one
GAP = 1.5  # between two columns, in letters
ROOM = 1.25  # capitals and digits are wider than most letters
LONG_WORD = 14  # longer words may break after "_"
WIDEST = 40  # no column gets more letters
PACKAGES = "array,booktabs,graphicx,longtable"

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


def latex(document: Document) -> bytes:
    r"""Return a document as LaTeX that compiles by itself and can be put into another."""
    overline = [rf"\noindent {escaped(document.overline)}\par"] if document.overline else []
    parts = [
        f"% \\input needs \\usepackage{{{PACKAGES}}} in the preamble.",
        BEGINNING.replace("PACKAGES", PACKAGES),
        OTHER_SCRIPTS,
        *overline,
        rf"\section*{{{escaped(document.title)}}}",
        rf"\noindent {escaped(document.subtitle)}",
        *(rf"\par\smallskip\noindent {escaped(sentence)}" for sentence in document.lead),
    ]
    for section in document.every_section:
        parts += ["", rf"\subsection*{{{escaped(section.title)}}}" if section.title else r"\par"]
        if len(section.sentences) == 1:
            parts.append(rf"\noindent {escaped(section.sentences[0])}")
        elif section.sentences:
            items = [rf"  \item {escaped(sentence)}" for sentence in section.sentences]
            parts += [r"\begin{itemize}", *items, r"\end{itemize}"]
        if document.figure and section is document.sections[0]:
            parts.append(_figure(*document.figure))
        for table in section.tables:
            parts += ["", *_table(table)]
    return ("\n".join([*parts, END]) + "\n").encode()


def _figure(stem: str, picture: Picture) -> str:
    """Return the picture of a report as a figure, where its file lies beside the report."""
    return (
        rf"\IfFileExists{{{stem}.png}}{{\begin{{figure}}[!htbp]\centering"
        rf"\includegraphics[width=\linewidth]{{{stem}.png}}"
        rf"\caption{{{escaped(picture.title)}}}\end{{figure}}}}{{}}"
    )


def _table(table: Table) -> Iterator[str]:
    """Yield the lines of a table: a float, or where it is long one that breaks over pages."""
    letters = [_letters(table, place) for place in range(len(table.columns))]
    line = LINE if sum(word + GAP for word, _ in letters) <= LINE else SMALL_LINE
    size = r"\footnotesize" if line == LINE else r"\scriptsize"
    size += r"\setlength{\tabcolsep}{3pt}"
    label = "tab:comparison-" + table.name.replace("_", "-")
    caption = rf"\caption{{{escaped(table.title)}}}\label{{{label}}}"
    columns = "@{}" + "".join(map(_column, table.columns, _shares(letters, line))) + "@{}"
    header = _row(column.heading for column in table.columns)
    rows = [" & ".join(map(_cell, row)) + r" \\" for row in table.rows]
    notes = [
        rf"\par\smallskip\noindent\parbox{{\linewidth}}{{\scriptsize {escaped(note)}}}"
        for note in table.notes
    ]
    if len(rows) <= MOST_ROWS:
        yield r"\begin{table}[!htbp]"
        yield rf"\centering{size}"
        yield caption
        yield rf"\begin{{tabular}}{{{columns}}}"
        yield from (r"\toprule", header, r"\midrule", *rows, r"\bottomrule")
        yield from (r"\end{tabular}", *notes, r"\end{table}")
        return
    continued = escaped(gettext("continued on the next page"))
    yield rf"{{{size}"
    yield rf"\begin{{longtable}}{{{columns}}}"
    yield rf"{caption}\\"
    yield rf"\toprule {header}\midrule\endfirsthead"
    yield rf"\toprule {header}\midrule\endhead"
    yield rf"\midrule\multicolumn{{{len(table.columns)}}}{{r}}{{{continued}}}\\\endfoot"
    yield from (r"\bottomrule\endlastfoot", *rows, r"\end{longtable}", *notes, "}")


def _cell(cell: Cell) -> str:
    return rf"\textbf{{{escaped(cell.text)}}}" if cell.is_strong else escaped(cell.text)


def _row(texts: Iterable[str]) -> str:
    return " & ".join(map(escaped, texts)) + r" \\"


def _shares(letters: Sequence[tuple[int, int]], line: float) -> list[float]:
    """The columns as shares of the line, each with its gap; a small table does not fill it.

    Of each column `letters` has the lengths of its longest word and of its longest text.
    """
    gaps = GAP * len(letters)
    widths = [text * ROOM for _, text in letters]
    longest_text = max(text for _, text in letters)
    if longest_text >= WIDEST or sum(widths) + gaps > line:
        # Each column has room for its longest word, and of what is left over a part for the text.
        spare = max(0.0, line - gaps - sum(word for word, _ in letters))
        wanting = sum(text - word for word, text in letters)
        widths = [
            word + spare * (text - word) / wanting if wanting else float(word)
            for word, text in letters
        ]
    line = max(line, sum(widths) + gaps)
    return [(width + GAP) / line for width in widths]


def _letters(table: Table, place: int) -> tuple[int, int]:
    """How many letters the longest word of a column has, and its longest text.

    A cell of a column of numbers counts as one word: it reads badly in two lines.
    """
    column = table.columns[place]
    cells = [row[place].text for row in table.rows]
    texts = [column.heading, *cells]
    words = cells if column.numeric else []
    for word in " ".join(texts).split():
        words += word.split("_") if len(word) > LONG_WORD else [word]
    longest_word = min(WIDEST, max(map(len, words), default=0) + 1)
    longest_text = min(WIDEST, max(map(len, texts)) + 1)
    return longest_word, max(longest_word, longest_text)


def _column(column: Column, share: float) -> str:
    side = "raggedleft" if column.numeric else "raggedright"
    width = rf"\dimexpr{share:.4f}\linewidth-2\tabcolsep\relax"
    return rf">{{\{side}\arraybackslash}}p{{{width}}}"
