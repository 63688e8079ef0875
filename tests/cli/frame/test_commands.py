"""Scripts can rely on exit codes, one JSON document on stdout and one line on stderr."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from relevansi.cli.frame import options
from relevansi.cli.frame.commands import COMMANDS
from tests.cli.judged_runs import HYBRID
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
    done = relevansi(tmp_path, *arguments)

    assert done.returncode == code
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("relevansi: ")
    assert done.stdout == ""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the words of a command are text")
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("export-tree", b"\xb2"), 0, b"\xb2: "),
        (("metrics", "--run", b"x\xdf"), 1, b"is not a text in UTF-8"),
    ],
)
def test_words_in_another_encoding_name_files_and_nothing_else(
    tmp_path: Path, words: tuple[str | bytes, ...], code: int, said: bytes
) -> None:
    command = [sys.executable, "-m", "relevansi", *words]
    surroundings = environment(tmp_path, "en")
    relevansi(tmp_path, "import", HYBRID)

    done = subprocess.run(
        command, env=surroundings, cwd=tmp_path, capture_output=True, timeout=120, check=False
    )

    assert done.returncode == code, done.stderr
    assert said in done.stdout + done.stderr
    assert len(done.stderr.splitlines()) == (1 if code else 0)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(tmp_path: Path, name: str) -> None:
    done = relevansi(tmp_path, name, "--help")

    assert done.returncode == 0
    assert name in done.stdout


def test_help_and_the_web_app_load_neither_pandas_nor_scipy() -> None:
    code = (
        "import sys; from relevansi.cli.frame.commands import relevansi as command; "
        "import relevansi.cli.frame.serving; "
        "command(['--help'], standalone_mode=False); "
        "from relevansi.app import create_app; import relevansi.web; "
        "print(sorted({'pandas', 'numpy', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.splitlines()[-1] == "[]"


def test_a_new_database_is_made_with_a_study_and_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELEVANSI_INSTANCE", str(tmp_path))
    monkeypatch.delenv("RELEVANSI_DATABASE_URL", raising=False)
    with options.reading() as (_, study):
        made = study.id, study.order_secret
    with options.reading() as (_, study):
        assert (study.id, study.order_secret) == made

    assert (tmp_path / "relevansi.sqlite").is_file()
