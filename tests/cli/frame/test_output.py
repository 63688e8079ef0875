"""Documents are exact bytes, and lines for people hold text only."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest
from click import ClickException

from tests.cli.judged_runs import HYBRID
from tests.cli.relevansi import process
from webapp.cli.frame.output import say, write_file


def test_json_is_the_only_thing_on_the_standard_output(tmp_path: Path) -> None:
    done = process(tmp_path, "import", HYBRID, "--json")

    assert json.loads(done.stdout)["problems"] == []


def test_lines_for_people_hold_no_control_character_or_direction_mark(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """ESC, C1 and bidi marks in a name would rewrite what the terminal shows."""
    say("Ani\x1b[2J\x9b1m \u202eb\u2066\nBudi \u2713", err=True)

    assert capsys.readouterr().err == "Ani\ufffd[2J\ufffd1m \ufffdb\ufffd Budi \u2713\n"


def test_a_full_disk_leaves_the_earlier_file_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half(path: Path, data: bytes) -> int:
        with path.open("wb") as file:
            file.write(data[:1])
        raise OSError(errno.ENOSPC, "No space left on device")

    file = tmp_path / "figures.csv"
    file.write_bytes(b"earlier")
    monkeypatch.setattr(Path, "write_bytes", half)

    with pytest.raises(ClickException, match=r"figures\.csv"):
        write_file(file, b"later")

    assert file.read_bytes() == b"earlier"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.skipif(os.name != "posix", reason="modes of files are POSIX's")
def test_a_private_file_is_its_owners_alone_whatever_was_there(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        (tmp_path / "pack.zip").write_bytes(b"earlier")
        write_file(tmp_path / "pack.zip", b"later", private=True)
        write_file(tmp_path / "run.csv", b"later")
    finally:
        os.umask(before)

    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert modes == {"pack.zip": 0o600, "run.csv": 0o666}
