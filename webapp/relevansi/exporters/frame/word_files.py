"""A report as a file for a word processor: real headings, captions and tables, no text boxes."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import docx
from docx.document import Document as WordDocument
from docx.enum.text import WD_ALIGN_PARAGRAPH, WD_BREAK
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Mm, Pt, RGBColor
from docx.table import _Row
from docx.text.paragraph import Paragraph

from relevansi.exporters.frame.canvas import Picture, png_file
from relevansi.exporters.frame.spreadsheets import undated
from relevansi.exporters.frame.tables import Cell, Document, Table
from relevansi.i18n import gettext, language
from relevansi.printable import printable_line

MARGIN_MM, WIDTH_MM, HEIGHT_MM = 19, 210, 297
DOTS = 300 / 96 * 0.9
"""The pixels of a picture's unit: at the width of the text 300 for each inch."""
FONT = "Arial"
SIZES = {"Normal": 10, "Caption": 9, "Heading 1": 17, "Heading 2": 12.5}


def word_file(document: Document) -> bytes:
    """Return a document as DOCX, in the language in force."""
    word = docx.Document()
    _set_up(word, document)
    if document.state:
        word.add_paragraph().add_run(printable_line(f"{document.state}.")).bold = True
    if document.overline:
        word.add_paragraph(printable_line(document.overline))
    word.add_heading(printable_line(document.title), 1)
    word.add_paragraph(printable_line(document.subtitle))
    for sentence in document.answer:
        word.add_paragraph(printable_line(sentence))
    for section in document.every_section:
        if section in document.appendix[:1]:  # the appendix begins on a page of its own
            word.add_paragraph().add_run().add_break(WD_BREAK.PAGE)
        if section.title:
            word.add_heading(printable_line(section.title), 2)
        style = "List Bullet" if len(section.sentences) > 1 else None
        for sentence in section.sentences:
            word.add_paragraph(printable_line(sentence), style)
        if document.figure and section is document.sections[0]:
            _add_picture(word, document, document.figure[1])
        for table in section.tables:
            _add_table(word, document, table)
    buffer = BytesIO()
    word.save(buffer)
    return undated(buffer.getvalue())


def _set_up(word: WordDocument, document: Document) -> None:
    """Set paper, fonts and language."""
    page = word.sections[0]
    page.page_width, page.page_height = Mm(WIDTH_MM), Mm(HEIGHT_MM)
    page.left_margin = page.right_margin = page.top_margin = page.bottom_margin = Mm(MARGIN_MM)
    styles: Any = word.styles
    for name, size in SIZES.items():
        style = styles[name]
        style.font.name, style.font.size = FONT, Pt(size)
        style.font.color.rgb = RGBColor(0, 0, 0)
        fonts = style.element.get_or_add_rPr().get_or_add_rFonts()
        # A font of the theme, which the template names, would win over one that is set.
        for kind in ("w:asciiTheme", "w:hAnsiTheme", "w:eastAsiaTheme", "w:cstheme"):
            fonts.attrib.pop(qn(kind), None)
        for kind in ("w:ascii", "w:hAnsi", "w:cs"):
            fonts.set(qn(kind), FONT)
        style.paragraph_format.space_after = Pt(4)
    styles["Caption"].font.bold = False
    styles["Caption"].paragraph_format.keep_with_next = True
    language_tag = OxmlElement("w:lang")
    language_tag.set(qn("w:val"), {"id": "id-ID", "en": "en-GB"}.get(language(), language()))
    styles["Normal"].element.get_or_add_rPr().append(language_tag)
    word.core_properties.title = printable_line(document.title)[:250]
    word.core_properties.author = "Relevansi"
    word.core_properties.comments = ""


def _add_picture(word: WordDocument, document: Document, picture: Picture) -> None:
    paragraph = word.add_paragraph()
    paragraph.paragraph_format.keep_with_next = True
    shape = paragraph.add_run().add_picture(
        BytesIO(png_file(picture, DOTS)), width=Mm(WIDTH_MM - 2 * MARGIN_MM)
    )
    shape._inline.docPr.set("descr", picture.description)
    caption = word.add_paragraph(style="Caption")
    caption.paragraph_format.keep_with_next = False
    n = 1 if document.appendix else 0
    _add_caption(caption, gettext("Figure %(n)s", n=""), n, picture.title)


def _add_table(word: WordDocument, document: Document, table: Table) -> None:
    """Add a table without colours, its head repeated on every page."""
    n = document.number_of(table)
    _add_caption(word.add_paragraph(style="Caption"), gettext("Table %(n)s", n=""), n, table.title)
    grid = word.add_table(rows=1, cols=len(table.columns))
    _set_borders(grid.rows[0], top=12, bottom=6)
    header = OxmlElement("w:tblHeader")
    header.set(qn("w:val"), "true")
    grid.rows[0]._tr.get_or_add_trPr().append(header)
    headings = tuple(Cell(column.heading, (), is_strong=True) for column in table.columns)
    small = Pt(9 if n else 7.5)
    for number, cells in enumerate((headings, *table.rows)):
        row = grid.add_row() if number else grid.rows[0]
        for place, cell in enumerate(cells):
            paragraph = row.cells[place].paragraphs[0]
            paragraph.paragraph_format.space_after = Pt(1)
            if table.columns[place].numeric:
                paragraph.alignment = WD_ALIGN_PARAGRAPH.RIGHT
            run = paragraph.add_run(printable_line(cell.text))
            run.font.size, run.bold = small, cell.is_strong
    if table.rows:
        _set_borders(grid.rows[-1], bottom=12)
    for note in table.notes:
        word.add_paragraph().add_run(printable_line(note)).font.size = Pt(7.5)
    word.add_paragraph().paragraph_format.space_after = Pt(0)


def _add_caption(paragraph: Paragraph, label: str, n: int, title: str) -> None:
    """Write a caption, after its number where it has one, which the word processor counts."""
    if n:
        label = label.strip()
        paragraph.add_run(f"{label} ").bold = True
        field = OxmlElement("w:fldSimple")
        field.set(qn("w:instr"), f"SEQ {label} \\* ARABIC")
        number = paragraph.add_run(str(n))
        number.bold = True
        field.append(number._r)
        paragraph._p.append(field)
        paragraph.add_run(". ").bold = True
    paragraph.add_run(printable_line(title))


def _set_borders(row: _Row, **sides: int) -> None:
    """Draw lines above or below a row, in eighths of a point."""
    for cell in row.cells:
        borders = OxmlElement("w:tcBorders")
        for side, size in sides.items():
            border = OxmlElement(f"w:{side}")
            for name, value in (("val", "single"), ("sz", str(size)), ("color", "000000")):
                border.set(qn(f"w:{name}"), value)
            borders.append(border)
        cell._tc.get_or_add_tcPr().append(borders)
