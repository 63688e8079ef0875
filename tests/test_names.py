"""A name is the noun of its value: bare participles and pronouns say nothing of what they hold."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "webapp" / "relevansi"
VAGUE = (
    "found one said wanted asked told kept given known own whole there stated shown other taken"
    " made put sent read_ seen held left meant named called counted things thing ones those these"
    " them all_ rest got had done standing"
)
LARGEST_SHARE = 0.005  # a span has a left end, and a work may be done


def test_names_say_what_they_hold() -> None:
    names = [
        (name, path.relative_to(PACKAGE).as_posix(), line)
        for path in PACKAGE.rglob("*.py")
        if "migrations" not in path.parts
        for name, line in assigned_names(ast.parse(path.read_text("utf-8")))
    ]

    words = VAGUE.split()
    vague = [place for place in names if place[0].lstrip("_") in words]
    assert len(vague) <= LARGEST_SHARE * len(names), vague


def assigned_names(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Every variable, parameter and function of a module with its line."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield name, node.lineno
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name, node.lineno
