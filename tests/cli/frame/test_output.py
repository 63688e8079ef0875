"""Documents are exact bytes; lines, bars and tables for people hold text only."""

from __future__ import annotations

import errno
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from relevansi.cli.frame import output
from relevansi.cli.frame.output import printed, say, write, write_json, write_pieces
from relevansi.exporters.frame.tables import Column, Table, stacked, text_table, word
from tests.cli.judged_runs import HYBRID
from tests.cli.relevansi import process


def test_json_is_the_only_thing_on_the_standard_output(tmp_path: Path) -> None:
    finished = process(tmp_path, "import", HYBRID, "--json")

    assert json.loads(finished.stdout)["problems"] == []


def test_lines_for_people_hold_no_control_character_or_direction_mark(
    capsys: pytest.CaptureFixture[str],
) -> None:
    say("Ani\x1b[2J\x9b1m \u202eb\u2066\nBudi \u2713", err=True)

    assert capsys.readouterr().err == "Ani\ufffd[2J\ufffd1m \ufffdb\ufffd Budi \u2713\n"


def test_a_full_disk_leaves_the_earlier_file_whole_and_names_it(tmp_path: Path) -> None:
    def half() -> Iterator[bytes]:
        yield b"l"
        raise OSError(errno.ENOSPC, "No space left on device", ".figures.csv.part")

    file = tmp_path / "figures.csv"
    file.write_bytes(b"earlier")

    with pytest.raises(OSError, match="No space left") as refused:
        write_pieces(half(), file)

    assert refused.value.filename == str(file)
    assert file.read_bytes() == b"earlier"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.skipif(os.name != "posix", reason="modes of files are POSIX's")
def test_a_private_file_is_its_owners_alone_whatever_was_there(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        (tmp_path / "pack.zip").write_bytes(b"earlier")
        write(b"later", tmp_path / "pack.zip", private=True)
        write(b"later", tmp_path / "run.csv")
    finally:
        os.umask(before)

    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert modes == {"pack.zip": 0o600, "run.csv": 0o666}


@pytest.fixture(name="terminal")
def _terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    written = io.StringIO()

    def console(**_options: object) -> Console:
        return Console(file=written, force_terminal=True, width=120, emoji=False)

    monkeypatch.setattr("rich.console.Console", console)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    return written


def test_steps_are_not_shown_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with output.steps() as tell:
        tell(1, 2)
        tell(2, 2)

    assert capsys.readouterr() == ("", "")


def test_a_bar_shows_how_many_are_done_and_which(terminal: io.StringIO) -> None:
    with output.bar(3, completed=1, name="question 1") as bar:
        bar.advance(1, name="question 2")
        bar.say("q2: [red]no answer[/red]")
    with output.steps() as tell:
        tell(2, 4)

    text = terminal.getvalue()
    assert "question 2" in text
    assert "2/3" in text
    assert "2/4" in text
    assert "q2: [red]no answer[/red]" in text  # text of others is not markup


def test_a_table_has_its_title_its_headings_and_its_rows() -> None:
    rows = ((word("hybrid"), word("7")), (stacked(("api_only", "dense"), ()), word("12")))
    columns = (Column("method"), Column("cards", numeric=True))
    table = Table("runs", "Runs", columns, rows, ("Two runs.",))
    lines = printed([table], width=40, boxed=False).decode().splitlines()

    assert lines[0].strip() == "Runs"
    assert [line.split() for line in lines[1:]] == [
        ["method", "cards"],
        ["hybrid", "7"],
        ["api_only", "12"],
        ["dense"],
        ["Two", "runs."],
    ]


def test_markup_and_control_characters_are_printed_as_text() -> None:
    folded = "x" * 90  # it loses nothing
    table = text_table("[bold]", ["[red]heading[/red]"], [["a\x1b[31mb"], [folded]])
    text = printed([table, "[link]"], width=60).decode()

    assert text.count("x") == 90
    assert "[red]heading[/red]" in text
    assert "[bold]" in text
    assert "[link]" in text
    assert "\x1b" not in text


@pytest.mark.skipif(os.name != "posix", reason="modes of files are POSIX's")
def test_a_file_that_is_protected_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "figures.csv"
    file.write_bytes(b"earlier")
    monkeypatch.setattr(os, "access", lambda path, _mode: Path(path) != file)  # root may do all

    with pytest.raises(PermissionError, match=r"figures\.csv"):
        write(b"later", file)
    assert file.read_bytes() == b"earlier"


def test_no_document_has_a_number_that_json_has_not() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        write_json({"figure": float("nan")})
