"""The command as a user meets it: a process with an exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def relevansi(
    instance: Path, *arguments: str | Path, language: str = "en"
) -> subprocess.CompletedProcess[str]:
    """Return the finished process of one command, its database in the folder `instance`."""
    return subprocess.run(
        [sys.executable, "-m", "webapp", *map(str, arguments)],
        env={
            **{
                name: os.environ[name]
                for name in ("PATH", "HOME", "SYSTEMROOT")
                if name in os.environ
            },
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "RELEVANSI_INSTANCE": str(instance),
            "RELEVANSI_LANGUAGE": language,
            "PYTHONIOENCODING": "utf-8",
            "PYTHONWARNINGS": "error",
        },
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


def document(done: subprocess.CompletedProcess[str]) -> Any:
    """Return the one JSON document that a command printed."""
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
