"""The command as a user meets it: a process with an exit code, or the same without the process.

Most of a process is Python starting up, so that only what is claimed of a process runs in one.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any
from unittest import mock

from relevansi.app import create_app
from relevansi.cli import run

PASSED_ON = ("PATH", "PYTHONPATH", "HOME", "SYSTEMROOT")


def relevansi(
    instance: Path, *arguments: str | Path, language: str = "en", on_terminal: bool = False
) -> CompletedProcess[str]:
    out, err = Stream(on_terminal=on_terminal), Stream(errors="backslashreplace")
    words = list(map(str, arguments))
    code = exit_code(instance, words, language, out, err)
    return CompletedProcess(words, code, out.text(), err.text())


def exit_code(
    instance: Path, words: list[str], language: str, out: io.TextIOWrapper, err: io.TextIOWrapper
) -> Any:
    with (
        mock.patch.dict(os.environ, environment(instance, language), clear=True),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            run(create_app, words)
        except SystemExit as end:
            return end.code
    return 0


def process(instance: Path, *arguments: str | Path, language: str = "en") -> CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "relevansi", *map(str, arguments)],
        env=environment(instance, language),
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


def environment(instance: Path, language: str) -> dict[str, str]:
    return {
        **{name: os.environ[name] for name in PASSED_ON if name in os.environ},
        "PYTHONPATH": str(Path(__file__).parents[2] / "webapp"),
        "RELEVANSI_INSTANCE": str(instance),
        "RELEVANSI_LANGUAGE": language,
        "PYTHONIOENCODING": "utf-8",
        "PYTHONWARNINGS": "error",
    }


class Stream(io.TextIOWrapper):
    def __init__(self, *, on_terminal: bool = False, errors: str = "strict") -> None:
        self.bytes = io.BytesIO()
        self._on_terminal = on_terminal
        super().__init__(self.bytes, encoding="utf-8", errors=errors, write_through=True)

    def isatty(self) -> bool:
        return self._on_terminal

    def text(self) -> str:
        return self.bytes.getvalue().decode("utf-8").replace("\r\n", "\n")


def document(finished: CompletedProcess[str]) -> Any:
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout)
