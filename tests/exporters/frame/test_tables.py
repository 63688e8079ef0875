"""The cells of a report: what is shown, and the values behind it."""

from __future__ import annotations

from webapp.exporters.frame.tables import Cell, stacked, whole_number, word, word_or_dash
from webapp.i18n import speaking


def test_a_cell_keeps_the_value_behind_its_text() -> None:
    with speaking("id"):
        assert whole_number(12_345) == Cell("12.345", (12_345,))
    with speaking("en"):
        assert whole_number(12_345) == Cell("12,345", (12_345,))
    assert word("hybrid") == Cell("hybrid", ("hybrid",))


def test_nothing_to_say_is_a_dash_with_no_value() -> None:
    assert word_or_dash(None) == Cell("-", (None,))
    assert word_or_dash("exact") == Cell("exact", ("exact",))


def test_lines_are_one_text_where_lines_are_not_shown() -> None:
    cell = stacked(("0.80", "n = 5"), (0.8, 5))

    assert (cell.text, cell.lines, cell.values) == ("0.80 n = 5", ("0.80", "n = 5"), (0.8, 5))
    assert stacked(("a", "b"), ("a", "b"), between=", ").text == "a, b"
