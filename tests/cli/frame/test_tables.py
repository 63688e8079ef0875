"""Tables and sentences on a terminal hold text only, with every word of long cells."""

from __future__ import annotations

from webapp.cli.frame.output import TerminalTable, printed


def test_a_table_has_its_title_its_headings_and_its_rows() -> None:
    table = TerminalTable("Runs", boxed=False)
    table.left("method")
    table.right("cards")
    table.row("hybrid", "7")
    table.row(["api_only", "dense"], "12")
    lines = printed([table, "Two runs."], width=40).decode().splitlines()

    assert lines[0].strip() == "Runs"
    assert [line.split() for line in lines[1:]] == [
        ["method", "cards"],
        ["hybrid", "7"],
        ["api_only", "12"],
        ["dense"],
        ["Two", "runs."],
    ]


def test_markup_and_control_characters_are_printed_as_text() -> None:
    table = TerminalTable("[bold]")
    table.left("[red]heading[/red]")
    table.row("a\x1b[31mb")
    text = printed([table, "[link]"], width=60).decode()

    assert "[red]heading[/red]" in text
    assert "[bold]" in text
    assert "[link]" in text
    assert "\x1b" not in text


def test_a_cell_without_room_is_folded_and_loses_nothing() -> None:
    table = TerminalTable(boxed=False)
    table.left("word")
    table.row("x" * 50)

    assert printed([table], width=20).decode().count("x") == 50
