"""The layers of the package hold: the contracts are in pyproject.toml."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def fresh_modules(statement: str) -> set[str]:
    code = f"import sys\n{statement}\nprint(*{{m.partition('.')[0] for m in sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_imports_point_down_only() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()"],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("layer", ["metrics", "importers", "exporters"])
def test_a_pure_layer_loads_neither_flask_nor_sqlalchemy(layer: str) -> None:
    loaded = fresh_modules(
        "import importlib, pkgutil, webapp.LAYER as layer\n"
        "for m in pkgutil.walk_packages(layer.__path__, 'webapp.LAYER.'):\n"
        "    importlib.import_module(m.name)".replace("LAYER", layer)
    )

    assert not {"flask", "sqlalchemy", "werkzeug"} & loaded
