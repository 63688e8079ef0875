from __future__ import annotations

import pytest

from webapp.exporters.frame.csv_cells import Cell, CsvStyle, cell_text, csv_bytes, neutralised
from webapp.i18n import speaking
from webapp.importers.runs.csv_ratings import original_text


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+62811", "-2", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\uff1d1", "'=1", "''=1"],
)
def test_what_a_spreadsheet_would_run_is_led_by_an_apostrophe(text: str) -> None:
    assert neutralised(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "rumah", "'s", "a=1", "1-2", " = "])
def test_any_other_text_stays_as_it_is(text: str) -> None:
    assert neutralised(text) == text


@pytest.mark.parametrize(
    ("text", "plain", "excel"),
    [
        ("baik;=1+1", "baik;'=1+1", "baik;=1+1"),
        ("baik,=1+1", "baik,=1+1", "baik,'=1+1"),
        ('a;"=1"', 'a;\'"=1"', 'a;"=1"'),
        ("a\t@b", "a\t'@b", "a\t'@b"),
        ("a;'=1", "a;''=1", "a;'=1"),
        ("a; 5,-6", "a; 5,-6", "a; 5,'-6"),
    ],
)
def test_a_part_that_another_separator_splits_off_is_not_run_either(
    text: str, plain: str, excel: str
) -> None:
    """And read by the file's own separator, the text is what it was."""
    assert cell_text(text) == plain
    assert cell_text(text, CsvStyle.EXCEL) == excel
    assert original_text(plain, ",") == original_text(excel, ";") == text


def test_the_plain_style_is_utf_8_with_commas_and_line_feeds_only() -> None:
    rows: list[tuple[Cell, ...]] = [
        ("a", "b"),
        ("é,\r\nx", 1.0),
        ('say "hi"', 0.5),
        ("old\rmac", None),
    ]

    assert csv_bytes(rows) == ('a,b\n"é,\nx",1\n"say ""hi""",0.5\n"old\nmac",\n'.encode())


@pytest.mark.parametrize(("language", "number"), [("id", b"0,5"), ("en", b"0.5")])
def test_the_excel_style_has_a_mark_semicolons_and_the_decimal_sign_of_the_language(
    language: str, number: bytes
) -> None:
    with speaking(language):
        written = csv_bytes([("a;b", 0.5)], style=CsvStyle.EXCEL)
        assert csv_bytes([(0.5,)]) == b"0.5\n"

    assert written == b'\xef\xbb\xbf"a;b";' + number + b"\n"
