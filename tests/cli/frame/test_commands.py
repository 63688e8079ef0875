"""Scripts can rely on exit codes, one JSON document on stdout and one line on stderr."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from relevansi.cli.frame import options
from relevansi.cli.frame.commands import COMMANDS
from relevansi.cli.frame.commands import relevansi as application
from tests.cli.relevansi import environment, relevansi


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["metrics"], 2),
        (["metrics", "--run", "x", "--input", __file__], 2),
        (["import"], 2),
        (["nonsense"], 2),
        (["export", "nothing"], 1),
        (["metrics", "--run", "nothing"], 1),
        (["import", "/nowhere/at/all.json"], 2),
    ],
)
def test_failures_take_one_line_and_their_exit_code(
    tmp_path: Path, arguments: list[str], code: int
) -> None:
    process = relevansi(tmp_path, *arguments)

    assert process.returncode == code
    assert len(process.stderr.splitlines()) == 1
    assert process.stderr.startswith("relevansi: ")
    assert process.stdout == ""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the words of a command are text")
@pytest.mark.usefixtures("run_id")
def test_words_in_another_encoding_name_files_and_nothing_else(tmp_path: Path) -> None:
    command: list[str | bytes] = [sys.executable, "-m", "relevansi", "export-tree", b"\xb2"]
    surroundings = environment(tmp_path, "en")
    written = subprocess.run(
        command, env=surroundings, cwd=tmp_path, capture_output=True, timeout=120, check=False
    )
    refused = relevansi(tmp_path, "metrics", "--run", os.fsdecode(b"x\xdf"))

    assert (written.returncode, written.stderr) == (0, b"")
    assert b"\xb2: " in written.stdout
    assert refused.returncode == 1
    assert "is not a text in UTF-8" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1


def below(command: click.Command) -> Iterator[click.Command]:
    yield command
    for each in command.commands.values() if isinstance(command, click.Group) else ():
        yield from below(each)


@pytest.mark.parametrize("name", COMMANDS)
def test_what_a_command_answers_in_a_format_can_go_to_a_file(name: str) -> None:
    top = application.get_command(click.Context(application), name)
    assert top is not None
    for command in below(top):
        options = {option for each in command.params for option in each.opts}
        if "--format" in options:
            assert "-o" in options, command.name
            assert "--json" not in options, command.name


def test_the_dash_is_the_standard_output_for_any_answer(tmp_path: Path) -> None:
    arguments = ("plan", "--sd", "0.3", "--difference", "0.1", "--format", "json")
    printed = relevansi(tmp_path, *arguments, "-o", "-").stdout
    relevansi(tmp_path, *arguments, "-o", tmp_path / "plan.json")

    assert json.loads(printed)["deviation"] == 0.3
    assert (tmp_path / "plan.json").read_text("utf-8") == printed


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(tmp_path: Path, name: str) -> None:
    process = relevansi(tmp_path, name, "--help")

    assert process.returncode == 0
    assert name in process.stdout


def test_help_and_the_web_app_load_neither_pandas_nor_scipy() -> None:
    code = (
        "import sys; from relevansi.cli.frame.commands import relevansi as command; "
        "import relevansi.cli.frame.serving; "
        "command(['--help'], standalone_mode=False); "
        "from relevansi.app import create_app; import relevansi.web; "
        "print(sorted({'pandas', 'numpy', 'scipy'} & set(sys.modules)))"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert process.stdout.splitlines()[-1] == "[]"


def test_a_new_database_is_made_with_a_study_and_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELEVANSI_INSTANCE", str(tmp_path))
    monkeypatch.delenv("RELEVANSI_DATABASE_URL", raising=False)
    with options.reading() as (_, study):
        identity = study.id, study.order_secret
    with options.reading() as (_, study):
        assert (study.id, study.order_secret) == identity

    assert (tmp_path / "relevansi.sqlite").is_file()
