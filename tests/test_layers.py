"""The layers of the package hold: the contracts are in pyproject.toml."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from webapp.rooms import CORE

ROOT = Path(__file__).resolve().parents[1]


def fresh_modules(statement: str) -> set[str]:
    """The top-level modules that a fresh process has loaded after `statement`."""
    code = f"import sys\n{statement}\nprint(*{{m.partition('.')[0] for m in sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


@pytest.mark.whole
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


def test_every_docstring_opens_with_the_thing_it_describes() -> None:
    """None opens with What or Who; those below constants count too."""
    riddle = re.compile(r"\s*(What|Who)(ever)?\b")
    riddles = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sorted(
            (
                *(ROOT / "webapp").rglob("*.py"),
                *(ROOT / "tests").rglob("*.py"),
                ROOT / "hatch_build.py",
            )
        )
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and riddle.match(str(node.value.value))
    ]

    assert riddles == []


def test_a_class_name_is_unique_in_the_product() -> None:
    where: dict[str, list[str]] = {}
    for path in (ROOT / "webapp").rglob("*.py"):
        if "migrations" not in path.parts:
            for node in ast.parse(path.read_text("utf-8")).body:
                if isinstance(node, ast.ClassDef):
                    where.setdefault(node.name, []).append(path.relative_to(ROOT).as_posix())

    assert {name: places for name, places in where.items() if len(places) > 1} == {}


LAYERS = ("services", "metrics", "importers", "exporters", "web", "cli")
LISTS = {"pages.py", "commands.py", "listing.py", "messages.py", "ratings_messages.py"}
"""Modules that only list things; one test of their layer checks all of them."""
SHARED = ("i18n", "config", "failures", "printable", "rooms")
"""Modules that all layers share. ``labels``, ``notation`` and ``records`` have doctests."""


def test_every_module_of_the_core_has_the_test_file_of_its_name() -> None:
    folders = [ROOT / "webapp" / layer / room for layer in LAYERS for room in (*CORE, "frame")]
    modules = {
        *(module for folder in folders for module in folder.rglob("*.py")),
        *(ROOT / "webapp/db").glob("*.py"),
        *(ROOT / "webapp" / f"{name}.py" for name in SHARED),
    }
    missing = {
        module.relative_to(ROOT / "webapp").as_posix()
        for module in modules
        if module.name not in {"__init__.py", *LISTS} and not own_test_file(module).is_file()
    }

    assert missing == set()


def own_test_file(module: Path) -> Path:
    """Return the place of a module's test file."""
    mirrored = ROOT / "tests" / module.relative_to(ROOT / "webapp")
    return mirrored.with_name(f"test_{module.name}")


def test_what_a_docstring_or_a_template_names_in_another_module_is_there() -> None:
    """Named as ``layer.room.module`` or ``layer.room.module.Name``."""
    named = re.compile(rf"[`( ]((?:{'|'.join(LAYERS)}|db)(?:\.\w+)+)[`).]")
    gone = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in (*(ROOT / "webapp").rglob("*.py"), *(ROOT / "templates").rglob("*.html"))
        for text in told(path)
        for name in named.findall(text)
        if not is_there(name)
    ]

    assert gone == []


def is_there(name: str) -> bool:
    """Return whether a name is that of a folder, of a module, or of something in a module."""
    place = ROOT / "webapp" / name.replace(".", "/")
    if place.is_dir() or place.with_suffix(".py").is_file():
        return True
    module = place.parent.with_suffix(".py")
    defined = re.compile(rf"^(class|def)? ?{place.name}\b", re.MULTILINE)
    return module.is_file() and defined.search(module.read_text("utf-8")) is not None


def told(path: Path) -> list[str]:
    """Return what a module or template says of itself: its docstrings, or its comments."""
    text = path.read_text("utf-8")
    if path.suffix == ".html":
        return re.findall(r"\{#(.*?)#\}", text, re.DOTALL)
    return [
        node.value.value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    ]


def test_the_architecture_lists_every_module_that_a_wing_can_bring() -> None:
    collected = re.compile(r'contributions\(\s*"(\w+)",\s*"(\w+)"')
    architecture = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    modules = {
        name
        for path in (ROOT / "webapp").rglob("*.py")
        for _layer, name in collected.findall(path.read_text("utf-8"))
    }

    assert {name for name in modules if f"{name}.py`" not in architecture} == set()


def test_values_are_structs_which_cost_a_start_nothing() -> None:
    """A dataclass is compiled at every start. Settings need the standard library alone.

    A class with an abstract base has to be one.
    """
    for path in {*(ROOT / "webapp").rglob("*.py")} - {ROOT / "webapp/config.py"}:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.bases:
                marks = " ".join(map(ast.unparse, node.decorator_list))
                assert "dataclass" not in marks, f"{path.name}: {node.name}"
