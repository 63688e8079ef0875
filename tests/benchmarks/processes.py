"""Whole processes measured: how long they ran, and the most memory they ever held."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.load import ROOT, Refused
from tests.browser.server import PASSED_ON


@dataclass(frozen=True, slots=True)
class Ran:
    """A finished process; ``megabytes`` is null where the system does not tell."""

    seconds: float
    megabytes: float | None


def python(*arguments: str | Path, instance: Path | None = None) -> Ran:
    """Return what ``python ARGUMENTS`` took, its database in the folder `instance`.

    Raises ``Refused`` if it fails.
    """
    wanted = [sys.executable, *map(str, arguments)]
    return _ran([sys.executable, "-m", "tests.benchmarks.stopwatch", *wanted], instance)


def relevansi(instance: Path, *arguments: str | Path) -> Ran:
    """Return what a command took."""
    return python("-m", "webapp", *arguments, instance=instance)


def _ran(wanted: Sequence[str], instance: Path | None) -> Ran:
    passed = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    own = {"RELEVANSI_INSTANCE": str(instance)} if instance else {}
    done = subprocess.run(
        wanted,
        env=passed | own | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    code, seconds, megabytes = json.loads(done.stdout)
    if code:
        raise Refused(f"{wanted}: {done.stderr}")
    return Ran(seconds, megabytes)
