"""A bar is for people at a terminal; without one, output has only what counts."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from webapp.cli.frame import output


@pytest.fixture(name="terminal")
def _terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """A terminal in place of the standard error, whose text can be read."""
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
    with output.bar(3, done=1, name="question 1") as bar:
        bar.advance(name="question 2")
        bar.say("q2: [red]no answer[/red]")

    shown = terminal.getvalue()
    assert "question 2" in shown
    assert "2/3" in shown
    assert "q2: [red]no answer[/red]" in shown  # text of others is not markup


def test_steps_are_a_bar_on_a_terminal(terminal: io.StringIO) -> None:
    with output.steps() as tell:
        tell(2, 4)

    assert "2/4" in terminal.getvalue()


def test_a_file_is_read_whole_beside_its_bar(terminal: io.StringIO) -> None:
    with output.reading(io.BytesIO(b"one\ntwo\n"), 8, "ratings [1].csv") as file:
        assert list(file) == [b"one\n", b"two\n"]

    assert "ratings [1].csv" in terminal.getvalue()
