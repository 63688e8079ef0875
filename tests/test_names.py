"""A name is the noun of its value: bare participles and pronouns say nothing of what they hold."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from jinja2 import Environment
from jinja2.ext import InternationalizationExtension
from jinja2.nodes import Macro, Name, Template

PROJECT = Path(__file__).parents[1]
PACKAGE = PROJECT / "webapp" / "relevansi"
SCRIPTS = PROJECT / "static"
DECLARED = re.compile(r"\b(?:const|let|function) +(\w+)")
VAGUE = (
    "found one said wanted asked told kept given known own whole there stated shown other taken"
    " made put sent read_ seen held left meant named called counted things thing ones those these"
    " them all_ rest got had done standing"
)
LARGEST_SHARE = 0.005  # a span has a left end, and a work may be done


def test_names_of_the_program_say_what_they_hold() -> None:
    modules = [path for path in PACKAGE.rglob("*.py") if "migrations" not in path.parts]
    assert_telling({path: [*of_module(ast.parse(path.read_text("utf-8")))] for path in modules})


def test_names_of_templates_say_what_they_hold() -> None:
    parse = Environment(extensions=[InternationalizationExtension]).parse
    templates = (PROJECT / "templates").rglob("*.html")
    assert_telling({path: [*of_template(parse(path.read_text("utf-8")))] for path in templates})


def test_names_of_scripts_say_what_they_hold() -> None:
    scripts = [path for path in SCRIPTS.rglob("*.js") if "vendor" not in path.parts]
    assert_telling({path: DECLARED.findall(path.read_text("utf-8")) for path in scripts})


def assert_telling(names_of: dict[Path, list[str]]) -> None:
    words = VAGUE.split()
    n_names = sum(map(len, names_of.values()))
    vague = [
        (path.name, name)
        for path, names in names_of.items()
        for name in names
        if name.lstrip("_") in words
    ]
    assert n_names > 500
    assert len(vague) <= LARGEST_SHARE * n_names, vague


def of_module(tree: ast.Module) -> Iterator[str]:
    """Every variable, parameter and function of a module."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name


def of_template(template: Template) -> Iterator[str]:
    """Every variable, parameter and macro of a template."""
    for macro in template.find_all(Macro):
        yield macro.name
    for name in template.find_all(Name):
        if name.ctx != "load":
            yield name.name
