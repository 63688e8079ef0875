"""The files of a picture: SVG as it is drawn, PNG by resvg, PDF by svglib and ReportLab.

PNG and PDF are set in Arimo, which is installed with the program. Its letters have the widths of
Helvetica and Liberation Sans, with which pictures are laid out.
"""

from __future__ import annotations

from io import BytesIO

from webapp.exporters.comparisons.charts.canvas import Picture

FONT = "Arimo"
SHARPNESS = 2.0
"""A PNG has so many pixels for each unit, so that it stays sharp on paper."""


def svg_file(picture: Picture) -> bytes:
    """Return the picture as an SVG file."""
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{picture.markup}\n'.encode()


def png_file(picture: Picture) -> bytes:
    """Return the picture as a PNG file."""
    import resvg_py  # this and the PDF writer are loaded when somebody asks for such a file

    picture.svg.set("font-family", FONT)
    markup, fonts = picture.markup, [_font_file()]
    return bytes(
        resvg_py.svg_to_bytes(
            svg_string=markup, zoom=SHARPNESS, font_files=fonts, skip_system_fonts=True
        )
    )


def pdf_file(picture: Picture) -> bytes:
    """Return the picture as a PDF file of its own size, whose words can be selected."""
    from reportlab.graphics import renderPDF
    from reportlab.pdfgen.canvas import Canvas
    from svglib.svglib import register_font, svg2rlg

    register_font(FONT, _font_file())
    picture.svg.set("font-family", FONT)
    for text in picture.svg.iter("text"):
        for tooltip in text.findall("title"):  # svglib would write it behind the text
            text.remove(tooltip)
    drawing = svg2rlg(BytesIO(picture.markup.encode()))
    assert drawing is not None
    written = BytesIO()
    sheet = Canvas(written, (picture.width, picture.height), invariant=1)  # without the date
    sheet.scale(picture.width / drawing.width, picture.height / drawing.height)
    sheet.setTitle(picture.title)
    sheet.setSubject(picture.description)
    renderPDF.draw(drawing, sheet, 0, 0)
    sheet.save()
    return written.getvalue()


def _font_file() -> str:
    import fontpkg_arimo

    return str(fontpkg_arimo.ROOT / "files" / "Arimo[wght].ttf")
